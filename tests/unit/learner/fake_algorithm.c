/*
 * See fake_algorithm.h.
 */
#include "tests/unit/learner/fake_algorithm.h"

#include "tests/support/kept_arrays.h"
#include "tests/support/test.h"

/* What `create` gives out next. */
static fake_algorithm *made;

static int train(aq_algorithm *algorithm, const aq_batch *batch, aq_update_report *ret_report)
{
    fake_algorithm *fake = (fake_algorithm *)(void *)algorithm;
    if (fake->steps < FAKE_SEEN_MAX) {
        fake_batch *seen = &fake->seen[fake->steps];
        seen->rows = batch->rows;
        memcpy(&seen->first_obs, batch->obs, sizeof(float));
        if (batch->next_obs) { /* sequences have none */
            memcpy(&seen->first_next_obs, batch->next_obs, sizeof(float));
        }
        memcpy(&seen->first_action, batch->action, sizeof(int32_t));
        seen->first_reward = batch->reward[0];
        seen->first_bootstrap = batch->bootstrap[0];
        seen->first_item = batch->item[0];
        seen->last_item = batch->item[batch->rows - 1];
        seen->first_version = batch->version[0];
    }
    fake->steps++;
    if (fake->link != NULL) {
        fake->link->sent_bytes += 100 * (1 + fake->more);
        fake->link->spent_ns += 7 * (1 + fake->more);
    }
    if (batch->reward[0] < 0) {
        ret_report->steps = (uint64_t)-batch->reward[0] - 1;
        return fake->fault != 0 ? fake->fault : AQ_E_CORRUPT;
    }
    fake->kit->params.weight[0][0] += 1;
    fake->arrays[0][0] += 1;
    fake->arrays[3][FAKE_STATE_COUNT - 1] += 1;
    fake->adam_step++;
    *ret_report = (aq_update_report){.steps = 1 + fake->more, .metrics = {2, 10}};
    return 0;
}

static const aq_params *policy(const aq_algorithm *algorithm)
{
    return &((const fake_algorithm *)(const void *)algorithm)->kit->params;
}

static void arrays(aq_algorithm *algorithm, aq_named_arrays *ret_arrays)
{
    fake_algorithm *fake = (fake_algorithm *)(void *)algorithm;
    float *const own[4] = {fake->arrays[0], fake->arrays[1], fake->arrays[2], fake->arrays[3]};
    kept_arrays(FAKE_STATE_COUNT, own, &fake->adam_step, ret_arrays);
}

static int create(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                  aq_algorithm **ret_algorithm, aq_error *error)
{
    (void)setup;
    (void)error;
    made->head = (aq_algorithm){.class = class, .spec = &made->kit->spec};
    *ret_algorithm = &made->head;
    return 0;
}

static void destroy(aq_algorithm *algorithm)
{
    (void)algorithm; /* it is the test's */
}

static void set_rates(aq_algorithm *algorithm, double learning_rate, double critic_learning_rate)
{
    fake_algorithm *fake = (fake_algorithm *)(void *)algorithm;
    fake->learning_rate = learning_rate;
    fake->critic_learning_rate = critic_learning_rate;
}

static void set_epsilon(aq_algorithm *algorithm, double epsilon)
{
    ((fake_algorithm *)(void *)algorithm)->epsilon = epsilon;
}

static const aq_metric metrics[] = {
    {.name = "loss", .title = "loss", .unit = "", .meaning = "Loss."},
    {.name = "q_mean", .title = "mean value", .unit = "", .meaning = "Value."}};

const aq_algorithm_class fake_algorithm_class = {
    .name = "fake",
    .head_of_choices = AQ_HEAD_ARGMAX,
    .train = train,
    .policy = policy,
    .set_rates = set_rates,
    .set_epsilon = set_epsilon,
    .metrics = {metrics, 2},
    .create = create,
    .destroy = destroy,
    .arrays = arrays,
};

void fake_algorithm_init(fake_algorithm *algorithm, learner_kit *kit, uint32_t batch_rows)
{
    const aq_run_config config = {.learner = {.batch_size = batch_rows}};
    const aq_algorithm_setup setup = {.config = &config, .schema = &kit->schema};
    memset(algorithm, 0, sizeof(*algorithm));
    algorithm->kit = kit;
    made = algorithm;
    assert_int_equal(aq_agent_create(&fake_algorithm_class, &setup, &algorithm->agent, NULL), 0);
    kit->params.weight[0][0] = 0;
}

void fake_algorithm_fini(fake_algorithm *algorithm)
{
    aq_agent_destroy(algorithm->agent);
}

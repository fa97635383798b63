/*
 * See fake_algorithm.h.
 */
#include "tests/unit/learner/fake_algorithm.h"

#include <string.h>

static int train(aq_algorithm *algorithm, const aq_batch *batch, aq_train_stats *ret_stats)
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
    if (batch->reward[0] < 0) {
        return AQ_E_CORRUPT;
    }
    fake->kit->params.weight[0][0] += 1;
    fake->arrays[0][0] += 1;
    fake->arrays[3][FAKE_STATE_COUNT - 1] += 1;
    fake->adam_step++;
    *ret_stats = (aq_train_stats){.loss = 2, .q_mean = 10, .gradient_norm = 1};
    return 0;
}

static const aq_net_spec *spec(const aq_algorithm *algorithm)
{
    return &((const fake_algorithm *)(const void *)algorithm)->kit->spec;
}

static const aq_params *policy(const aq_algorithm *algorithm)
{
    return &((const fake_algorithm *)(const void *)algorithm)->kit->params;
}

static void state(aq_algorithm *algorithm, aq_algorithm_state *ret_state)
{
    fake_algorithm *fake = (fake_algorithm *)(void *)algorithm;
    *ret_state = (aq_algorithm_state){.count = FAKE_STATE_COUNT,
                                      .parameters = fake->arrays[0],
                                      .target = fake->arrays[1],
                                      .adam_m = fake->arrays[2],
                                      .adam_v = fake->arrays[3],
                                      .adam_step = fake->adam_step};
}

const aq_algorithm_class fake_algorithm_class = {
    .name = "fake",
    .summary = "Counts its steps.",
    .act_rule = AQ_ACT_ARGMAX,
    .train = train,
    .spec = spec,
    .policy = policy,
    .state = state,
};

void fake_algorithm_init(fake_algorithm *algorithm, learner_kit *kit)
{
    memset(algorithm, 0, sizeof(*algorithm));
    algorithm->head.class = &fake_algorithm_class;
    algorithm->kit = kit;
    kit->params.weight[0][0] = 0;
}

/*
 * What an actor's gradients are: those of a learner that has the same steps.
 */
#include <math.h>
#include <sys/stat.h>

#include "common/base/memory.h"
#include "common/config/gradient_rows.h"
#include "common/policy/format.h"
#include "envs/classic/cartpole.h"
#include "gradients/gradient_module.h"
#include "learner/algorithms/agent_ranks.h"
#include "learner/nn/products.h"
#include "tests/support/chunks.h"
#include "tests/unit/gradients/gradient_run.h"

enum { ROUNDS = 6 };

static const char *const a2c[] = {"learner.algorithm=a2c",
                                  "learner.group_steps=64",
                                  "learner.hidden=16",
                                  "replay.selector=queue",
                                  "replay.sequence_length=16",
                                  "replay.sequence_period=16",
                                  "replay.chunk_length=16",
                                  "replay.samples_per_insert=0",
                                  "actor.count=1",
                                  "actor.envs=4",
                                  "learner.normalize_rewards=true",
                                  "seed=3",
                                  NULL};
static const char *const dqn[] = {"learner.algorithm=dqn",
                                  "learner.batch_size=32",
                                  "learner.hidden=16",
                                  "learner.target_period=2",
                                  "actor.count=1",
                                  "actor.envs=4",
                                  "seed=3",
                                  NULL};
static const char *const rainbow[] = {"learner.algorithm=rainbow",
                                      "learner.batch_size=32",
                                      "learner.hidden=16",
                                      "learner.noisy=2",
                                      "learner.dueling=true",
                                      "learner.n_step=3",
                                      "learner.target_period=2",
                                      "actor.count=1",
                                      "actor.envs=4",
                                      "seed=3",
                                      NULL};

/* ---- the same rows, gathered as they are written down ---------------------------------------- */

typedef struct pending {
    aq_chunk *chunk; /* a reference */
    uint32_t row;
} pending;

typedef struct lone_learner {
    aq_run_plan plan;
    aq_layout layout;
    aq_agent *agent;
    aq_batch *batch;
    pending items[GRADIENT_CHUNKS_MAX];
    size_t count;
} lone_learner;

static void lone_begin(lone_learner *lone, const char *const *assignments)
{
    aq_run_config config;
    *lone = (lone_learner){.count = 0};
    gradient_config(&config, assignments);
    gradient_plan(&config, &lone->plan);
    lone->layout = lone->plan.layout;
    lone->agent = gradient_agent(&lone->plan);
    assert_succeeds(aq_batch_create(&lone->layout, lone->plan.sequence_length, 64, &lone->batch));
}

static void lone_end(lone_learner *lone)
{
    for (size_t i = 0; i < lone->count; i++) {
        aq_chunk_unref(lone->items[i].chunk);
    }
    aq_batch_destroy(lone->batch);
    aq_agent_destroy(lone->agent);
}

/* A sequence is a chunk's new steps; items begin at each row that the chunk offers. */
static void lone_take(lone_learner *lone, gradient_run *run)
{
    for (size_t i = 0; i < run->taken_count; i++) {
        aq_chunk *chunk = run->taken[i];
        const uint32_t items =
            lone->plan.sequence_length > 0 ? 1 : aq_chunk_view_items(&chunk->view, &lone->layout);
        for (uint32_t row = 0; row < items; row++) {
            assert_true(lone->count < GRADIENT_CHUNKS_MAX);
            lone->items[lone->count++] = (pending){aq_chunk_ref(chunk), row};
        }
        aq_chunk_unref(chunk);
    }
    run->taken_count = 0;
}

static void put(aq_batch *batch, const pending *item, const aq_layout *layout, float discount)
{
    const aq_chunk_view *view = &item->chunk->view;
    const uint32_t at = batch->rows++;
    const uint32_t steps = aq_batch_has_sequences(batch) ? view->length : 1;
    uint32_t next = 0;
    for (uint32_t i = 0; i < batch->column_count; i++) {
        aq_batch_column *column = &batch->columns[i];
        uint8_t *to = column->bytes + at * aq_batch_column_bytes(column);
        if (column->values > 0) {
            memset(to, 0, aq_batch_column_bytes(column));
        }
        if (column->values > 0 && column->gather == AQ_GATHER_COPY) {
            const aq_column *from = &layout->columns[column->source];
            const bool with_last = column->values > batch->steps && from->per == AQ_PER_BOUNDARY;
            memcpy(to, aq_chunk_view_column(view, column->source) + (size_t)item->row * from->bytes,
                   ((size_t)steps + with_last) * from->bytes);
        }
    }
    batch->weight[at] = 1.0f;
    if (aq_batch_has_sequences(batch)) {
        batch->length[at] = steps;
        for (uint32_t t = 0; t < steps; t++) {
            const bool ends = t + 1 == steps && view->terminated;
            batch->bootstrap[at * batch->steps + t] = ends ? 0.0f : discount;
        }
        return;
    }
    chunk_fold(view, layout->n_step, item->row, discount, &batch->reward[at], &batch->bootstrap[at],
               &next);
    memcpy(batch->next_obs + (size_t)at * batch->obs_bytes,
           aq_chunk_view_column(view, AQ_COLUMN_OBS) + (size_t)next * batch->obs_bytes,
           batch->obs_bytes);
}

static void lone_train(lone_learner *lone, uint32_t rows_max)
{
    const size_t rows = lone->count < rows_max ? lone->count : rows_max;
    aq_update_report report = {.steps = 0};
    lone->batch->rows = 0;
    for (size_t i = 0; i < rows; i++) {
        put(lone->batch, &lone->items[i], &lone->layout, (float)lone->plan.config.learner.discount);
        aq_chunk_unref(lone->items[i].chunk);
    }
    memmove(lone->items, lone->items + rows, (lone->count - rows) * sizeof(lone->items[0]));
    lone->count -= rows;
    assert_succeeds(aq_agent_train(lone->agent, lone->batch, &report));
}

/* ---- facts ---------------------------------------------------------------------------------- */

static void assert_same_agents(aq_agent *a, aq_agent *b)
{
    static const char *const names[] = {"parameters", "adam_m", "adam_v"};
    aq_named_arrays of_a, of_b;
    aq_agent_arrays(a, &of_a);
    aq_agent_arrays(b, &of_b);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const aq_named_array *one = aq_named_arrays_find(&of_a, names[i]);
        const aq_named_array *other = aq_named_arrays_find(&of_b, names[i]);
        assert_int_equal(one->count, other->count);
        assert_memory_equal(one->values, other->values, one->count * sizeof(float));
    }
}

/* One actor whose every gradient is of the newest version trains as a learner that is alone. */
static void follow_beside_a_lone_one(const char *const *assignments)
{
    gradient_run *run = aq_alloc(1, sizeof(*run));
    lone_learner *lone = aq_alloc(1, sizeof(*lone));
    gradient_run_begin(run, assignments);
    lone_begin(lone, assignments);
    for (int round = 0; round < ROUNDS; round++) {
        aq_update_report report = {.steps = 0};
        const aq_chunk_view *row = gradient_run_row(run, AQ_FORMAT_F32);
        assert_int_equal(aq_chunk_view_version(row, 0), run->version);
        assert_float_equal(aq_chunk_view_reward(row, 0), AQ_GRADIENT_GOOD, 0);
        float *gradient = gradient_of_row(run, row);
        assert_succeeds(aq_agent_follow(run->agent, gradient, &report));
        aq_free(gradient);
        run->step += report.steps;
        lone_take(lone, run);
        lone_train(lone, (uint32_t)aq_gradient_steps(&run->plan.config));
        assert_same_agents(run->agent, lone->agent);
    }
    lone_end(lone);
    gradient_run_end(run);
    aq_free(lone);
    aq_free(run);
}

TEST(an_actor_and_its_learner_step_as_a2c_does_alone)
{
    follow_beside_a_lone_one(a2c);
}

TEST(an_actor_and_its_learner_step_as_dqn_does_alone)
{
    follow_beside_a_lone_one(dqn);
}

/* Noise follows from the seed and from the step that a version is of. */
TEST(an_actor_and_its_learner_step_as_rainbow_does_alone)
{
    follow_beside_a_lone_one(rainbow);
}

/* Of the policy's network all is well, of the value network one number is not. */
TEST(a_gradient_that_is_refused_in_part_moves_nothing)
{
    gradient_run *run = aq_alloc(1, sizeof(*run));
    aq_update_report report = {.steps = 0};
    gradient_run_begin(run, a2c);
    const size_t count = aq_agent_gradient_values(run->agent);
    const uint64_t before = aq_agent_hash(run->agent);
    float *gradient = aq_alloc(count, sizeof(*gradient));
    gradient[0] = 1;
    gradient[count - 1] = INFINITY;
    assert_int_equal(aq_agent_follow(run->agent, gradient, &report), AQ_E_CORRUPT);
    assert_int_equal(report.steps, 0);
    assert_true(aq_agent_hash(run->agent) == before);
    aq_free(gradient);
    gradient_run_end(run);
    aq_free(run);
}

TEST(a_gradient_is_of_as_many_steps_each_time)
{
    gradient_run *run = aq_alloc(1, sizeof(*run));
    gradient_run_begin(run, a2c);
    for (uint64_t i = 1; i <= 3; i++) {
        (void)gradient_run_row(run, AQ_FORMAT_INT8_CHANNEL);
        const aq_actor_counters counters = aq_actor_core_counters(run->core);
        assert_int_equal(counters.env_steps, i * 64);
        assert_int_equal(counters.gradients, i);
        assert_int_equal(counters.acknowledged_steps, (i - 1) * 64);
    }
    gradient_run_end(run);
    aq_free(run);
}

static uint32_t steps_until_failure;

static enum aq_step_end fail_once(const void *params, void *state, aq_rng *rng, const void *action,
                                  void *obs, float *reward)
{
    return steps_until_failure-- == 0
               ? AQ_STEP_FAILED
               : aq_cartpole_v1.step(params, state, rng, action, obs, reward);
}

/* More steps of the others would wait for the gradient of the next version, and so on for good. */
TEST(an_environment_that_fails_makes_one_gradient_smaller)
{
    gradient_run *run = aq_alloc(1, sizeof(*run));
    aq_env_class fails = aq_cartpole_v1;
    fails.step = fail_once;
    fails.step_rows = NULL;
    steps_until_failure = 10;
    gradient_run_begin_in(run, &fails, a2c);
    for (uint64_t i = 1; i <= 3; i++) {
        (void)gradient_run_row(run, AQ_FORMAT_F32);
        assert_int_equal(aq_actor_core_counters(run->core).env_steps, i * 64 - 1);
    }
    gradient_run_end(run);
    aq_free(run);
}

TEST(steps_whose_gradient_there_is_no_memory_for_are_forgotten)
{
    gradient_run *run = aq_alloc(1, sizeof(*run));
    gradient_run_begin(run, a2c);
    run->lacks_memory = true;
    (void)gradient_run_row(run, AQ_FORMAT_F32);
    assert_int_equal(aq_actor_core_counters(run->core).env_steps, 2 * 64);
    assert_int_equal(aq_actor_core_counters(run->core).gradients, 1);
    gradient_run_end(run);
    aq_free(run);
}

/* A folder has a link from each folder within, and two more. */
static unsigned count_threads(void)
{
    struct stat threads;
    assert_int_equal(stat("/proc/self/task", &threads), 0);
    return (unsigned)threads.st_nlink - 2;
}

TEST(an_actor_computes_gradients_in_its_own_thread)
{
    static const char *const more[] = {"learner.threads=3", "learner.products=bf16"};
    enum { MORE = 2, COUNT = sizeof(a2c) / sizeof(a2c[0]) };
    const char *assignments[MORE + COUNT];
    aq_gradient_maker maker;
    if (!aq_products_has_bf16()) {
        skip(); /* products in fp32 are OpenBLAS's */
    }
    gradient_run *run = aq_alloc(1, sizeof(*run));
    memcpy(assignments, more, sizeof(more));
    memcpy(assignments + MORE, a2c, sizeof(a2c));
    gradient_run_begin(run, assignments); /* OpenBLAS has started its threads */
    const unsigned before = count_threads();
    const aq_run_settings *settings = &run->plan.settings;
    assert_succeeds(aq_gradient_maker_open(sizeof(*settings), settings, 1, &maker, &refusal));
    assert_int_equal(count_threads(), before);
    maker.close(&maker);
    gradient_run_end(run);
    aq_free(run);
}

/* int8 rounds the weights that gradients are of, and the formats of gradients what they are. */
TEST(formats_change_a_gradient_a_little)
{
    static const char *const formats[] = {"fp32", "bf16", "int8"};
    static const double most[] = {0.0, 0.005, 0.06};
    float *exact = NULL;
    for (size_t i = 0; i < 3; i++) {
        const char *assignments[sizeof(a2c) / sizeof(a2c[0]) + 1];
        char format[48];
        gradient_run *run = aq_alloc(1, sizeof(*run));
        (void)snprintf(format, sizeof(format), "learner.gradient_format=%s", formats[i]);
        assignments[0] = format;
        memcpy(assignments + 1, a2c, sizeof(a2c));
        gradient_run_begin(run, assignments);
        float *gradient = gradient_of_row(run, gradient_run_row(run, AQ_FORMAT_INT8_CHANNEL));
        exact = exact == NULL ? gradient : exact;
        double size = 0, off = 0;
        for (uint32_t k = 0; k < run->plan.settings.gradient_values; k++) {
            size += fabs((double)exact[k]);
            off += fabs((double)exact[k] - (double)gradient[k]);
        }
        assert_true(size > 0);
        assert_near(off / size, 0, most[i]);
        if (gradient != exact) {
            aq_free(gradient);
        }
        gradient_run_end(run);
        aq_free(run);
    }
    aq_free(exact);
}

TEST(without_a_version_no_step_is_made)
{
    gradient_run *run = aq_alloc(1, sizeof(*run));
    const aq_shard_mark mark = {.shard_incarnation = 1, .expected = 1};
    gradient_run_begin(run, a2c);
    aq_shard_spread_answered(aq_actor_core_spread(run->core), 0, 0, &mark, 10);
    assert_int_equal(aq_actor_core_step(run->core, 0), 0);
    gradient_run_end(run);
    aq_free(run);
}

TEST(what_is_made_of_other_rows_is_refused_in_words)
{
    static const struct {
        const char *setting, *words;
    } cases[] = {
        {"learner.algorithm=ppo", "actors compute no gradients of ppo"},
        {"learner.normalize_obs=true", "nothing of learner.normalize_obs"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *assignments[sizeof(a2c) / sizeof(a2c[0]) + 1];
        aq_run_config config;
        aq_run_plan plan;
        aq_agent *agent = NULL;
        memcpy(assignments, a2c, sizeof(a2c));
        assignments[sizeof(a2c) / sizeof(a2c[0]) - 1] = cases[i].setting;
        assignments[sizeof(a2c) / sizeof(a2c[0])] = NULL;
        gradient_config(&config, assignments);
        config.actor.gradients = true;
        gradient_plan(&config, &plan);
        const aq_algorithm_setup setup = {.config = &plan.config,
                                          .schema = &plan.settings.schema,
                                          .sequence_length = plan.sequence_length,
                                          .seed = 1};
        assert_refused(aq_agent_create(plan.algorithm_class, &setup, &agent, &refusal),
                       AQ_E_UNSUPPORTED, cases[i].words);
    }
}

/* It comes from a peer, and names no class. */
TEST(a_learner_that_chose_no_algorithm_is_refused)
{
    gradient_run *run = aq_alloc(1, sizeof(*run));
    aq_gradient_maker maker;
    gradient_run_begin(run, dqn);
    aq_run_settings settings = run->plan.settings;
    settings.config.learner.algorithm = AQ_ALGORITHM_AUTO;
    assert_succeeds(aq_run_settings_validate(&settings, &refusal));
    assert_refused(aq_gradient_maker_open(sizeof(settings), &settings, 1, &maker, &refusal),
                   AQ_E_INVALID, "which algorithm");
    gradient_run_end(run);
    aq_free(run);
}

TEST(messages_are_as_large_as_a_gradient)
{
    static const char *const wide[] = {"learner.algorithm=dqn", "learner.hidden=512,512", "seed=1",
                                       "net.message_bytes=4096", NULL};
    aq_run_config config;
    aq_run_plan plan;
    gradient_config(&config, wide);
    config.actor.gradients = true;
    gradient_plan(&config, &plan);
    aq_agent *agent = gradient_agent(&plan);
    const size_t values = aq_agent_gradient_values(agent);
    assert_succeeds(aq_run_plan_take_gradients(&plan, values, &refusal));
    assert_in_range(plan.settings.config.net.message_bytes, values * sizeof(float),
                    values * sizeof(float) + 1024);
    aq_agent_destroy(agent);
}

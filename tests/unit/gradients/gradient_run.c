/*
 * The run, and a maker in front of the real one that keeps the steps which it is given.
 */
#include "tests/unit/gradients/gradient_run.h"

#include "common/base/memory.h"
#include "common/config/gradient_rows.h"
#include "common/wire/wire_experience.h"
#include "envs/classic/cartpole.h"
#include "envs/env_open.h"
#include "gradients/gradient_module.h"
#include "learner/gradients/gradient_codes.h"
#include "quantizer/quantize/quantize.h"
#include "tests/support/config_kit.h"

enum { RUN = 0x51, STEPS_MAX = 100000 };

void gradient_config(aq_run_config *config, const char *const *assignments)
{
    *config = config_defaults();
    for (; *assignments != NULL; assignments++) {
        config_set(config, *assignments);
    }
}

void gradient_plan(const aq_run_config *config, aq_run_plan *ret_plan)
{
    assert_succeeds(aq_run_plan_make(config, ret_plan, &refusal));
}

aq_agent *gradient_agent(const aq_run_plan *plan)
{
    aq_agent *agent = NULL;
    assert_succeeds(aq_agent_create(plan->algorithm_class,
                                    &(aq_algorithm_setup){.config = &plan->config,
                                                          .schema = &plan->settings.schema,
                                                          .sequence_length = plan->sequence_length,
                                                          .seed = plan->config.seed},
                                    &agent, &refusal));
    return agent;
}

/* ---- what stands between the core and the maker --------------------------------------------- */

static int tap_adopt(aq_gradient_maker *tap, const aq_snapshot *version)
{
    gradient_run *run = tap->state;
    return run->maker.adopt(&run->maker, version);
}

static int tap_take(aq_gradient_maker *tap, aq_chunk *chunk)
{
    gradient_run *run = tap->state;
    assert_true(run->taken_count < GRADIENT_CHUNKS_MAX);
    run->taken[run->taken_count++] = aq_chunk_ref(chunk);
    return run->maker.take(&run->maker, chunk);
}

static int tap_make(aq_gradient_maker *tap, aq_chunk **ret_row)
{
    gradient_run *run = tap->state;
    if (run->lacks_memory) {
        run->lacks_memory = false;
        assert_fails_without_memory(run->maker.make(&run->maker, ret_row));
        return AQ_E_NOMEM;
    }
    return run->maker.make(&run->maker, ret_row);
}

static void tap_close(aq_gradient_maker *tap)
{
    gradient_run *run = tap->state;
    run->maker.close(&run->maker);
}

/* ---- the run -------------------------------------------------------------------------------- */

void gradient_run_begin(gradient_run *run, const char *const *assignments)
{
    gradient_run_begin_in(run, &aq_cartpole_v1, assignments);
}

static void create_core(gradient_run *run, const aq_env_class *cartpole)
{
    const aq_run_settings *settings = &run->plan.settings;
    aq_env *env = NULL;
    aq_env_task task;
    assert_succeeds(aq_env_open_class(cartpole, settings->task, &env, &refusal));
    assert_succeeds(aq_env_task_init(env, &task, &refusal));
    const aq_actor_core_config config = {.run_id = RUN, .member = 1, .incarnation = 2};
    assert_succeeds(aq_actor_core_create_in(&task, settings, &config, &run->core, &refusal));
    aq_env_task_fini(&task);
    aq_env_unref(env);
}

void gradient_run_begin_in(gradient_run *run, const aq_env_class *cartpole,
                           const char *const *assignments)
{
    aq_run_config config;
    uint32_t shard;
    *run = (gradient_run){.version = 0};
    gradient_config(&config, assignments);
    config.actor.gradients = true;
    gradient_plan(&config, &run->plan);
    run->agent = gradient_agent(&run->plan);
    assert_succeeds(
        aq_run_plan_take_gradients(&run->plan, aq_agent_gradient_values(run->agent), &refusal));
    const aq_run_settings *settings = &run->plan.settings;
    assert_succeeds(aq_gradient_maker_open(sizeof(*settings), settings, run->plan.config.seed,
                                           &run->maker, &refusal));
    create_core(run, cartpole);
    const aq_gradient_maker tap = {
        .state = run, .adopt = tap_adopt, .take = tap_take, .make = tap_make, .close = tap_close};
    aq_actor_core_make_gradients(run->core, &tap, aq_gradient_steps(&run->plan.config));
    assert_succeeds(aq_shard_spread_open(aq_actor_core_spread(run->core), 1, &shard));
    aq_shard_spread_set_taking(aq_actor_core_spread(run->core), shard, true);
}

static void forget_row(gradient_run *run)
{
    aq_arrival_unref(run->arrival);
    aq_lease_unref(run->frame);
    run->arrival = NULL;
    run->frame = NULL;
}

void gradient_run_end(gradient_run *run)
{
    forget_row(run);
    for (size_t i = 0; i < run->taken_count; i++) {
        aq_chunk_unref(run->taken[i]);
    }
    aq_engine_destroy(aq_actor_core_set_engine(run->core, NULL));
    aq_actor_core_destroy(run->core);
    aq_agent_destroy(run->agent);
}

/* The learner's parameters as the next version, in that format. */
static aq_snapshot *publish(gradient_run *run, uint32_t format)
{
    aq_snapshot *snapshot = NULL;
    run->version++;
    assert_succeeds(aq_quantize(aq_agent_spec(run->agent), aq_agent_policy(run->agent),
                                &(aq_quantize_plan){.format = format},
                                &(aq_quantize_meta){.run_id = RUN,
                                                    .version = run->version,
                                                    .learner_step = run->step,
                                                    .task = run->plan.settings.task,
                                                    .schema = &run->plan.settings.schema,
                                                    .head = run->plan.head},
                                &snapshot, &refusal));
    return snapshot;
}

const aq_chunk_view *gradient_run_row(gradient_run *run, uint32_t format)
{
    aq_engine *engine = NULL;
    aq_snapshot *snapshot = publish(run, format);
    const aq_shard_mark mark = {
        .shard_incarnation = 1, .acknowledged = run->version - 1, .expected = run->version};
    const uint8_t *frame = NULL;
    size_t size = 0;
    assert_succeeds(
        aq_engine_create(snapshot, aq_actor_core_lanes(run->core), 0, &engine, &refusal));
    aq_snapshot_unref(snapshot);
    aq_engine_destroy(aq_actor_core_set_engine(run->core, engine));
    aq_shard_spread_answered(aq_actor_core_spread(run->core), 0, 0, &mark, run->version);
    for (int i = 0; i < STEPS_MAX && !aq_actor_core_needs_credit(run->core); i++) {
        assert_true(aq_actor_core_step(run->core, 0) > 0);
    }
    assert_int_equal(aq_actor_core_step(run->core, 0), 0); /* there was credit for one */
    assert_true(aq_actor_core_next(run->core, 0, 0, &frame, &size));
    forget_row(run);
    assert_succeeds(aq_lease_copy(frame, size, &run->frame));
    aq_shard_spread_sent(aq_actor_core_spread(run->core), 0, 0);
    assert_succeeds(aq_wire_experience_arrive(run->frame, false, RUN, &run->plan.layout,
                                              &run->arrival, &refusal));
    assert_int_equal(run->arrival->chunk_count, 1);
    return &run->arrival->chunks[0];
}

float *gradient_of_row(const gradient_run *run, const aq_chunk_view *row)
{
    const size_t values = run->plan.settings.gradient_values;
    const enum aq_gradient_format format =
        (enum aq_gradient_format)run->plan.config.learner.gradient_format;
    const size_t bytes = aq_gradient_bytes(format, values);
    uint8_t *packed = aq_alloc(1, bytes);
    float *gradient = aq_alloc(values, sizeof(float));
    memcpy(packed, aq_chunk_view_column(row, AQ_COLUMNS_STANDARD + AQ_GRADIENT_PACKED), bytes);
    assert_succeeds(aq_gradient_unpack(format, packed, values, gradient));
    aq_free(packed);
    return gradient;
}

/*
 * The actor's core in environments of all kinds: those that fail, those whose actions are boxes,
 * and those that are seen as bytes. Messages are unpacked and looked into, as a shard would.
 */
#include "actor/core/actor_core.h"
#include "common/base/parse.h"
#include "common/experience/experience.h"
#include "tests/support/chunks.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/actor/core_kit.h"
#include "tests/unit/common/wire/experience_read.h"
#include "tests/unit/rollout/tally_env.h"

enum { MEMBER = 7, ACTIONS_MAX = 4096 };
#define INCARNATION UINT64_C(0x1234)

typedef struct stage {
    aq_run_settings settings;
    aq_actor_core *core;
    uint64_t fresh;             /* transitions received */
    float actions[ACTIONS_MAX]; /* those of boxes of one element, as they came */
    uint32_t action_count;
} stage;

static stage all;

static void finish(void *core)
{
    aq_engine_destroy(aq_actor_core_set_engine(core, NULL));
    aq_actor_core_destroy(core);
}

/* Takes the task; what is started ends with the test. */
static void start(aq_env_task task, double noise)
{
    memset(&all, 0, sizeof(all));
    all.settings = kit_settings();
    all.settings.schema = task.env->schema;
    all.settings.schema_hash = task.schema_hash;
    all.settings.config.actor.noise = noise;
    assert_int_equal(aq_text_set(all.settings.task, sizeof(all.settings.task), task.env->name), 0);
    assert_int_equal(aq_run_settings_validate(&all.settings, NULL), 0);
    const aq_actor_core_config config = {
        .run_id = KIT_RUN, .member = MEMBER, .incarnation = INCARNATION};
    assert_int_equal(aq_actor_core_create_in(&task, &all.settings, &config, &all.core, NULL), 0);
    at_end(finish, all.core);
    uint32_t shard;
    assert_int_equal(aq_shard_spread_open(aq_actor_core_spread(all.core), 1, &shard), 0);
    aq_shard_spread_set_taking(aq_actor_core_spread(all.core), shard, true);
    aq_env_task_fini(&task);
}

static aq_env_task task_named(const char *name)
{
    aq_env *env = NULL;
    aq_env_task task;
    assert_int_equal(aq_env_open(name, &env, NULL), 0);
    assert_int_equal(aq_env_task_init(env, &task, NULL), 0);
    aq_env_unref(env);
    return task;
}

static void take(const aq_chunk *chunk)
{
    const bool is_box = all.settings.schema.action.kind == AQ_SPACE_BOX;
    all.fresh += aq_chunk_view_fresh(&chunk->view);
    for (uint32_t i = chunk->view.overlap; is_box && i < chunk->view.length; i++) {
        if (all.action_count < ACTIONS_MAX) {
            all.actions[all.action_count++] = ((const float *)(const void *)action_of(chunk))[i];
        }
    }
}

/* Receives what there is, every chunk of which must be valid, and acknowledges it. */
static void receive(int64_t now_ns, uint64_t granted)
{
    aq_layout layout;
    const uint8_t *frame;
    size_t size;
    aq_shard_spread *spread = aq_actor_core_spread(all.core);
    assert_int_equal(aq_layout_init(&all.settings.schema, all.settings.n_step,
                                    all.settings.config.replay.chunk_length, &layout, NULL),
                     0);
    while (aq_actor_core_next(all.core, 0, now_ns, &frame, &size)) {
        aq_experience experience;
        assert_int_equal(experience_read(frame, size, KIT_RUN, &layout, &experience, NULL), 0);
        for (uint32_t i = 0; i < experience.chunk_count; i++) {
            take(experience.chunks[i]);
        }
        experience_fini(&experience);
        aq_shard_spread_sent(spread, 0, now_ns);
    }
    const uint64_t sent = aq_shard_spread_count_of(spread, 0).sent;
    const aq_shard_mark mark = {.shard_incarnation = 1, .acknowledged = sent, .expected = sent + 1};
    aq_shard_spread_answered(spread, 0, now_ns, &mark, granted);
}

/* Steps until credit ends, and then drains. */
static void run(uint64_t granted)
{
    int64_t now_ns = 0;
    receive(now_ns, granted);
    while (!aq_actor_core_needs_credit(all.core)) {
        (void)aq_actor_core_step(all.core, now_ns);
        receive(now_ns, granted);
        now_ns += AQ_NS_PER_MS;
        assert_true(now_ns < 1000 * AQ_NS_PER_S);
    }
    aq_actor_core_drain(all.core);
    receive(now_ns, granted);
    assert_true(aq_actor_core_drained(all.core));
}

/* ---- failures ------------------------------------------------------------------------------- */

/* What is forgotten gives its credit back: all that was granted arrives, but for what is held back
 * in the end by every actor. */
static void check_failing(const char *options, const char *words)
{
    enum { GRANTED = 5000 };
    start(tally_task(options), 0.0);
    run(GRANTED);
    const aq_actor_counters counters = aq_actor_core_counters(all.core);
    assert_true(counters.env_failures > 100);
    assert_int_equal(counters.env_failures, aq_actor_core_env_failures(all.core));
    assert_says(aq_actor_core_env_failure(all.core), words);
    assert_true(all.fresh <= GRANTED);
    assert_true(all.fresh + KIT_ENVS + KIT_ENVS * (all.settings.n_step - 1) > GRANTED);
    assert_int_equal(counters.acknowledged_steps, all.fresh);
    assert_true(counters.env_steps > all.fresh);
}

TEST(an_episode_that_fails_is_forgotten_and_its_credit_used_again)
{
    check_failing("?fail_step=6", "failed in a step");
}

TEST(an_environment_that_shows_no_number_does_not_stop_the_actor)
{
    check_failing("?nan_step=6", "not finite");
}

TEST(environments_that_cannot_be_reset_come_back)
{
    enum { GRANTED = 400 };
    start(tally_task("?fail_resets=2"), 0.0);
    run(GRANTED);
    assert_true(aq_actor_core_counters(all.core).env_failures > 10);
    assert_true(all.fresh + KIT_ENVS + KIT_ENVS * (all.settings.n_step - 1) > GRANTED);
}

TEST(while_all_wait_it_says_until_when)
{
    start(tally_task("?fail_resets=1000"), 0.0);
    receive(0, 1000);
    assert_true(aq_actor_core_env_due_ns(all.core) == INT64_MIN);
    assert_int_equal(aq_actor_core_step(all.core, 0), 0);
    assert_false(aq_actor_core_needs_credit(all.core));
    assert_int_equal(aq_actor_core_env_due_ns(all.core), 20 * AQ_NS_PER_MS);
    aq_actor_core_drain(all.core);
    assert_true(aq_actor_core_drained(all.core));
}

/* ---- continuous actions --------------------------------------------------------------------- */

/* Pendulum's torque is within 2; this policy always says tanh(bias). */
static void adopt_pendulum_policy(float bias)
{
    const aq_net_spec spec = net_of((aq_layer_spec[]){aq_layer_linear(3, 1, AQ_ACTIVATION_TANH)});
    aq_snapshot *snapshot =
        policy_of(&spec, AQ_HEAD_TANH_BOX, all.settings.task, &all.settings.schema);
    aq_snapshot_layer_data layer;
    aq_engine *engine = NULL;
    snapshot->run_id = KIT_RUN;
    aq_snapshot_layer_edit(snapshot, 0, &layer);
    layer.bias[0] = bias;
    assert_int_equal(aq_env_task_check_policy(aq_actor_core_task(all.core), snapshot, NULL), 0);
    assert_int_equal(aq_engine_create(snapshot, KIT_ENVS, 0, &engine, NULL), 0);
    assert_null(aq_actor_core_set_engine(all.core, engine));
}

static void spread_of(double *ret_mean, double *ret_deviation)
{
    double sum = 0.0, squares = 0.0;
    assert_true(all.action_count > 1000);
    for (uint32_t i = 0; i < all.action_count; i++) {
        assert_true(all.actions[i] >= -2.0f && all.actions[i] <= 2.0f);
        sum += (double)all.actions[i];
        squares += (double)all.actions[i] * (double)all.actions[i];
    }
    *ret_mean = sum / all.action_count;
    *ret_deviation = sqrt(squares / all.action_count - *ret_mean * *ret_mean);
}

TEST(without_a_policy_actions_fill_their_bounds)
{
    double mean, deviation;
    start(task_named("gym:Pendulum-v1"), 0.2);
    run(3000);
    spread_of(&mean, &deviation);
    assert_true(fabs(mean) < 0.1);
    assert_true(fabs(deviation - 4.0 / sqrt(12.0)) < 0.05);
}

TEST(without_noise_the_policy_alone_acts)
{
    start(task_named("gym:Pendulum-v1"), 0.0);
    adopt_pendulum_policy(0.0f);
    run(3000);
    for (uint32_t i = 0; i < all.action_count; i++) {
        assert_true(all.actions[i] == 0.0f);
    }
}

TEST(noise_is_a_share_of_half_the_range)
{
    double mean, deviation;
    start(task_named("gym:Pendulum-v1"), 0.1);
    adopt_pendulum_policy(0.25f);
    run(3000);
    spread_of(&mean, &deviation);
    assert_true(fabs(mean - 2.0 * tanh(0.25)) < 0.02);
    assert_true(fabs(deviation - 0.1 * 2.0) < 0.01);
}

/* ---- observations in bytes ------------------------------------------------------------------ */

TEST(images_travel_as_bytes)
{
    start(task_named("game:breakout?frame_stack=2"), 0.0);
    assert_int_equal(all.settings.schema.obs.dtype, AQ_DTYPE_U8);
    run(2000);
    assert_true(all.fresh + KIT_ENVS + KIT_ENVS * (all.settings.n_step - 1) > 2000);
    assert_int_equal(aq_actor_core_counters(all.core).env_failures, 0);
}

/*
 * One batched step: act, step every environment, append to the chunks, hand closed ones to the
 * spread. The order of the file is that of the data.
 */
#include "actor/core/actor_core.h"

#include "actor/core/actor_seeds.h"
#include "actor/core/chooser.h"
#include "actor/core/chunker.h"
#include "actor/core/episode_returns.h"
#include "actor/core/record.h"
#include "actor/core/unroll.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "rollout/vec_env.h"

/* Chunks of a paced run wait for nothing but credit. */
#define FLUSH_NS_NEVER (INT64_MAX / 4)

struct aq_actor_core {
    aq_env_task task;
    uint32_t lanes;
    aq_vec_env *vec;
    aq_chunker *chunker;
    aq_shard_spread *spread;
    aq_engine *engine; /* lent; NULL: none yet */
    bool random_first; /* a policy that was never trained is none */
    bool is_random;    /* actions are drawn */
    uint32_t version;  /* 0: of none */

    aq_record record;
    aq_chooser chooser;
    int64_t (*clock_ns)(void); /* NULL: times are not counted */
    int64_t inference_ns, environment_ns;

    aq_unroll unroll;

    uint64_t stepped;    /* fresh transitions made */
    uint64_t open_steps; /* of them, those in open chunks */
    bool draining;

    int64_t flush_ns;      /* how long a transition may wait in an open chunk */
    bool is_paced;         /* what is open goes when there is no credit for more */
    bool cuts_at_versions; /* a new version begins new chunks */

    aq_episode_returns returns;
};

/* ---- create and destroy --------------------------------------------------------------------- */

static int create_spread(aq_actor_core *core, const aq_run_settings *settings,
                         const aq_actor_core_config *config, const aq_layout *layout,
                         aq_error *error)
{
    const aq_outbox_config outbox = {
        .run_id = config->run_id,
        .actor = config->member,
        .incarnation = config->incarnation,
        .is_sealed = config->is_sealed,
        .layout = *layout,
        .message_bytes = (uint32_t)settings->config.net.message_bytes,
        /* A step closes at most one chunk a lane, and so does the flush before it. */
        .burst_chunks = 2 * core->lanes,
        .hold_ns = (int64_t)settings->config.actor.flush_ms * AQ_NS_PER_MS,
        .resend_ns = (int64_t)settings->config.net.rpc_timeout_ms * AQ_NS_PER_MS,
    };
    return aq_shard_spread_create(&outbox, &core->spread, error);
}

static void begin_episode(aq_actor_core *core, uint32_t lane)
{
    aq_step_values values = {
        .of = {[AQ_COLUMN_OBS] = core->vec->obs + lane * core->task.obs_bytes},
    };
    aq_chooser_begin(&core->chooser, lane);
    aq_record_put(&core->record, lane, &values);
    aq_chunker_begin(core->chunker, lane, &values);
}

static int create_lanes(aq_actor_core *core, const aq_run_settings *settings,
                        const aq_actor_core_config *config, const aq_layout *layout,
                        aq_error *error)
{
    const aq_actor_seeds seeds =
        aq_actor_seeds_of(settings->seed, config->slot, config->incarnation);
    if (aq_record_init(&core->record, settings, core->lanes) != 0 ||
        aq_chooser_init(&core->chooser, &core->task, &settings->config, config->slot, seeds.explore,
                        &core->record) != 0 ||
        aq_chunker_create(layout, core->lanes, &core->chunker) != 0) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %u environments", core->lanes);
    }
    int rc = aq_record_check(&core->record, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_vec_env_create(&core->task, core->lanes, seeds.env, &core->vec, error);
    if (rc != 0) {
        return rc;
    }
    core->random_first = settings->config.actor.random_first;
    core->is_random = true;
    for (uint32_t lane = 0; lane < core->lanes; lane++) {
        if (!core->vec->waits[lane]) {
            begin_episode(core, lane);
        }
    }
    return 0;
}

int aq_actor_core_create_in(const aq_env_task *task, const aq_run_settings *settings,
                            const aq_actor_core_config *config, aq_actor_core **ret_core,
                            aq_error *error)
{
    aq_layout layout, steps;
    AQ_ASSERT(settings->config.actor.envs <= AQ_VEC_ENV_LANES_MAX);
    int rc = aq_run_settings_layout(settings, &layout, error);
    if (rc == 0) {
        rc = aq_run_settings_steps_layout(settings, &steps, error);
    }
    if (rc != 0) {
        return rc;
    }
    aq_actor_core *core = aq_alloc(1, sizeof(*core));
    if (core == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for an actor");
    }
    core->task = aq_env_task_copy(task);
    core->lanes = (uint32_t)settings->config.actor.envs;
    core->clock_ns = config->clock_ns;
    core->is_paced = settings->versions_max > 0;
    core->cuts_at_versions = settings->versions_max == 1;
    core->flush_ns =
        core->is_paced ? FLUSH_NS_NEVER : (int64_t)settings->config.actor.flush_ms * AQ_NS_PER_MS;
    rc = create_spread(core, settings, config, &layout, error);
    if (rc == 0) {
        rc = create_lanes(core, settings, config, &steps, error);
    }
    if (rc != 0) {
        aq_actor_core_destroy(core);
        return rc;
    }
    *ret_core = core;
    return 0;
}

int aq_actor_core_create(const aq_run_settings *settings, const aq_actor_core_config *config,
                         aq_actor_core **ret_core, aq_error *error)
{
    aq_env_task task;
    int rc = aq_env_task_find(settings->task, settings->schema_hash, &task, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_actor_core_create_in(&task, settings, config, ret_core, error);
    aq_env_task_fini(&task);
    return rc;
}

void aq_actor_core_destroy(aq_actor_core *core)
{
    if (core == NULL) {
        return;
    }
    aq_unroll_fini(&core->unroll);
    aq_shard_spread_destroy(core->spread);
    aq_chunker_destroy(core->chunker);
    aq_vec_env_destroy(core->vec);
    aq_chooser_fini(&core->chooser);
    aq_record_fini(&core->record);
    aq_env_task_fini(&core->task);
    aq_free(core);
}

void aq_actor_core_make_gradients(aq_actor_core *core, const aq_gradient_maker *maker,
                                  uint64_t steps)
{
    AQ_ASSERT(core->stepped == 0 && core->engine == NULL);
    aq_unroll_init(&core->unroll, maker, steps);
    core->flush_ns = FLUSH_NS_NEVER; /* steps stay here */
}

void aq_actor_core_explore(aq_actor_core *core, const aq_run_config *config, uint32_t slot)
{
    aq_chooser_explore(&core->chooser, config, slot);
}

/* ---- the policy ----------------------------------------------------------------------------- */

static void flush_all(aq_actor_core *core);

aq_engine *aq_actor_core_set_engine(aq_actor_core *core, aq_engine *engine)
{
    aq_engine *before = core->engine;
    if (core->cuts_at_versions && engine != NULL) {
        flush_all(core);
    }
    if (aq_unroll_is_used(&core->unroll)) {
        aq_unroll_adopt(&core->unroll, engine != NULL ? aq_engine_snapshot(engine) : NULL);
    }
    core->engine = engine;
    core->version = 0;
    core->is_random =
        engine == NULL || (core->random_first && aq_engine_snapshot(engine)->learner_step == 0);
    if (!core->is_random) {
        AQ_ASSERT(aq_engine_rows_max(engine) >= core->lanes);
        uint64_t version = aq_engine_snapshot(engine)->version;
        core->version = version < UINT32_MAX ? (uint32_t)version : UINT32_MAX;
    }
    return before;
}

bool aq_actor_core_may_change(const aq_actor_core *core)
{
    return core->unroll.gathered == 0;
}

/* ---- stepping ------------------------------------------------------------------------------- */

/* A chunk leaves for a shard that has credit for it, or is among the last there are. */
static void put_closed(aq_actor_core *core, const aq_closed_chunk *closed)
{
    const uint32_t fresh = aq_chunk_view_fresh(&closed->chunk->view);
    AQ_ASSERT(fresh <= core->open_steps);
    core->open_steps -= fresh;
    if (aq_unroll_is_used(&core->unroll)) {
        aq_unroll_take(&core->unroll, closed->chunk);
    } else if (core->draining) {
        aq_shard_spread_put_last(core->spread, closed->chunk, closed->since_ns);
    } else {
        aq_shard_spread_put(core->spread, closed->chunk, closed->since_ns);
    }
}

static void record_lane(aq_actor_core *core, uint32_t lane, int64_t now_ns)
{
    const aq_vec_env *vec = core->vec;
    const uint8_t events = vec->events[lane];
    aq_step_values values = {
        .of =
            {
                [AQ_COLUMN_OBS] = vec->next_obs + lane * core->task.obs_bytes,
                [AQ_COLUMN_ACTION] = core->chooser.actions + lane * core->task.action_bytes,
                [AQ_COLUMN_REWARD] = &vec->reward[lane],
                [AQ_COLUMN_VERSION] = &core->version,
            },
        .terminated = (events & AQ_LANE_TERMINATED) != 0,
        .truncated = (events & AQ_LANE_TRUNCATED) != 0,
    };
    aq_closed_chunk closed;
    aq_record_put(&core->record, lane, &values);
    if (aq_chunker_append(core->chunker, lane, now_ns, &values, &closed)) {
        put_closed(core, &closed);
    }
    if (aq_vec_env_ended(vec, lane)) {
        aq_episode_returns_add(&core->returns, vec->episode_return[lane]);
    }
}

/* What happened in a lane, in its order. */
static void follow_lane(aq_actor_core *core, uint32_t lane, int64_t now_ns)
{
    const uint8_t events = core->vec->events[lane];
    if ((events & AQ_LANE_STEPPED) != 0) {
        record_lane(core, lane, now_ns);
    }
    if ((events & AQ_LANE_FAILED) != 0) {
        core->open_steps -= aq_chunker_abandon(core->chunker, lane);
    }
    if ((events & AQ_LANE_BEGAN) != 0) {
        begin_episode(core, lane);
    }
}

/* Closes the chunks whose oldest new transition is from `until_ns` or before, as far as there is
 * somewhere to put them. */
static void flush_chunks(aq_actor_core *core, int64_t until_ns)
{
    for (uint32_t lane = 0; lane < core->lanes; lane++) {
        aq_closed_chunk closed;
        if (!core->draining && !aq_shard_spread_may_put(core->spread)) {
            break;
        }
        if (aq_chunker_flush(core->chunker, lane, until_ns, &closed)) {
            put_closed(core, &closed);
        }
    }
    aq_chunker_look(core->chunker);
}

/* So that nobody waits for what comes after it. */
static void flush_all(aq_actor_core *core)
{
    if (core->open_steps > 0 && aq_shard_spread_begin(core->spread) > 0) {
        flush_chunks(core, INT64_MAX);
    }
}

static bool is_flush_due(const aq_actor_core *core, int64_t now_ns)
{
    return aq_chunker_oldest_ns(core->chunker) <= now_ns - core->flush_ns;
}

static void flush_if_due(aq_actor_core *core, int64_t now_ns)
{
    if (is_flush_due(core, now_ns) && aq_shard_spread_begin(core->spread) > 0) {
        flush_chunks(core, now_ns - core->flush_ns);
    }
}

/* Credit that a step of all environments needs: what is in open chunks has been spent, although it
 * is not known yet at whose expense. */
static uint64_t credit_needed(const aq_actor_core *core)
{
    return aq_unroll_is_used(&core->unroll) ? 1 : core->open_steps + core->lanes;
}

bool aq_actor_core_needs_credit(const aq_actor_core *core)
{
    return aq_shard_spread_credit(core->spread) < credit_needed(core);
}

uint64_t aq_actor_core_version_min(const aq_actor_core *core)
{
    return core->is_paced ? aq_shard_spread_version_min(core->spread) : core->chooser.version_min;
}

static bool waits_for_policy(const aq_actor_core *core)
{
    return core->version < aq_actor_core_version_min(core);
}

/* True: every chunk that the step closes finds a shard. */
static bool may_step(aq_actor_core *core)
{
    return !waits_for_policy(core) && aq_unroll_may_go(&core->unroll) &&
           aq_shard_spread_begin(core->spread) >= credit_needed(core);
}

/* The steps that were gathered become a gradient, which there is credit for. */
static void make_gradient(aq_actor_core *core, int64_t now_ns)
{
    flush_chunks(core, INT64_MAX);
    aq_chunk *row = aq_unroll_make(&core->unroll);
    if (row != NULL) {
        aq_shard_spread_put(core->spread, row, now_ns);
    }
}

static int64_t read_clock(const aq_actor_core *core)
{
    return core->clock_ns != NULL ? core->clock_ns() : 0;
}

uint32_t aq_actor_core_step(aq_actor_core *core, int64_t now_ns)
{
    if (core->draining) {
        return 0;
    }
    if (!may_step(core)) {
        if (core->is_paced) {
            flush_all(core);
        }
        return 0;
    }
    if (is_flush_due(core, now_ns)) {
        flush_chunks(core, now_ns - core->flush_ns);
        if (!may_step(core)) {
            return 0; /* what was closed has filled an outbox */
        }
    }
    if (aq_chunker_reserve(core->chunker) != 0) {
        return 0;
    }
    const int64_t begun_ns = read_clock(core);
    if (core->vec->waiting_count < core->lanes &&
        aq_chooser_choose(&core->chooser, core->is_random ? NULL : core->engine, core->vec->obs) !=
            0) {
        return 0;
    }
    const int64_t chosen_ns = read_clock(core);
    const uint32_t made = aq_vec_env_step(core->vec, core->chooser.actions, now_ns);
    core->inference_ns += chosen_ns - begun_ns;
    core->environment_ns += read_clock(core) - chosen_ns;
    core->stepped += made;
    core->open_steps += made;
    for (uint32_t lane = 0; lane < core->lanes; lane++) {
        follow_lane(core, lane, now_ns);
    }
    if (made > 0 && aq_unroll_gather(&core->unroll, core->lanes)) {
        make_gradient(core, now_ns);
    }
    return made;
}

int64_t aq_actor_core_env_due_ns(const aq_actor_core *core)
{
    return aq_vec_env_due_ns(core->vec);
}

uint64_t aq_actor_core_env_failures(const aq_actor_core *core)
{
    return core->vec->failures;
}

const char *aq_actor_core_env_failure(const aq_actor_core *core)
{
    return core->vec->failure;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Nothing more will come for now, so nothing is gained by waiting for it. */
static bool is_urgent(const aq_actor_core *core)
{
    return core->draining || aq_unroll_is_used(&core->unroll) || aq_actor_core_needs_credit(core) ||
           waits_for_policy(core);
}

aq_shard_spread *aq_actor_core_spread(aq_actor_core *core)
{
    return core->spread;
}

bool aq_actor_core_next(aq_actor_core *core, uint32_t shard, int64_t now_ns,
                        const uint8_t **ret_frame, size_t *ret_size)
{
    flush_if_due(core, now_ns);
    return aq_shard_spread_next(core->spread, shard, now_ns, is_urgent(core), ret_frame, ret_size);
}

int64_t aq_actor_core_due_ns(const aq_actor_core *core, uint32_t shard)
{
    int64_t due_ns = aq_shard_spread_due_ns(core->spread, shard, is_urgent(core));
    int64_t oldest_ns = aq_chunker_oldest_ns(core->chunker);
    if (oldest_ns != INT64_MAX && oldest_ns + core->flush_ns < due_ns &&
        aq_shard_spread_may_put(core->spread)) {
        due_ns = oldest_ns + core->flush_ns;
    }
    return due_ns;
}

/* ---- the end -------------------------------------------------------------------------------- */

void aq_actor_core_drain(aq_actor_core *core)
{
    core->draining = true;
    if (!aq_unroll_is_used(&core->unroll)) { /* which would be of too few steps */
        flush_chunks(core, INT64_MAX);
    }
}

bool aq_actor_core_is_draining(const aq_actor_core *core)
{
    return core->draining;
}

bool aq_actor_core_drained(const aq_actor_core *core)
{
    return core->draining && aq_shard_spread_is_empty(core->spread);
}

/* ---- counters ------------------------------------------------------------------------------- */

aq_actor_counters aq_actor_core_counters(const aq_actor_core *core)
{
    const aq_outbox_counters sum = aq_shard_spread_count_all(core->spread);
    return (aq_actor_counters){
        .env_steps = core->stepped,
        .env_failures = core->vec->failures,
        .episodes = core->returns.episodes,
        .return_mean = aq_episode_returns_mean(&core->returns),
        .policy_version = core->version,
        .unacknowledged = sum.unacknowledged,
        .resent = sum.resent,
        .acknowledged_steps = sum.acknowledged_steps * aq_unroll_row_steps(&core->unroll),
        .shard_steps = sum.shard_steps * aq_unroll_row_steps(&core->unroll),
        .gradients = core->unroll.made,
        .inference_ns = core->inference_ns,
        .environment_ns = core->environment_ns,
    };
}

const aq_env_task *aq_actor_core_task(const aq_actor_core *core)
{
    return &core->task;
}

uint32_t aq_actor_core_lanes(const aq_actor_core *core)
{
    return core->lanes;
}

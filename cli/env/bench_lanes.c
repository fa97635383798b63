/*
 * Bench lanes: see bench_lanes.h.
 */
#include "cli/env/bench_lanes.h"

#include <math.h>

#include "common/base/memory.h"
#include "envs/env_physics.h"

#define ACTIONS_STREAM UINT64_MAX /* the lanes' are counted from 0 on */

/* ---- lives ---------------------------------------------------------------------------------- */

static int allocate(aq_bench_lanes *lanes, uint32_t count, aq_error *error)
{
    const aq_env *env = lanes->env;
    lanes->action_bytes = aq_space_bytes(&env->schema.action);
    lanes->obs_bytes = aq_space_bytes(&env->schema.obs);
    lanes->rows.count = count;
    lanes->rows.state_stride = aq_round_up(env->class->state_bytes, AQ_ALIGNMENT_BYTES);
    lanes->rows.states = aq_alloc(count, lanes->rows.state_stride);
    lanes->rows.obs = aq_alloc(count, lanes->obs_bytes);
    lanes->rows.rewards = aq_alloc(count, sizeof(float));
    lanes->rows.ends = aq_alloc(count, 1);
    lanes->state_at = aq_alloc(count, sizeof(uint32_t));
    lanes->rows.state_at = lanes->state_at;
    lanes->elapsed = aq_alloc(count, sizeof(uint32_t));
    lanes->rngs = aq_alloc(count, sizeof(aq_rng));
    lanes->actions = aq_alloc((size_t)count * AQ_BENCH_ACTIONS, lanes->action_bytes);
    if (!lanes->rows.states || !lanes->rows.obs || !lanes->rows.rewards || !lanes->rows.ends ||
        !lanes->state_at || !lanes->elapsed || !lanes->rngs || !lanes->actions) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %u lanes of %s", (unsigned)count,
                       env->name);
    }
    for (uint32_t i = 0; i < count; i++) {
        lanes->state_at[i] = i;
    }
    return 0;
}

static void *state_of(const aq_bench_lanes *lanes, uint32_t lane)
{
    return aq_step_rows_state(&lanes->rows, lane);
}

int aq_bench_lanes_init(aq_bench_lanes *lanes, const aq_env *env, uint32_t count, uint64_t seed,
                        aq_error *error)
{
    *lanes = (aq_bench_lanes){.env = env, .seed = seed};
    aq_rng_init(&lanes->rng, seed, ACTIONS_STREAM);
    int rc = allocate(lanes, count, error);
    if (rc == 0) {
        aq_bench_lanes_seed(lanes, 0);
    }
    while (rc == 0 && lanes->begun < count) {
        if (env->class->begin != NULL) {
            rc = env->class->begin(env->params, state_of(lanes, lanes->begun), error);
        }
        lanes->begun += rc == 0;
    }
    if (rc != 0) {
        aq_bench_lanes_fini(lanes);
    }
    return rc;
}

void aq_bench_lanes_fini(aq_bench_lanes *lanes)
{
    for (uint32_t i = 0; lanes->env->class->end != NULL && i < lanes->begun; i++) {
        lanes->env->class->end(lanes->env->params, state_of(lanes, i));
    }
    aq_free(lanes->rows.states);
    aq_free(lanes->rows.obs);
    aq_free(lanes->rows.rewards);
    aq_free(lanes->rows.ends);
    aq_free(lanes->state_at);
    aq_free(lanes->elapsed);
    aq_free(lanes->rngs);
    aq_free(lanes->actions);
    *lanes = (aq_bench_lanes){0};
}

/* ---- actions -------------------------------------------------------------------------------- */

static float draw_number(aq_rng *rng, float low, float high)
{
    if (isinf(low) && isinf(high)) {
        low = -1;
        high = 1;
    } else if (isinf(low)) {
        low = high - 1;
    } else if (isinf(high)) {
        high = low + 1;
    }
    float number = (float)aq_rng_range(rng, (double)low, (double)high);
    return fminf(fmaxf(number, low), high);
}

void aq_bench_lanes_draw(aq_bench_lanes *lanes)
{
    const aq_space *space = &lanes->env->schema.action;
    const size_t width = aq_space_elements(space);
    const size_t count = (size_t)AQ_BENCH_ACTIONS * lanes->rows.count * width;
    for (size_t i = 0; i < count; i++) {
        size_t bound = space->bound_count > 1 ? i % width : 0;
        if (space->kind == AQ_SPACE_DISCRETE) {
            ((int32_t *)lanes->actions)[i] =
                (int32_t)aq_rng_below(&lanes->rng, aq_space_choices(space, bound));
        } else if (space->dtype == AQ_DTYPE_U8) {
            lanes->actions[i] =
                (uint8_t)draw_number(&lanes->rng, space->low[bound], space->high[bound]);
        } else {
            ((float *)lanes->actions)[i] =
                draw_number(&lanes->rng, space->low[bound], space->high[bound]);
        }
    }
}

static const uint8_t *actions_of(const aq_bench_lanes *lanes, uint64_t step)
{
    return lanes->actions + step % AQ_BENCH_ACTIONS * lanes->rows.count * lanes->action_bytes;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static int fail(const aq_bench_lanes *lanes, uint32_t lane, const char *what, aq_error *error)
{
    const char *said = aq_env_said(lanes->env, state_of(lanes, lane), "it does not say why");
    return aq_fail(error, AQ_E_PEER, "%s: a %s failed: %s", lanes->env->name, what,
                   aq_env_said_last(said));
}

void aq_bench_lanes_seed(aq_bench_lanes *lanes, uint64_t number)
{
    for (uint32_t lane = 0; lane < lanes->rows.count; lane++) {
        aq_rng_init(&lanes->rngs[lane], lanes->seed, number * lanes->rows.count + lane);
    }
}

static int reset_lane(aq_bench_lanes *lanes, uint32_t lane, aq_error *error)
{
    const aq_env *env = lanes->env;
    uint8_t *obs = (uint8_t *)lanes->rows.obs + lane * lanes->obs_bytes;
    if (!env->class->reset(env->params, state_of(lanes, lane), &lanes->rngs[lane], obs)) {
        return fail(lanes, lane, "reset", error);
    }
    lanes->elapsed[lane] = 0;
    lanes->episodes++;
    return 0;
}

int aq_bench_lanes_reset(aq_bench_lanes *lanes, aq_error *error)
{
    for (uint32_t lane = 0; lane < lanes->rows.count; lane++) {
        int rc = reset_lane(lanes, lane, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* One step of every lane. */
static void step_lanes(aq_bench_lanes *lanes, const uint8_t *actions)
{
    const aq_env_class *class = lanes->env->class;
    const void *params = lanes->env->params;
    aq_step_rows *rows = &lanes->rows;
    if (class->step_rows != NULL) {
        rows->actions = actions;
        class->step_rows(params, rows);
        return;
    }
    for (uint32_t lane = 0; class->announce != NULL && lane < rows->count; lane++) {
        class->announce(params, state_of(lanes, lane), actions + lane * lanes->action_bytes);
    }
    for (uint32_t lane = 0; lane < rows->count; lane++) {
        uint8_t *obs = (uint8_t *)rows->obs + lane * lanes->obs_bytes;
        rows->ends[lane] =
            (uint8_t) class->step(params, state_of(lanes, lane), &lanes->rngs[lane],
                                  actions + lane * lanes->action_bytes, obs, &rows->rewards[lane]);
    }
}

/* New episodes where one ended. */
static int go_on(aq_bench_lanes *lanes, aq_error *error)
{
    const uint32_t limit = lanes->env->step_limit > 0 ? lanes->env->step_limit : UINT32_MAX;
    for (uint32_t lane = 0; lane < lanes->rows.count; lane++) {
        lanes->elapsed[lane]++;
        if (lanes->rows.ends[lane] == AQ_STEP_GOES_ON && lanes->elapsed[lane] < limit) {
            continue;
        }
        if (lanes->rows.ends[lane] == AQ_STEP_FAILED) {
            return fail(lanes, lane, "step", error);
        }
        int rc = reset_lane(lanes, lane, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int aq_bench_lanes_step(aq_bench_lanes *lanes, uint64_t steps, aq_error *error)
{
    for (uint64_t i = 0; i < steps; i++) {
        step_lanes(lanes, actions_of(lanes, i));
        int rc = go_on(lanes, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* ---- physics alone -------------------------------------------------------------------------- */

void aq_bench_lanes_start_physics(aq_bench_lanes *lanes)
{
    const struct aq_env_physics *physics = lanes->env->class->physics;
    for (uint32_t lane = 0; lane < lanes->rows.count; lane++) {
        physics->start(lanes->env->params, state_of(lanes, lane), &lanes->rngs[lane]);
    }
}

void aq_bench_lanes_step_physics(aq_bench_lanes *lanes, uint64_t steps)
{
    const struct aq_env_physics *physics = lanes->env->class->physics;
    const void *params = lanes->env->params;
    for (uint32_t lane = 0; lane < lanes->rows.count; lane++) {
        void *state = state_of(lanes, lane);
        for (uint64_t i = 0; i < steps; i++) {
            physics->step(params, state, actions_of(lanes, i) + lane * lanes->action_bytes);
        }
    }
}

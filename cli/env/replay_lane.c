/*
 * Replay lane: see replay_lane.h.
 */
#include "cli/env/replay_lane.h"

#include <math.h>
#include <string.h>

#include "common/base/memory.h"

enum { SEED = 1 }; /* of what a recording leaves to chance */

/* ---- lives ---------------------------------------------------------------------------------- */

static int allocate(aq_replay_lane *lane, aq_error *error)
{
    const aq_schema *schema = &lane->env->schema;
    lane->action_width = aq_space_elements(&schema->action);
    lane->obs_width = aq_space_elements(&schema->obs);
    lane->state = aq_alloc(1, lane->env->class->state_bytes);
    lane->action_row = aq_alloc(1, aq_space_bytes(&schema->action));
    lane->obs_row = aq_alloc(1, aq_space_bytes(&schema->obs));
    lane->obs = aq_alloc(lane->obs_width, sizeof(double));
    if (!lane->state || !lane->action_row || !lane->obs_row || !lane->obs) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a lane of %s", lane->env->name);
    }
    return 0;
}

/* "a step failed", and why where the environment says it. */
static int fail(const aq_replay_lane *lane, const char *what, aq_error *error)
{
    const aq_env_class *class = lane->env->class;
    const char *why =
        class->failure != NULL ? class->failure(lane->env->params, lane->state) : NULL;
    return aq_fail(error, AQ_E_PEER, "%s: a %s failed%s%s", lane->env->name, what,
                   why != NULL ? ": " : "", why != NULL ? why : "");
}

static int start(aq_replay_lane *lane, aq_error *error)
{
    const aq_env_class *class = lane->env->class;
    if (class->begin != NULL) {
        int rc = class->begin(lane->env->params, lane->state, error);
        if (rc) {
            return rc;
        }
    }
    lane->is_begun = true;
    aq_rng_init(&lane->rng, SEED, 0);
    if (!class->reset(lane->env->params, lane->state, &lane->rng, lane->obs_row)) {
        return fail(lane, "reset", error);
    }
    return 0;
}

int aq_replay_lane_init(aq_replay_lane *lane, const aq_env *env, aq_error *error)
{
    *lane = (aq_replay_lane){.env = env, .golden = env->class->golden};
    if (lane->golden == NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s can't be put into a recorded state, so it can't be replayed", env->name);
    }
    int rc = allocate(lane, error);
    if (rc == 0) {
        rc = start(lane, error);
    }
    if (rc) {
        aq_replay_lane_fini(lane);
    }
    return rc;
}

void aq_replay_lane_fini(aq_replay_lane *lane)
{
    if (lane->is_begun && lane->env->class->end != NULL) {
        lane->env->class->end(lane->env->params, lane->state);
    }
    aq_free(lane->state);
    aq_free(lane->action_row);
    aq_free(lane->obs_row);
    aq_free(lane->obs);
    *lane = (aq_replay_lane){0};
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void take_obs_row(aq_replay_lane *lane)
{
    const aq_space *space = &lane->env->schema.obs;
    for (size_t i = 0; i < lane->obs_width; i++) {
        if (space->kind == AQ_SPACE_DISCRETE) {
            lane->obs[i] = ((const int32_t *)lane->obs_row)[i];
        } else if (space->dtype == AQ_DTYPE_U8) {
            lane->obs[i] = ((const uint8_t *)lane->obs_row)[i];
        } else {
            lane->obs[i] = (double)((const float *)lane->obs_row)[i];
        }
    }
}

static bool is_in_box(const aq_space *space, size_t i, double number)
{
    size_t bound = space->bound_count > 1 ? i : 0;
    return number >= (double)space->low[bound] && number <= (double)space->high[bound];
}

/* Checks the action against its space and writes its row. */
static int put_action_row(aq_replay_lane *lane, const double *action, aq_error *error)
{
    const aq_space *space = &lane->env->schema.action;
    if (space->kind == AQ_SPACE_DISCRETE) {
        if (!(action[0] >= 0 && action[0] < (double)space->choice_count) ||
            action[0] != floor(action[0])) {
            return aq_fail(error, AQ_E_CORRUPT, "there is no action %g", action[0]);
        }
        *(int32_t *)lane->action_row = (int32_t)action[0];
        return 0;
    }
    for (size_t i = 0; i < lane->action_width; i++) {
        if (!is_in_box(space, i, action[i])) {
            return aq_fail(error, AQ_E_CORRUPT, "an action has %g, out of its bounds", action[i]);
        }
        ((float *)lane->action_row)[i] = (float)action[i];
    }
    return 0;
}

/* ---- states and steps ----------------------------------------------------------------------- */

int aq_replay_lane_set(aq_replay_lane *lane, const aq_golden_values *values, bool is_start,
                       aq_error *error)
{
    if (is_start) {
        lane->elapsed = 0;
    }
    return lane->golden->set(lane->env->params, lane->state, values, error);
}

void aq_replay_lane_observe(aq_replay_lane *lane)
{
    lane->reward = (double)NAN;
    if (lane->golden->observe != NULL) {
        lane->golden->observe(lane->env->params, lane->state, lane->obs, &lane->reward);
        return;
    }
    lane->env->class->observe(lane->env->params, lane->state, lane->obs_row);
    take_obs_row(lane);
}

int aq_replay_lane_step(aq_replay_lane *lane, const double *action, aq_error *error)
{
    const aq_env *env = lane->env;
    enum aq_step_end end;
    int rc = put_action_row(lane, action, error);
    if (rc) {
        return rc;
    }
    if (lane->golden->step != NULL) {
        end = lane->golden->step(env->params, lane->state, &lane->rng, action, lane->obs,
                                 &lane->reward);
    } else {
        float reward = 0;
        end = env->class->step(env->params, lane->state, &lane->rng, lane->action_row,
                               lane->obs_row, &reward);
        lane->reward = (double)reward;
        take_obs_row(lane);
    }
    if (end == AQ_STEP_FAILED) {
        return fail(lane, "step", error);
    }
    lane->elapsed++;
    lane->terminated = end == AQ_STEP_TERMINATED;
    lane->truncated =
        end == AQ_STEP_TRUNCATED || (env->step_limit > 0 && lane->elapsed >= env->step_limit);
    return 0;
}

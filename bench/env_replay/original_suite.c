/*
 * Tasks of the control suite in double, as the original computes them.
 */
#include <string.h>

#include "bench/env_replay/original.h"
#include "envs/mujoco/suite.h"

/* A named part of a state. */
typedef struct state_part {
    const char *name;
    const mjtNum *numbers;
    int count;
} state_part;

static size_t get(const void *params, const void *state, const char *name, double *out, size_t room)
{
    const aq_suite *suite = params;
    const aq_suite_lane *lane = state;
    const mjModel *model = suite->model;
    const mjData *data = lane->physics.data;
    const char *placed = suite->task->placed;
    const state_part parts[] = {
        {"qpos", data->qpos, model->nq},
        {"qvel", data->qvel, model->nv},
        {"act", data->act, model->na},
        {"ctrl", data->ctrl, model->nu},
        {"qacc_warmstart", data->qacc_warmstart, model->nv},
        {"sensordata", data->sensordata, model->nsensordata},
        {placed != NULL ? placed : "", lane->target, 3},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const size_t count = (size_t)parts[i].count;
        if (strcmp(name, parts[i].name) == 0 && count <= room) {
            memcpy(out, parts[i].numbers, count * sizeof(*out));
            return count;
        }
    }
    return 0;
}

static void observe(const void *params, const void *state, double *obs, double *reward)
{
    const aq_suite *suite = params;
    suite->task->observe(suite, state, obs);
    *reward = suite->task->reward(suite, state);
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const double *action,
                             double *obs, double *reward)
{
    (void)rng;
    const aq_suite *suite = params;
    aq_suite_lane *lane = state;
    mju_copy(lane->physics.data->ctrl, action, suite->model->nu);
    if (!aq_physics_step(&lane->physics, suite->model, suite->task->domain->substeps)) {
        return AQ_STEP_FAILED;
    }
    observe(suite, lane, obs, reward);
    return AQ_STEP_GOES_ON;
}

const aq_original aq_original_suite = {.get = get, .observe = observe, .step = step};

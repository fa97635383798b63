/*
 * Recordings of the original suite, put into ours: see env_golden.h.
 */
#include <string.h>

#include "envs/mujoco/suite.h"

/* A named part of the physical state. `needed` ones must be in a recording. */
typedef struct state_part {
    const char *name;
    mjtNum *numbers;
    int count;
    bool needed;
} state_part;

enum { STATE_PARTS = 6 };

static void list_parts(const aq_suite *suite, const aq_suite_lane *lane,
                       state_part ret_parts[STATE_PARTS])
{
    const mjModel *model = suite->model;
    mjData *data = lane->physics.data;
    ret_parts[0] = (state_part){"qpos", data->qpos, model->nq, true};
    ret_parts[1] = (state_part){"qvel", data->qvel, model->nv, true};
    ret_parts[2] = (state_part){"act", data->act, model->na, model->na > 0};
    ret_parts[3] = (state_part){"ctrl", data->ctrl, model->nu, false};
    ret_parts[4] = (state_part){"qacc_warmstart", data->qacc_warmstart, model->nv, false};
    ret_parts[5] = (state_part){"sensordata", data->sensordata, model->nsensordata, false};
}

/* Before anything changes. */
static int check_parts(const state_part parts[STATE_PARTS], const aq_golden_values *values,
                       aq_error *error)
{
    int rc = 0;
    for (int i = 0; i < STATE_PARTS && rc == 0; i++) {
        rc = aq_golden_check(values, parts[i].name, (size_t)parts[i].count, parts[i].needed, error);
    }
    return rc;
}

static void put_parts(const state_part parts[STATE_PARTS], const aq_golden_values *values)
{
    for (int i = 0; i < STATE_PARTS; i++) {
        const size_t count = (size_t)parts[i].count;
        const double *given = aq_golden_find(values, parts[i].name, count);
        if (given != NULL) {
            memcpy(parts[i].numbers, given, count * sizeof(*given));
        }
    }
}

/* Sensors of forces and the warm start for the next solution are what a recording says, where it
 * says it; else what follows from the state as it stands. */
int aq_suite_put_golden(const void *params, void *state, const aq_golden_values *values,
                        aq_error *error)
{
    const aq_suite *suite = params;
    aq_suite_lane *lane = state;
    const char *placed = suite->task->placed;
    state_part parts[STATE_PARTS];

    mjtNum target[3] = {lane->target[0], lane->target[1], lane->target[2]};
    list_parts(suite, lane, parts);
    int code = check_parts(parts, values, error);
    if (code == 0 && placed != NULL) {
        code = aq_golden_copy(values, placed, 3, target, error);
    }
    if (code != 0) {
        return code;
    }
    aq_physics_reset(&lane->physics, suite->model);
    put_parts(parts, values);
    if (!aq_physics_forward(&lane->physics, suite->model)) {
        return aq_fail(error, AQ_E_INVALID, "%s", lane->physics.failure);
    }
    memcpy(lane->target, target, sizeof(target));
    const mjtNum *warmstart = aq_golden_find(values, "qacc_warmstart", (size_t)suite->model->nv);
    const mjtNum *sensors = aq_golden_find(values, "sensordata", (size_t)suite->model->nsensordata);
    if (warmstart != NULL) {
        mju_copy(lane->physics.data->qacc_warmstart, warmstart, suite->model->nv);
    }
    if (sensors != NULL) {
        mju_copy(lane->physics.data->sensordata, sensors, suite->model->nsensordata);
    }
    return 0;
}

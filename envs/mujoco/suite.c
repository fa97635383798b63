/*
 * What every task of the suite has in common: the members of its class.
 */
#include "envs/mujoco/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"

#define PI 3.14159265358979323846

/* Of an easy start there are a few tries; this many mean that the description is broken. */
enum { START_TRIES_MAX = 10000 };

static const mjModel *model_of(const void *params)
{
    return ((const aq_suite *)params)->model;
}

/* -- opening ---------------------------------------------------------------------------------- */

static void look_up_names(aq_suite *suite)
{
    const aq_suite_name *names = suite->task->domain->names;
    for (int i = 0; i < AQ_SUITE_IDS_MAX && names[i].name != NULL; i++) {
        suite->ids[i] = mj_name2id(suite->model, (int)names[i].kind, names[i].name);
        AQ_ASSERT(suite->ids[i] >= 0);
    }
}

int aq_suite_open(void *params, aq_env_opening *opening, aq_error *error)
{
    aq_suite *suite = params;
    const aq_suite_task *task = suite->task;
    (void)opening;
    const int code =
        aq_physics_compile(task->domain->name, task->domain->description, &suite->model, error);
    if (code != 0) {
        return code;
    }
    AQ_ASSERT(task->obs_count <= AQ_SUITE_OBS_MAX);
    AQ_ASSERT(suite->model->nu <= AQ_SUITE_CTRL_MAX);
    look_up_names(suite);
    if (task->adapt != NULL) {
        task->adapt(suite);
    }
    return 0;
}

void aq_suite_close(void *params)
{
    aq_suite *suite = params;
    mj_deleteModel(suite->model);
    suite->model = NULL;
}

void aq_suite_schema(const void *params, aq_schema *ret_schema)
{
    const aq_suite *suite = params;
    float low[AQ_SUITE_OBS_MAX];
    float high[AQ_SUITE_OBS_MAX];
    for (uint32_t i = 0; i < suite->task->obs_count; i++) {
        low[i] = -INFINITY;
        high[i] = INFINITY;
    }
    aq_space_init_box(&ret_schema->obs, suite->task->obs_count, low, high);
    for (int i = 0; i < suite->model->nu; i++) {
        low[i] = (float)suite->model->actuator_ctrlrange[2 * i];
        high[i] = (float)suite->model->actuator_ctrlrange[2 * i + 1];
    }
    aq_space_init_box(&ret_schema->action, (uint32_t)suite->model->nu, low, high);
}

/* -- starts ----------------------------------------------------------------------------------- */

static void randomize_orientation(mjtNum *quaternion, aq_rng *rng)
{
    for (int i = 0; i < 4; i++) {
        quaternion[i] = aq_rng_uniform(rng);
    }
    (void)mju_normalize4(quaternion);
}

bool aq_suite_randomize_joints(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    const mjModel *model = suite->model;
    for (int i = 0; i < model->njnt; i++) {
        mjtNum *qpos = lane->physics.data->qpos + model->jnt_qposadr[i];
        const mjtNum *range = model->jnt_range + (ptrdiff_t)2 * i;
        switch (model->jnt_type[i]) {
        case mjJNT_FREE:
            randomize_orientation(qpos + 3, rng);
            break;
        case mjJNT_HINGE:
            *qpos = model->jnt_limited[i] ? aq_rng_range(rng, range[0], range[1])
                                          : aq_rng_range(rng, -PI, PI);
            break;
        case mjJNT_SLIDE:
            if (model->jnt_limited[i]) {
                *qpos = aq_rng_range(rng, range[0], range[1]);
            }
            break;
        default:
            AQ_ASSERT(!"a joint that no domain of the suite has");
        }
    }
    return true;
}

bool aq_suite_start_without_contact(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng,
                                    aq_suite_start *draw)
{
    for (int i = 0; i < START_TRIES_MAX; i++) {
        if (!draw(suite, lane, rng) || !aq_physics_forward(&lane->physics, suite->model)) {
            return false;
        }
        if (lane->physics.data->ncon == 0) {
            return true;
        }
    }
    (void)snprintf(lane->physics.failure, sizeof(lane->physics.failure),
                   "%s: no start without contact in %d tries", suite->task->domain->name,
                   START_TRIES_MAX);
    return false;
}

/* -- lanes ------------------------------------------------------------------------------------ */

int aq_suite_begin(const void *params, void *state, aq_error *error)
{
    aq_suite_lane *lane = state;
    return aq_physics_init(&lane->physics, model_of(params), error);
}

void aq_suite_end(const void *params, void *state)
{
    (void)params;
    aq_suite_lane *lane = state;
    aq_physics_fini(&lane->physics);
}

double aq_suite_small_controls(const aq_suite *suite, const aq_suite_lane *lane)
{
    const int count = suite->model->nu;
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const double control = lane->physics.data->ctrl[i];
        sum += fabs(control) < 1 ? 1 - control * control : 0;
    }
    return sum / count;
}

void aq_suite_put(double **obs, const mjtNum *numbers, int count)
{
    memcpy(*obs, numbers, (size_t)count * sizeof(**obs));
    *obs += count;
}

void aq_suite_observe(const void *params, const void *state, void *obs)
{
    const aq_suite *suite = params;
    float *out = obs;
    double exact[AQ_SUITE_OBS_MAX];
    suite->task->observe(suite, state, exact);
    for (uint32_t i = 0; i < suite->task->obs_count; i++) {
        out[i] = (float)exact[i];
    }
}

static bool start(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    aq_physics_reset(&lane->physics, suite->model);
    if (suite->task->forward_first && !aq_physics_forward(&lane->physics, suite->model)) {
        return false;
    }
    /* Controls are 0 here, and all actuators of the suite are motors: the original's way, which is
     * to turn actuation off, gives the same numbers. */
    return suite->task->start(suite, lane, rng) && aq_physics_forward(&lane->physics, suite->model);
}

bool aq_suite_reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    if (!start(params, state, rng)) {
        return false;
    }
    aq_suite_observe(params, state, obs);
    return true;
}

static void act(const aq_suite *suite, aq_suite_lane *lane, const float *action)
{
    for (int i = 0; i < suite->model->nu; i++) {
        lane->physics.data->ctrl[i] = action[i];
    }
}

enum aq_step_end aq_suite_step(const void *params, void *state, aq_rng *rng, const void *action,
                               void *obs, float *reward)
{
    (void)rng;
    const aq_suite *suite = params;
    aq_suite_lane *lane = state;
    act(suite, lane, action);
    if (!aq_physics_step(&lane->physics, suite->model, suite->task->domain->substeps)) {
        return AQ_STEP_FAILED;
    }
    aq_suite_observe(suite, lane, obs);
    *reward = (float)suite->task->reward(suite, lane);
    return AQ_STEP_GOES_ON;
}

const char *aq_suite_failure(const void *params, const void *state)
{
    (void)params;
    const aq_suite_lane *lane = state;
    return lane->physics.failure[0] != '\0' ? lane->physics.failure : NULL;
}

/* -- physics alone ---------------------------------------------------------------------------- */

static void start_alone(const void *params, void *state, aq_rng *rng)
{
    (void)start(params, state, rng); /* draws are a part in a thousand of what the library does */
}

static void step_alone(const void *params, void *state, const void *action)
{
    const aq_suite *suite = params;
    aq_suite_lane *lane = state;
    act(suite, lane, action);
    aq_physics_step_alone(&lane->physics, suite->model, suite->task->domain->substeps);
}

const struct aq_env_physics aq_suite_physics = {
    .start = start_alone,
    .step = step_alone,
};

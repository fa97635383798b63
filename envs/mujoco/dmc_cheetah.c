/*
 * Cheetah: run, as fast as ten metres a second.
 */
#include <math.h>

#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"
#include "envs/mujoco/suite_reward.h"

/* Steps without control after which the animal lies or stands as it would by itself. */
enum { SETTLING_STEPS = 200 };

enum { TORSO_VELOCITY };

static const aq_suite_domain cheetah = {
    .name = "cheetah",
    .description = aq_mjcf_cheetah,
    .substeps = 1,
    .names = {[TORSO_VELOCITY] = {mjOBJ_SENSOR, "torso_subtreelinvel"}},
};

/* The first of the settling steps is, as in the original, the second half of a step whose first
 * half was computed before the joints were moved; that is why there is a forward first. */
static bool start(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    const mjModel *model = suite->model;
    mjData *data = lane->physics.data;
    for (int i = 0; i < model->njnt; i++) {
        const mjtNum *range = model->jnt_range + (ptrdiff_t)2 * i;
        if (model->jnt_limited[i]) {
            data->qpos[model->jnt_qposadr[i]] = aq_rng_range(rng, range[0], range[1]);
        }
    }
    if (!aq_physics_step(&lane->physics, model, SETTLING_STEPS)) {
        return false;
    }
    data->time = 0;
    return true;
}

/* Positions without the distance run, velocities. */
static void observe(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    aq_suite_put(&obs, lane->physics.data->qpos + 1, suite->model->nq - 1);
    aq_suite_put(&obs, lane->physics.data->qvel, suite->model->nv);
}

static double reward(const aq_suite *suite, const aq_suite_lane *lane)
{
    const double goal = suite->task->goal;
    const double speed = *aq_suite_sensor(suite, lane, TORSO_VELOCITY);
    return aq_tolerance_linear(speed, goal, INFINITY, goal, 0);
}

AQ_SUITE_CLASS(cheetah_run, "Run with a planar cheetah, as fast as ten metres a second.",
               .domain = &cheetah, .goal = 10, .obs_count = 17, .start = start,
               .forward_first = true, .observe = observe, .reward = reward);

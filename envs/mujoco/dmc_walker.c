/*
 * Walker: stand upright with a planar biped, or go forward with it at a speed.
 */
#include <math.h>

#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"
#include "envs/mujoco/suite_reward.h"

/* Height of the torso, in metres, from which the walker stands. */
#define STANDING_HEIGHT 1.2

enum { TORSO, TORSO_VELOCITY };

static const aq_suite_domain walker = {
    .name = "walker",
    .description = aq_mjcf_walker,
    .substeps = 10,
    .names =
        {
            [TORSO] = {mjOBJ_BODY, "torso"},
            [TORSO_VELOCITY] = {mjOBJ_SENSOR, "torso_subtreelinvel"},
        },
};

/* The orientation of each part in the plane, the torso's height, velocities. */
static void observe(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    const mjData *data = lane->physics.data;
    for (int body = 1; body < suite->model->nbody; body++) {
        const mjtNum *orientation = data->xmat + (ptrdiff_t)9 * body;
        *obs++ = orientation[AQ_SUITE_XX];
        *obs++ = orientation[AQ_SUITE_XZ];
    }
    *obs++ = aq_suite_position(suite, lane, TORSO)[2];
    aq_suite_put(&obs, data->qvel, suite->model->nv);
}

static double reward_standing(const aq_suite *suite, const aq_suite_lane *lane)
{
    const mjtNum *orientation = aq_suite_orientation(suite, lane, TORSO);
    const double standing = aq_tolerance_gaussian(aq_suite_position(suite, lane, TORSO)[2],
                                                  STANDING_HEIGHT, INFINITY, STANDING_HEIGHT / 2);
    const double upright = (1 + orientation[AQ_SUITE_ZZ]) / 2;
    return (3 * standing + upright) / 4;
}

static double reward_going(const aq_suite *suite, const aq_suite_lane *lane)
{
    const double goal = suite->task->goal;
    const double speed = *aq_suite_sensor(suite, lane, TORSO_VELOCITY);
    const double going = aq_tolerance_linear(speed, goal, INFINITY, goal / 2, 0.5);
    return reward_standing(suite, lane) * (5 * going + 1) / 6;
}

/* What its tasks have in common. */
#define WALKER                                                                                     \
    .domain = &walker, .obs_count = 24, .start = aq_suite_randomize_joints, .forward_first = true, \
    .observe = observe

AQ_SUITE_CLASS(walker_stand, "Keep a planar biped upright.", WALKER, .reward = reward_standing);
AQ_SUITE_CLASS(walker_walk, "Walk with a planar biped, at a metre a second or more.", WALKER,
               .goal = 1, .reward = reward_going);
AQ_SUITE_CLASS(walker_run, "Run with a planar biped, at eight metres a second or more.", WALKER,
               .goal = 8, .reward = reward_going);

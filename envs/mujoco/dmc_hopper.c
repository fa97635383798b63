/*
 * Hopper: stand on one leg, or hop forward on it.
 */
#include <math.h>

#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"
#include "envs/mujoco/suite_reward.h"

/* Of the torso's middle above the foot's, in metres, while the hopper stands. */
#define STANDING_HEIGHT     0.6
#define STANDING_HEIGHT_MAX 2.0

enum { TORSO, FOOT, TORSO_VELOCITY, TOUCH_TOE, TOUCH_HEEL };

static const aq_suite_domain hopper = {
    .name = "hopper",
    .description = aq_mjcf_hopper,
    .substeps = 4,
    .names =
        {
            [TORSO] = {mjOBJ_BODY, "torso"},
            [FOOT] = {mjOBJ_BODY, "foot"},
            [TORSO_VELOCITY] = {mjOBJ_SENSOR, "torso_subtreelinvel"},
            [TOUCH_TOE] = {mjOBJ_SENSOR, "touch_toe"},
            [TOUCH_HEEL] = {mjOBJ_SENSOR, "touch_heel"},
        },
};

/* Positions without the distance gone, velocities, and the touch of toe and heel, whose forces span
 * decades. */
static void observe(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    aq_suite_put(&obs, lane->physics.data->qpos + 1, suite->model->nq - 1);
    aq_suite_put(&obs, lane->physics.data->qvel, suite->model->nv);
    *obs++ = log1p(*aq_suite_sensor(suite, lane, TOUCH_TOE));
    *obs++ = log1p(*aq_suite_sensor(suite, lane, TOUCH_HEEL));
}

/* 1 while the hopper stands, 0 else. */
static double standing(const aq_suite *suite, const aq_suite_lane *lane)
{
    const mjtNum *centres = lane->physics.data->xipos;
    const double height = centres[3 * suite->ids[TORSO] + 2] - centres[3 * suite->ids[FOOT] + 2];
    return aq_tolerance_gaussian(height, STANDING_HEIGHT, STANDING_HEIGHT_MAX, 0);
}

static double reward_standing(const aq_suite *suite, const aq_suite_lane *lane)
{
    return standing(suite, lane) * ((aq_suite_small_controls(suite, lane) + 4) / 5);
}

static double reward_hopping(const aq_suite *suite, const aq_suite_lane *lane)
{
    const double goal = suite->task->goal;
    const double speed = *aq_suite_sensor(suite, lane, TORSO_VELOCITY);
    return standing(suite, lane) * aq_tolerance_linear(speed, goal, INFINITY, goal / 2, 0.5);
}

/* What its tasks have in common. */
#define HOPPER                                                                                     \
    .domain = &hopper, .obs_count = 15, .start = aq_suite_randomize_joints, .forward_first = true, \
    .observe = observe

AQ_SUITE_CLASS(hopper_stand, "Stand on one planar leg.", HOPPER, .reward = reward_standing);
AQ_SUITE_CLASS(hopper_hop, "Hop forward on one planar leg, at two metres a second or more.", HOPPER,
               .goal = 2, .reward = reward_hopping);

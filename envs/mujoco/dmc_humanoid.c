/*
 * Humanoid: stand still, or go anywhere at a speed, with 21 joints.
 */
#include <math.h>

#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"
#include "envs/mujoco/suite_reward.h"

/* Height of the head, in metres, from which the humanoid stands. */
#define STANDING_HEIGHT 1.4

/* From how upright a torso is as upright as can be asked for. */
#define UPRIGHT 0.9

/* Numbers of the free joint among the positions. */
enum { FREE_JOINT_POSITIONS = 7 };

enum { TORSO, HEAD, LEFT_HAND, LEFT_FOOT, RIGHT_HAND, RIGHT_FOOT, TORSO_VELOCITY };

static const aq_suite_domain humanoid = {
    .name = "humanoid",
    .description = aq_mjcf_humanoid,
    .substeps = 5,
    .names =
        {
            [TORSO] = {mjOBJ_BODY, "torso"},
            [HEAD] = {mjOBJ_BODY, "head"},
            [LEFT_HAND] = {mjOBJ_BODY, "left_hand"},
            [LEFT_FOOT] = {mjOBJ_BODY, "left_foot"},
            [RIGHT_HAND] = {mjOBJ_BODY, "right_hand"},
            [RIGHT_FOOT] = {mjOBJ_BODY, "right_foot"},
            [TORSO_VELOCITY] = {mjOBJ_SENSOR, "torso_subtreelinvel"},
        },
};

static bool start(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    return aq_suite_start_without_contact(suite, lane, rng, aq_suite_randomize_joints);
}

static double head_height(const aq_suite *suite, const aq_suite_lane *lane)
{
    return aq_suite_position(suite, lane, HEAD)[2];
}

/* Where a limb is, as the torso sees it. */
static void put_limb(double **obs, const aq_suite *suite, const aq_suite_lane *lane, int limb)
{
    mjtNum from_torso[3];
    mju_sub3(from_torso, aq_suite_position(suite, lane, limb),
             aq_suite_position(suite, lane, TORSO));
    mju_rotVecMatT(*obs, from_torso, aq_suite_orientation(suite, lane, TORSO));
    *obs += 3;
}

/* Angles of the joints, the head's height, hands and feet, where the vertical is for the torso, the
 * velocity of the centre of mass, velocities. */
static void observe(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    const mjData *data = lane->physics.data;
    aq_suite_put(&obs, data->qpos + FREE_JOINT_POSITIONS, suite->model->nq - FREE_JOINT_POSITIONS);
    *obs++ = head_height(suite, lane);
    put_limb(&obs, suite, lane, LEFT_HAND);
    put_limb(&obs, suite, lane, LEFT_FOOT);
    put_limb(&obs, suite, lane, RIGHT_HAND);
    put_limb(&obs, suite, lane, RIGHT_FOOT);
    aq_suite_put(&obs, aq_suite_orientation(suite, lane, TORSO) + AQ_SUITE_ZX, 3);
    aq_suite_put(&obs, aq_suite_sensor(suite, lane, TORSO_VELOCITY), 3);
    aq_suite_put(&obs, data->qvel, suite->model->nv);
}

/* What all tasks have in common: upright, with little effort. */
static double carriage(const aq_suite *suite, const aq_suite_lane *lane)
{
    const double standing = aq_tolerance_gaussian(head_height(suite, lane), STANDING_HEIGHT,
                                                  INFINITY, STANDING_HEIGHT / 4);
    const mjtNum *orientation = aq_suite_orientation(suite, lane, TORSO);
    const double upright =
        aq_tolerance_linear(orientation[AQ_SUITE_ZZ], UPRIGHT, INFINITY, UPRIGHT + 1, 0);
    return (4 + aq_suite_small_controls(suite, lane)) / 5 * (standing * upright);
}

static double reward_standing(const aq_suite *suite, const aq_suite_lane *lane)
{
    const mjtNum *velocity = aq_suite_sensor(suite, lane, TORSO_VELOCITY);
    const double still = (aq_tolerance_gaussian(velocity[0], 0, 0, 2) +
                          aq_tolerance_gaussian(velocity[1], 0, 0, 2)) /
                         2;
    return carriage(suite, lane) * still;
}

static double reward_going(const aq_suite *suite, const aq_suite_lane *lane)
{
    const double goal = suite->task->goal;
    const mjtNum *velocity = aq_suite_sensor(suite, lane, TORSO_VELOCITY);
    const double speed = sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1]);
    const double going = aq_tolerance_linear(speed, goal, INFINITY, goal, 0);
    return carriage(suite, lane) * ((5 * going + 1) / 6);
}

/* What its tasks have in common. */
#define HUMANOID                                                                                   \
    .domain = &humanoid, .obs_count = 67, .start = start, .forward_first = true, .observe = observe

AQ_SUITE_CLASS(humanoid_stand, "Stand still with a body of 21 joints.", HUMANOID,
               .reward = reward_standing);
AQ_SUITE_CLASS(humanoid_walk, "Walk anywhere with 21 joints, at a metre a second or more.",
               HUMANOID, .goal = 1, .reward = reward_going);
AQ_SUITE_CLASS(humanoid_run, "Run anywhere with 21 joints, at ten metres a second or more.",
               HUMANOID, .goal = 10, .reward = reward_going);

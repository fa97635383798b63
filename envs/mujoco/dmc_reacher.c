/*
 * Reacher: bring the fingertip of an arm in a plane to a target that is elsewhere in each episode.
 */
#include <math.h>

#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"
#include "envs/mujoco/suite_reward.h"

#define PI 3.14159265358979323846

enum { TARGET, FINGER, FINGER_GEOM };

static const aq_suite_domain reacher = {
    .name = "reacher",
    .description = aq_mjcf_reacher,
    .substeps = 1,
    .names =
        {
            [TARGET] = {mjOBJ_GEOM, "target"},
            [FINGER] = {mjOBJ_BODY, "finger"},
            [FINGER_GEOM] = {mjOBJ_GEOM, "finger"},
        },
};

/* `goal` is the target's radius. */
static void adapt(aq_suite *suite)
{
    suite->model->geom_size[3 * suite->ids[TARGET]] = suite->task->goal;
}

static bool start(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    aq_suite_randomize_joints(suite, lane, rng);
    const double angle = aq_rng_range(rng, 0, 2 * PI);
    const double radius = aq_rng_range(rng, 0.05, 0.20);
    lane->target[0] = radius * sin(angle);
    lane->target[1] = radius * cos(angle);
    lane->target[2] = suite->model->geom_pos[3 * suite->ids[TARGET] + 2];
    return true;
}

static void finger_to_target(const aq_suite *suite, const aq_suite_lane *lane, double ret_way[2])
{
    const mjtNum *finger = aq_suite_position(suite, lane, FINGER);
    ret_way[0] = lane->target[0] - finger[0];
    ret_way[1] = lane->target[1] - finger[1];
}

static void observe(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    const mjData *data = lane->physics.data;
    obs[0] = data->qpos[0];
    obs[1] = data->qpos[1];
    finger_to_target(suite, lane, obs + 2);
    obs[4] = data->qvel[0];
    obs[5] = data->qvel[1];
}

static double reward(const aq_suite *suite, const aq_suite_lane *lane)
{
    const double radii = suite->model->geom_size[3 * suite->ids[TARGET]] +
                         suite->model->geom_size[3 * suite->ids[FINGER_GEOM]];
    double way[2];
    finger_to_target(suite, lane, way);
    return aq_tolerance_gaussian(sqrt(way[0] * way[0] + way[1] * way[1]), 0, radii, 0);
}

/* What its tasks have in common. */
#define REACHER                                                                                    \
    .domain = &reacher, .obs_count = 6, .placed = "target_geom_pos", .adapt = adapt,               \
    .start = start, .observe = observe, .reward = reward

AQ_SUITE_CLASS(reacher_easy, "Touch a target of 5 cm with the tip of an arm in a plane.", REACHER,
               .goal = 0.05);
AQ_SUITE_CLASS(reacher_hard, "Touch a target of 1.5 cm with the tip of an arm in a plane.", REACHER,
               .goal = 0.015);

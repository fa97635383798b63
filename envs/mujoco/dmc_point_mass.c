/*
 * Point mass: bring a mass that slides on a plane to the middle, gently.
 */

#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"
#include "envs/mujoco/suite_reward.h"

enum { TARGET, POINT_MASS };

static const aq_suite_domain point_mass = {
    .name = "point_mass",
    .description = aq_mjcf_point_mass,
    .substeps = 1,
    .names =
        {
            [TARGET] = {mjOBJ_GEOM, "target"},
            [POINT_MASS] = {mjOBJ_BODY, "pointmass"},
        },
};

static void observe(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    (void)suite;
    const mjData *data = lane->physics.data;
    obs[0] = data->qpos[0];
    obs[1] = data->qpos[1];
    obs[2] = data->qvel[0];
    obs[3] = data->qvel[1];
}

static double reward(const aq_suite *suite, const aq_suite_lane *lane)
{
    const double target_size = suite->model->geom_size[3 * suite->ids[TARGET]];
    const double distance =
        aq_suite_distance(suite->model->geom_pos + (ptrdiff_t)3 * suite->ids[TARGET],
                          aq_suite_position(suite, lane, POINT_MASS));
    const double near_target = aq_tolerance_gaussian(distance, 0, target_size, target_size);
    if (near_target == 0) {
        return 0; /* nearly everywhere, so it may as well be quick */
    }
    return near_target * (aq_suite_small_controls(suite, lane) + 4) / 5;
}

AQ_SUITE_CLASS(point_mass_easy, "Bring a sliding mass to the middle of a square.",
               .domain = &point_mass, .obs_count = 4, .start = aq_suite_randomize_joints,
               .observe = observe, .reward = reward);

/*
 * Acrobot of the control suite: two links that hang from a free shoulder; swing the tip up to the
 * target with a motor in the elbow.
 */

#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"
#include "envs/mujoco/suite_reward.h"

#define PI 3.14159265358979323846

enum { UPPER_ARM, LOWER_ARM, TARGET, TIP };

static const aq_suite_domain acrobot = {
    .name = "acrobot",
    .description = aq_mjcf_acrobot,
    .substeps = 1,
    .names =
        {
            [UPPER_ARM] = {mjOBJ_BODY, "upper_arm"},
            [LOWER_ARM] = {mjOBJ_BODY, "lower_arm"},
            [TARGET] = {mjOBJ_SITE, "target"},
            [TIP] = {mjOBJ_SITE, "tip"},
        },
};

static bool start(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    for (int i = 0; i < suite->model->nq; i++) {
        lane->physics.data->qpos[i] = aq_rng_range(rng, -PI, PI);
    }
    return true;
}

/* Sines and cosines of the links' angles from upright, and the joints' velocities. */
static void observe(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    const mjData *data = lane->physics.data;
    const mjtNum *upper = aq_suite_orientation(suite, lane, UPPER_ARM);
    const mjtNum *lower = aq_suite_orientation(suite, lane, LOWER_ARM);
    obs[0] = upper[AQ_SUITE_XZ];
    obs[1] = lower[AQ_SUITE_XZ];
    obs[2] = upper[AQ_SUITE_ZZ];
    obs[3] = lower[AQ_SUITE_ZZ];
    obs[4] = data->qvel[0];
    obs[5] = data->qvel[1];
}

/* `goal` is the distance outside the target at which hardly anything is left of the reward. */
static double reward(const aq_suite *suite, const aq_suite_lane *lane)
{
    const mjData *data = lane->physics.data;
    const double radius = suite->model->site_size[3 * suite->ids[TARGET]];
    const double distance = aq_suite_distance(data->site_xpos + (ptrdiff_t)3 * suite->ids[TARGET],
                                              data->site_xpos + (ptrdiff_t)3 * suite->ids[TIP]);
    return aq_tolerance_gaussian(distance, 0, radius, suite->task->goal);
}

/* What its tasks have in common. */
#define ACROBOT                                                                                    \
    .domain = &acrobot, .obs_count = 6, .start = start, .observe = observe, .reward = reward

AQ_SUITE_CLASS(acrobot_swingup, "Swing two links up to a target with a motor in the elbow alone.",
               ACROBOT, .goal = 1);
AQ_SUITE_CLASS(acrobot_swingup_sparse,
               "Swing two links up to a target; reward in the target, and nothing else.", ACROBOT,
               .goal = 0);

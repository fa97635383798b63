/*
 * Pendulum: swing a mass up that the motor is too weak to lift, and hold it there.
 */
#include <math.h>

#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"
#include "envs/mujoco/suite_reward.h"

#define PI 3.14159265358979323846

/* Upright is within 8 degrees. */
#define UPRIGHT_COSINE cos(8 * (PI / 180))

enum { POLE };

static const aq_suite_domain pendulum = {
    .name = "pendulum",
    .description = aq_mjcf_pendulum,
    .substeps = 1,
    .names = {[POLE] = {mjOBJ_BODY, "pole"}},
};

static bool start(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    (void)suite;
    lane->physics.data->qpos[0] = aq_rng_range(rng, -PI, PI);
    return true;
}

/* Cosine and sine of the angle from upright, and its velocity. */
static void observe(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    const mjtNum *orientation = aq_suite_orientation(suite, lane, POLE);
    obs[0] = orientation[AQ_SUITE_ZZ];
    obs[1] = orientation[AQ_SUITE_XZ];
    obs[2] = lane->physics.data->qvel[0];
}

static double reward(const aq_suite *suite, const aq_suite_lane *lane)
{
    const mjtNum *orientation = aq_suite_orientation(suite, lane, POLE);
    return aq_tolerance_gaussian(orientation[AQ_SUITE_ZZ], UPRIGHT_COSINE, 1, 0);
}

AQ_SUITE_CLASS(pendulum_swingup,
               "Swing a pendulum up with a motor that is too weak to lift it, and hold it.",
               .domain = &pendulum, .obs_count = 3, .start = start, .observe = observe,
               .reward = reward);

/*
 * Cart-pole of the control suite: balance a pole on a cart, or swing it up first; with a reward
 * that guides, or one that is there or not.
 */

#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"
#include "envs/mujoco/suite_reward.h"

#define PI 3.14159265358979323846

enum { POLE };

static const aq_suite_domain cartpole = {
    .name = "cartpole",
    .description = aq_mjcf_cartpole,
    .substeps = 1,
    .names = {[POLE] = {mjOBJ_BODY, "pole_1"}},
};

static void draw_velocities(aq_suite_lane *lane, aq_rng *rng)
{
    lane->physics.data->qvel[0] = 0.01 * aq_rng_normal(rng);
    lane->physics.data->qvel[1] = 0.01 * aq_rng_normal(rng);
}

static bool start_upright(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    (void)suite;
    lane->physics.data->qpos[0] = aq_rng_range(rng, -0.1, 0.1);
    lane->physics.data->qpos[1] = aq_rng_range(rng, -0.034, 0.034);
    draw_velocities(lane, rng);
    return true;
}

static bool start_hanging(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    (void)suite;
    lane->physics.data->qpos[0] = 0.01 * aq_rng_normal(rng);
    lane->physics.data->qpos[1] = PI + 0.01 * aq_rng_normal(rng);
    draw_velocities(lane, rng);
    return true;
}

/* The cart's place, cosine and sine of the pole's angle, and both velocities. */
static void observe(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    const mjData *data = lane->physics.data;
    const mjtNum *orientation = aq_suite_orientation(suite, lane, POLE);
    obs[0] = data->qpos[0];
    obs[1] = orientation[AQ_SUITE_ZZ];
    obs[2] = orientation[AQ_SUITE_XZ];
    obs[3] = data->qvel[0];
    obs[4] = data->qvel[1];
}

/* Upright, in the middle, with little force and a pole at rest. */
static double smooth_reward(const aq_suite *suite, const aq_suite_lane *lane)
{
    const mjData *data = lane->physics.data;
    const double upright = (aq_suite_orientation(suite, lane, POLE)[AQ_SUITE_ZZ] + 1) / 2;
    const double centred = (1 + aq_tolerance_gaussian(data->qpos[0], 0, 0, 2)) / 2;
    const double small_control = (4 + aq_suite_small_controls(suite, lane)) / 5;
    const double small_velocity = (1 + aq_tolerance_gaussian(data->qvel[1], 0, 0, 5)) / 2;
    return upright * small_control * small_velocity * centred;
}

static double sparse_reward(const aq_suite *suite, const aq_suite_lane *lane)
{
    const double cosine = aq_suite_orientation(suite, lane, POLE)[AQ_SUITE_ZZ];
    return aq_tolerance_gaussian(lane->physics.data->qpos[0], -0.25, 0.25, 0) *
           aq_tolerance_gaussian(cosine, 0.995, 1, 0);
}

/* What its tasks have in common. */
#define CARTPOLE .domain = &cartpole, .obs_count = 5, .observe = observe

AQ_SUITE_CLASS(cartpole_balance, "Keep a pole upright on a cart, smoothly.", CARTPOLE,
               .start = start_upright, .reward = smooth_reward);
AQ_SUITE_CLASS(cartpole_balance_sparse,
               "Keep a pole upright on a cart; reward while it is, and nothing else.", CARTPOLE,
               .start = start_upright, .reward = sparse_reward);
AQ_SUITE_CLASS(cartpole_swingup, "Swing a pole up on a cart and keep it there, smoothly.", CARTPOLE,
               .start = start_hanging, .reward = smooth_reward);
AQ_SUITE_CLASS(cartpole_swingup_sparse,
               "Swing a pole up on a cart; reward while it is up, and nothing else.", CARTPOLE,
               .start = start_hanging, .reward = sparse_reward);

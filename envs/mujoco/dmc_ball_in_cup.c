/*
 * Ball in cup: move a cup so that the ball on its string swings up and falls into it.
 */
#include <math.h>

#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"

enum { CUP_TARGET, BALL, BALL_GEOM };

/* Joints, in the description's order. */
enum { CUP_X, CUP_Z, BALL_X, BALL_Z };

static const aq_suite_domain ball_in_cup = {
    .name = "ball_in_cup",
    .description = aq_mjcf_ball_in_cup,
    .substeps = 10,
    .names =
        {
            [CUP_TARGET] = {mjOBJ_SITE, "target"},
            [BALL] = {mjOBJ_BODY, "ball"},
            [BALL_GEOM] = {mjOBJ_GEOM, "ball"},
        },
};

static bool draw_ball(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    (void)suite;
    lane->physics.data->qpos[BALL_X] = aq_rng_range(rng, -0.2, 0.2);
    lane->physics.data->qpos[BALL_Z] = aq_rng_range(rng, 0.2, 0.5);
    return true;
}

static bool start(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    return aq_suite_start_without_contact(suite, lane, rng, draw_ball);
}

static void observe(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    aq_suite_put(&obs, lane->physics.data->qpos, suite->model->nq);
    aq_suite_put(&obs, lane->physics.data->qvel, suite->model->nv);
}

/* Whether all of the ball is in the cup's inside, a box that stays upright. */
static double reward(const aq_suite *suite, const aq_suite_lane *lane)
{
    const mjData *data = lane->physics.data;
    const mjtNum *inside = data->site_xpos + (ptrdiff_t)3 * suite->ids[CUP_TARGET];
    const mjtNum *half_size = suite->model->site_size + (ptrdiff_t)3 * suite->ids[CUP_TARGET];
    const mjtNum *ball = aq_suite_position(suite, lane, BALL);
    const double radius = suite->model->geom_size[3 * suite->ids[BALL_GEOM]];
    return fabs(inside[0] - ball[0]) < half_size[0] - radius &&
                   fabs(inside[2] - ball[2]) < half_size[2] - radius
               ? 1
               : 0;
}

AQ_SUITE_CLASS(ball_in_cup_catch, "Swing a ball on a string up into a cup.", .domain = &ball_in_cup,
               .obs_count = 8, .start = start, .observe = observe, .reward = reward);

/*
 * Finger: spin a body on a hinge, or turn it until its tip is at a target.
 */
#include <math.h>

#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"

#define PI 3.14159265358979323846

#define SPIN_DAMPING 0.03 /* of the hinge, which is stiffer where it is to be held still */
#define SPIN_SPEED   15   /* rad/s, downwards on the finger's side */

enum { HINGE, SPINNER, CAP, TARGET, PROXIMAL_SENSOR, HINGE_SENSOR, TIP_SENSOR, TOUCH_SENSOR };

static const aq_suite_domain finger = {
    .name = "finger",
    .description = aq_mjcf_finger,
    .substeps = 2,
    .names =
        {
            [HINGE] = {mjOBJ_JOINT, "hinge"},
            [SPINNER] = {mjOBJ_BODY, "spinner"},
            [CAP] = {mjOBJ_GEOM, "cap1"},
            [TARGET] = {mjOBJ_SITE, "target"},
            [PROXIMAL_SENSOR] = {mjOBJ_SENSOR, "proximal"},
            [HINGE_SENSOR] = {mjOBJ_SENSOR, "hinge_velocity"},
            [TIP_SENSOR] = {mjOBJ_SENSOR, "tip"},
            [TOUCH_SENSOR] = {mjOBJ_SENSOR, "touchtop"},
        },
};

static bool start(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    return aq_suite_start_without_contact(suite, lane, rng, aq_suite_randomize_joints);
}

/* -- spin ------------------------------------------------------------------------------------- */

static void loosen_hinge(aq_suite *suite)
{
    suite->model->dof_damping[suite->model->jnt_dofadr[suite->ids[HINGE]]] = SPIN_DAMPING;
}

/* The finger's joints, the tip of the body as seen from its hinge, all velocities, and touch. */
static void observe_spin(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    const mjtNum *joints = aq_suite_sensor(suite, lane, PROXIMAL_SENSOR);
    const mjtNum *tip = aq_suite_sensor(suite, lane, TIP_SENSOR);
    const mjtNum *touch = aq_suite_sensor(suite, lane, TOUCH_SENSOR);
    const mjtNum *spinner = aq_suite_position(suite, lane, SPINNER);
    aq_suite_put(&obs, joints, 2);
    obs[0] = tip[0] - spinner[0];
    obs[1] = tip[2] - spinner[2];
    obs += 2;
    aq_suite_put(&obs, joints + 2, 3);
    obs[0] = log1p(touch[0]);
    obs[1] = log1p(touch[1]);
}

static double reward_spin(const aq_suite *suite, const aq_suite_lane *lane)
{
    return *aq_suite_sensor(suite, lane, HINGE_SENSOR) <= -SPIN_SPEED ? 1 : 0;
}

/* -- turn ------------------------------------------------------------------------------------- */

/* `goal` is the target's radius. */
static void size_target(aq_suite *suite)
{
    suite->model->site_size[3 * suite->ids[TARGET]] = suite->task->goal;
}

/* The target is somewhere on the circle that the tip of the body moves on. */
static bool start_turn(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng)
{
    const double angle = aq_rng_range(rng, -PI, PI);
    const mjtNum *cap_size = suite->model->geom_size + (ptrdiff_t)3 * suite->ids[CAP];
    const mjtNum *hinge = suite->model->body_pos + (ptrdiff_t)3 * suite->ids[SPINNER];
    const double radius = cap_size[0] + cap_size[1];
    lane->target[0] = hinge[0] + radius * sin(angle);
    lane->target[1] = 0;
    lane->target[2] = hinge[2] + radius * cos(angle);
    return start(suite, lane, rng);
}

static double distance_to_target(const aq_suite *suite, const double target[2], const double tip[2])
{
    const double way[2] = {target[0] - tip[0], target[1] - tip[1]};
    return sqrt(way[0] * way[0] + way[1] * way[1]) - suite->task->goal;
}

/* As for spin, and the target as seen from the hinge, and how far the tip is from it. */
static void observe_turn(const aq_suite *suite, const aq_suite_lane *lane, double *obs)
{
    const mjtNum *spinner = aq_suite_position(suite, lane, SPINNER);
    observe_spin(suite, lane, obs);
    obs[9] = lane->target[0] - spinner[0];
    obs[10] = lane->target[2] - spinner[2];
    obs[11] = distance_to_target(suite, obs + 9, obs + 2);
}

static double reward_turn(const aq_suite *suite, const aq_suite_lane *lane)
{
    const mjtNum *spinner = aq_suite_position(suite, lane, SPINNER);
    const mjtNum *tip_place = aq_suite_sensor(suite, lane, TIP_SENSOR);
    const double tip[2] = {tip_place[0] - spinner[0], tip_place[2] - spinner[2]};
    const double target[2] = {lane->target[0] - spinner[0], lane->target[2] - spinner[2]};
    return distance_to_target(suite, target, tip) <= 0 ? 1 : 0;
}

/* What the two tasks have in common that turn the body to a target. */
#define TURN                                                                                       \
    .domain = &finger, .obs_count = 12, .placed = "target_site_pos", .adapt = size_target,         \
    .start = start_turn, .observe = observe_turn, .reward = reward_turn

AQ_SUITE_CLASS(finger_spin, "Keep a body on a hinge spinning with a finger.", .domain = &finger,
               .obs_count = 9, .adapt = loosen_hinge, .start = start, .observe = observe_spin,
               .reward = reward_spin);
AQ_SUITE_CLASS(finger_turn_easy,
               "Turn a body with a finger until its tip is within 7 cm of a target.", TURN,
               .goal = 0.07);
AQ_SUITE_CLASS(finger_turn_hard,
               "Turn a body with a finger until its tip is within 3 cm of a target.", TURN,
               .goal = 0.03);

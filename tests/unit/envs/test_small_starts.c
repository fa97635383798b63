/*
 * How episodes of the suite's small domains begin.
 */
#include "tests/support/test.h"
#include "tests/unit/envs/suite_rig.h"

#define PI 3.14159265358979323846

enum { RESETS = 10000, NUMBERS_MAX = 8 };

/* What a lane begins with: positions, velocities, and where its target is, on a circle around
 * `centre` in the plane that `u` and `v` span. */
typedef struct starts {
    tally qpos[NUMBERS_MAX], qvel[NUMBERS_MAX], target_angle, target_radius;
} starts;

static const starts *draw_starts(const char *task, const double centre[2], int v)
{
    static starts drawn;
    rig self;
    rig_init(&self, task);
    const mjModel *model = self.suite->model;
    const mjData *data = self.lane->physics.data;
    drawn = (starts){0};
    for (int i = 0; i < RESETS; i++) {
        rig_reset(&self);
        assert_true(data->time == 0);
        for (int k = 0; k < model->nq; k++) {
            tally_add(&drawn.qpos[k], data->qpos[k]);
            tally_add(&drawn.qvel[k], data->qvel[k]);
        }
        const double x = self.lane->target[0] - centre[0];
        const double y = self.lane->target[v] - centre[1];
        tally_add(&drawn.target_angle, atan2(y, x));
        tally_add(&drawn.target_radius, hypot(x, y));
    }
    rig_fini(&self);
    return &drawn;
}

static const double origin[2];

static void check_at_rest(const starts *drawn, int count)
{
    for (int i = 0; i < count; i++) {
        assert_true(drawn->qvel[i].low == 0 && drawn->qvel[i].high == 0);
    }
}

TEST(cartpole_to_be_balanced_begins_nearly_upright)
{
    const starts *drawn = draw_starts("dmc:cartpole_balance", origin, 1);
    tally_check_uniform(&drawn->qpos[0], -0.1, 0.1);
    tally_check_uniform(&drawn->qpos[1], -0.034, 0.034);
    tally_check_normal(&drawn->qvel[0], 0, 0.01);
    tally_check_normal(&drawn->qvel[1], 0, 0.01);
}

TEST(cartpole_to_be_swung_up_begins_hanging)
{
    const starts *drawn = draw_starts("dmc:cartpole_swingup_sparse", origin, 1);
    tally_check_normal(&drawn->qpos[0], 0, 0.01);
    tally_check_normal(&drawn->qpos[1], PI, 0.01);
    tally_check_normal(&drawn->qvel[0], 0, 0.01);
    tally_check_normal(&drawn->qvel[1], 0, 0.01);
}

TEST(pendulum_begins_at_any_angle)
{
    const starts *drawn = draw_starts("dmc:pendulum_swingup", origin, 1);
    tally_check_uniform(&drawn->qpos[0], -PI, PI);
    check_at_rest(drawn, 1);
}

TEST(acrobot_begins_at_any_angles)
{
    const starts *drawn = draw_starts("dmc:acrobot_swingup", origin, 1);
    tally_check_uniform(&drawn->qpos[0], -PI, PI);
    tally_check_uniform(&drawn->qpos[1], -PI, PI);
    check_at_rest(drawn, 2);
}

TEST(point_mass_begins_anywhere)
{
    const starts *drawn = draw_starts("dmc:point_mass_easy", origin, 1);
    tally_check_uniform(&drawn->qpos[0], -0.29, 0.29);
    tally_check_uniform(&drawn->qpos[1], -0.29, 0.29);
    check_at_rest(drawn, 2);
}

TEST(reacher_begins_with_any_joints_and_target)
{
    const starts *drawn = draw_starts("dmc:reacher_hard", origin, 1);
    tally_check_uniform(&drawn->qpos[0], -PI, PI);
    tally_check_uniform(&drawn->qpos[1], -160 * PI / 180, 160 * PI / 180);
    tally_check_uniform(&drawn->target_angle, -PI, PI);
    tally_check_uniform(&drawn->target_radius, 0.05, 0.20);
    check_at_rest(drawn, 2);
}

TEST(a_target_of_finger_is_anywhere_on_the_tips_circle)
{
    const double hinge[2] = {0.2, 0.4};
    const starts *drawn = draw_starts("dmc:finger_turn_easy", hinge, 2);
    tally_check_uniform(&drawn->target_angle, -PI, PI);
    assert_true(fabs(drawn->target_radius.low - 0.13) < 1e-12);
    assert_true(fabs(drawn->target_radius.high - 0.13) < 1e-12);
    check_at_rest(drawn, 3);
}

/* -- starts without contact ------------------------------------------------------------------- */

static void draw_finger(mjData *data, aq_rng *rng)
{
    const double limit = 110 * PI / 180;
    data->qpos[0] = aq_rng_range(rng, -limit, limit);
    data->qpos[1] = aq_rng_range(rng, -limit, limit);
    data->qpos[2] = aq_rng_range(rng, -PI, PI);
}

static void draw_ball(mjData *data, aq_rng *rng)
{
    data->qpos[2] = aq_rng_range(rng, -0.2, 0.2);
    data->qpos[3] = aq_rng_range(rng, 0.2, 0.5);
}

/* The rule, written down anew: draw, look for contacts, draw again. As no joint's distribution is
 * known in closed form, means and variances of two samples are compared. */
static void check_starts_without_contact(const char *task, void (*draw)(mjData *, aq_rng *))
{
    rig self;
    tally ours[2 * NUMBERS_MAX] = {{0}};
    tally rules[2 * NUMBERS_MAX] = {{0}};
    aq_rng rng;
    rig_init(&self, task);
    const mjModel *model = self.suite->model;
    mjData *other = mj_makeData(model);
    assert_non_null(other);
    aq_rng_init(&rng, 7, 1);
    for (int i = 0; i < RESETS; i++) {
        rig_reset(&self);
        assert_int_equal(self.lane->physics.data->ncon, 0);
        do {
            draw(other, &rng);
            mj_kinematics(model, other);
            mj_comPos(model, other);
            mj_collision(model, other);
        } while (other->ncon > 0);
        for (int k = 0; k < model->nq; k++) {
            const double own = self.lane->physics.data->qpos[k];
            tally_add(&ours[k], own);
            tally_add(&rules[k], other->qpos[k]);
            tally_add(&ours[NUMBERS_MAX + k], own * own);
            tally_add(&rules[NUMBERS_MAX + k], other->qpos[k] * other->qpos[k]);
        }
    }
    for (int k = 0; k < model->nq; k++) {
        tally_check_same_mean(&ours[k], &rules[k]);
        tally_check_same_mean(&ours[NUMBERS_MAX + k], &rules[NUMBERS_MAX + k]);
    }
    mj_deleteData(other);
    rig_fini(&self);
}

TEST(finger_begins_with_any_joints_that_touch_nothing)
{
    check_starts_without_contact("dmc:finger_spin", draw_finger);
    check_starts_without_contact("dmc:finger_turn_hard", draw_finger);
}

TEST(the_ball_begins_anywhere_outside_the_cup)
{
    check_starts_without_contact("dmc:ball_in_cup_catch", draw_ball);
}

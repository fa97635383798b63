/*
 * How episodes of cheetah, hopper, humanoid and walker begin.
 */
#include "tests/support/test.h"
#include "tests/unit/envs/golden_suite.h"
#include "tests/unit/envs/suite_rig.h"

#define PI 3.14159265358979323846

enum { JOINTS_MAX = 32, RESETS = 10000, RESETS_WITHOUT_CONTACT = 2000, SETTLED_RESETS = 200 };

/* -- joints ----------------------------------------------------------------------------------- */

static void bounds_of(const mjModel *model, int joint, double *ret_low, double *ret_high)
{
    *ret_low = model->jnt_limited[joint] ? model->jnt_range[2 * joint] : -PI;
    *ret_high = model->jnt_limited[joint] ? model->jnt_range[2 * joint + 1] : PI;
}

static bool is_drawn(const mjModel *model, int joint)
{
    return model->jnt_type[joint] == mjJNT_HINGE;
}

static void check_planar_starts(const char *task)
{
    rig self;
    tally joints[JOINTS_MAX] = {{0}};
    rig_init(&self, task);
    const mjModel *model = self.suite->model;
    const mjData *data = self.lane->physics.data;
    for (int i = 0; i < RESETS; i++) {
        rig_reset(&self);
        assert_true(data->time == 0);
        for (int k = 0; k < model->njnt; k++) {
            tally_add(&joints[k], data->qpos[k]);
            assert_true(data->qvel[k] == 0);
        }
    }
    for (int k = 0; k < model->njnt; k++) {
        double low;
        double high;
        bounds_of(model, k, &low, &high);
        if (is_drawn(model, k)) {
            tally_check_uniform(&joints[k], low, high);
        } else {
            assert_true(joints[k].low == 0 && joints[k].high == 0);
        }
    }
    rig_fini(&self);
}

TEST(hopper_begins_with_joints_uniform_in_their_ranges)
{
    check_planar_starts("dmc:hopper_stand");
}

TEST(walker_begins_with_joints_uniform_in_their_ranges)
{
    check_planar_starts("dmc:walker_walk");
}

/* -- humanoid --------------------------------------------------------------------------------- */

/* The rule, written down anew: draw, look for contacts, draw again. */
static void draw_by_the_rule(const mjModel *model, mjData *data, aq_rng *rng)
{
    do {
        mj_resetData(model, data);
        for (int i = 3; i < 7; i++) {
            data->qpos[i] = aq_rng_uniform(rng);
        }
        mju_normalize4(data->qpos + 3);
        for (int k = 1; k < model->njnt; k++) {
            double low;
            double high;
            bounds_of(model, k, &low, &high);
            data->qpos[model->jnt_qposadr[k]] = aq_rng_range(rng, low, high);
        }
        mj_kinematics(model, data);
        mj_comPos(model, data);
        mj_collision(model, data);
    } while (data->ncon > 0);
}

/* Joints that tend to touch something are drawn again, so that no joint's distribution is known in
 * closed form: the means of two samples are compared. */
TEST_IN_TASK(humanoid_begins_as_the_rule_says, "dmc:humanoid_run")
{
    tally ours[JOINTS_MAX] = {{0}};
    tally rules[JOINTS_MAX] = {{0}};
    aq_rng rng;
    const mjModel *model = self->suite->model;
    mjData *other = mj_makeData(model);
    assert_non_null(other);
    aq_rng_init(&rng, 7, 1);
    for (int i = 0; i < RESETS_WITHOUT_CONTACT; i++) {
        rig_reset(self);
        draw_by_the_rule(model, other, &rng);
        for (int k = 0; k < model->nq; k++) {
            tally_add(&ours[k], self->lane->physics.data->qpos[k]);
            tally_add(&rules[k], other->qpos[k]);
        }
    }
    for (int k = 0; k < model->nq; k++) {
        tally_check_same_mean(&ours[k], &rules[k]);
    }
    for (int k = 1; k < model->njnt; k++) {
        const tally *joint = &ours[model->jnt_qposadr[k]];
        assert_true(joint->low >= model->jnt_range[2 * k]);
        assert_true(joint->high < model->jnt_range[2 * k + 1]);
    }
    mj_deleteData(other);
}

TEST_IN_TASK(humanoid_begins_in_the_air_touching_nothing, "dmc:humanoid_stand")
{
    const mjData *data = self->lane->physics.data;
    for (int i = 0; i < RESETS_WITHOUT_CONTACT; i++) {
        rig_reset(self);
        assert_int_equal(data->ncon, 0);
        assert_true(data->qpos[0] == 0 && data->qpos[1] == 0 && data->qpos[2] == 1.5);
        double length = 0;
        for (int k = 3; k < 7; k++) {
            assert_true(data->qpos[k] >= 0);
            length += data->qpos[k] * data->qpos[k];
        }
        assert_true(fabs(length - 1) < 1e-12);
    }
}

/* -- cheetah ---------------------------------------------------------------------------------- */

static void settle_by_the_rule(const mjModel *model, mjData *data, const double *qpos)
{
    mj_resetData(model, data);
    mj_forward(model, data);
    mju_copy(data->qpos, qpos, model->nq);
    mj_step2(model, data);
    for (int i = 1; i < 200; i++) {
        mj_step(model, data);
    }
    mj_step1(model, data);
    mj_forward(model, data);
}

static void compare_to_line(const suite_line *line, const mjtNum *ours, int count)
{
    double theirs[SUITE_NUMBERS_MAX];
    assert_int_equal(suite_golden_numbers(line, theirs), count);
    for (int i = 0; i < count; i++) {
        assert_true(suite_golden_error(ours[i], theirs[i]) <= 1e-9);
    }
}

/* The rule, as the next test uses it, is the original's. */
TEST_IN_TASK(the_settling_rule_gives_the_recorded_start, "dmc:cheetah_run")
{
    suite_line line;
    double before[SUITE_NUMBERS_MAX];
    size_t compared = 0;
    const mjModel *model = self->suite->model;
    mjData *data = self->lane->physics.data;
    FILE *file = suite_golden_open("dmc/cheetah_settling.csv");
    while (suite_golden_next(file, &line)) {
        if (strcmp(line.kind, "qpos_before") == 0) {
            assert_int_equal(suite_golden_numbers(&line, before), model->nq);
            settle_by_the_rule(model, data, before);
        } else if (strcmp(line.kind, "qpos") == 0) {
            compare_to_line(&line, data->qpos, model->nq);
            compared++;
        } else if (strcmp(line.kind, "qvel") == 0) {
            compare_to_line(&line, data->qvel, model->nv);
            compared++;
        } else if (strcmp(line.kind, "qacc_warmstart") == 0) {
            compare_to_line(&line, data->qacc_warmstart, model->nv);
            compared++;
        }
    }
    (void)fclose(file);
    assert_int_equal(compared, 3);
}

TEST_IN_TASK(cheetah_begins_settled_from_joints_within_their_limits, "dmc:cheetah_run")
{
    const mjModel *model = self->suite->model;
    const mjData *data = self->lane->physics.data;
    mjData *other = mj_makeData(model);
    assert_non_null(other);
    for (int i = 0; i < SETTLED_RESETS; i++) {
        double before[JOINTS_MAX] = {0};
        aq_rng rng = self->rng;
        for (int k = 3; k < model->njnt; k++) {
            before[k] = aq_rng_range(&rng, model->jnt_range[2 * k], model->jnt_range[2 * k + 1]);
        }
        settle_by_the_rule(model, other, before);
        rig_reset(self);
        assert_true(data->time == 0);
        assert_memory_equal(data->qpos, other->qpos, (size_t)model->nq * sizeof(mjtNum));
        assert_memory_equal(data->qvel, other->qvel, (size_t)model->nv * sizeof(mjtNum));
    }
    mj_deleteData(other);
}

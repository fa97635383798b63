/*
 * How episodes of cheetah, hopper, humanoid and walker begin.
 *
 * A mean of n draws may lie four standard errors from what it should be: one check in 16,000 fails
 * then by chance, and the seeds are fixed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "envs/env_open.h"
#include "envs/mujoco/models.h"
#include "envs/mujoco/suite.h"
#include "tests/unit/envs/golden_suite.h"

#define PI 3.14159265358979323846

enum { JOINTS_MAX = 32, RESETS = 10000, RESETS_WITHOUT_CONTACT = 2000, SETTLED_RESETS = 200 };

/* -- a task, open ----------------------------------------------------------------------------- */

typedef struct rig {
    aq_env *env;
    const aq_suite *suite;
    aq_suite_lane *lane;
    aq_rng rng;
    float obs[AQ_SUITE_OBS_MAX];
} rig;

static void rig_init(rig *self, const char *task)
{
    aq_error error;
    assert_int_equal(aq_env_open(task, &self->env, &error), 0);
    self->suite = self->env->params;
    self->lane = aq_alloc(1, self->env->class->state_bytes);
    assert_non_null(self->lane);
    assert_int_equal(self->env->class->begin(self->env->params, self->lane, &error), 0);
    aq_rng_init(&self->rng, 4, 2);
}

static void rig_fini(rig *self)
{
    self->env->class->end(self->env->params, self->lane);
    aq_free(self->lane);
    aq_env_unref(self->env);
}

static void rig_reset(rig *self)
{
    assert_true(self->env->class->reset(self->env->params, self->lane, &self->rng, self->obs));
}

/* -- tallies of joints ------------------------------------------------------------------------ */

typedef struct tally {
    double count, sum, sum_of_squares, low, high;
} tally;

static void count_in(tally *self, double value)
{
    self->low = self->count == 0 ? value : fmin(self->low, value);
    self->high = self->count == 0 ? value : fmax(self->high, value);
    self->count++;
    self->sum += value;
    self->sum_of_squares += value * value;
}

static double mean(const tally *self)
{
    return self->sum / self->count;
}

static double variance(const tally *self)
{
    return self->sum_of_squares / self->count - mean(self) * mean(self);
}

static void bounds_of(const mjModel *model, int joint, double *ret_low, double *ret_high)
{
    *ret_low = model->jnt_limited[joint] ? model->jnt_range[2 * joint] : -PI;
    *ret_high = model->jnt_limited[joint] ? model->jnt_range[2 * joint + 1] : PI;
}

static bool is_drawn(const mjModel *model, int joint)
{
    return model->jnt_type[joint] == mjJNT_HINGE;
}

/* Mean, variance and extremes of a uniform distribution. The variance of a squared deviation is
 * width^4 / 180; the extremes of n draws are within 16 widths / n but for once in nine millions. */
static void check_uniform(const tally *drawn, double low, double high)
{
    const double width = high - low;
    const double root = sqrt(drawn->count);
    assert_true(fabs(mean(drawn) - (low + high) / 2) <= 4 * width / sqrt(12) / root);
    assert_true(fabs(variance(drawn) - width * width / 12) <= 4 * width * width / sqrt(180) / root);
    assert_true(drawn->low >= low && drawn->low <= low + 16 * width / drawn->count);
    assert_true(drawn->high < high && drawn->high >= high - 16 * width / drawn->count);
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
            count_in(&joints[k], data->qpos[k]);
            assert_true(data->qvel[k] == 0);
        }
    }
    for (int k = 0; k < model->njnt; k++) {
        double low;
        double high;
        bounds_of(model, k, &low, &high);
        if (is_drawn(model, k)) {
            check_uniform(&joints[k], low, high);
        } else {
            assert_true(joints[k].low == 0 && joints[k].high == 0);
        }
    }
    rig_fini(&self);
}

static void test_hopper_begins_with_joints_uniform_in_their_ranges(void **state)
{
    (void)state;
    check_planar_starts("dmc:hopper_stand");
}

static void test_walker_begins_with_joints_uniform_in_their_ranges(void **state)
{
    (void)state;
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
static void test_humanoid_begins_as_the_rule_says(void **state)
{
    (void)state;
    rig self;
    tally ours[JOINTS_MAX] = {{0}};
    tally rules[JOINTS_MAX] = {{0}};
    aq_rng rng;
    rig_init(&self, "dmc:humanoid_run");
    const mjModel *model = self.suite->model;
    mjData *other = mj_makeData(model);
    assert_non_null(other);
    aq_rng_init(&rng, 7, 1);
    for (int i = 0; i < RESETS_WITHOUT_CONTACT; i++) {
        rig_reset(&self);
        draw_by_the_rule(model, other, &rng);
        for (int k = 0; k < model->nq; k++) {
            count_in(&ours[k], self.lane->physics.data->qpos[k]);
            count_in(&rules[k], other->qpos[k]);
        }
    }
    for (int k = 0; k < model->nq; k++) {
        const double spread = sqrt((variance(&ours[k]) + variance(&rules[k])) / ours[k].count);
        assert_true(fabs(mean(&ours[k]) - mean(&rules[k])) <= 4 * spread + 1e-15);
    }
    for (int k = 1; k < model->njnt; k++) {
        const tally *joint = &ours[model->jnt_qposadr[k]];
        assert_true(joint->low >= model->jnt_range[2 * k]);
        assert_true(joint->high < model->jnt_range[2 * k + 1]);
    }
    mj_deleteData(other);
    rig_fini(&self);
}

static void test_humanoid_begins_in_the_air_touching_nothing(void **state)
{
    (void)state;
    rig self;
    rig_init(&self, "dmc:humanoid_stand");
    const mjData *data = self.lane->physics.data;
    for (int i = 0; i < RESETS_WITHOUT_CONTACT; i++) {
        rig_reset(&self);
        assert_int_equal(data->ncon, 0);
        assert_true(data->qpos[0] == 0 && data->qpos[1] == 0 && data->qpos[2] == 1.5);
        double length = 0;
        for (int k = 3; k < 7; k++) {
            assert_true(data->qpos[k] >= 0);
            length += data->qpos[k] * data->qpos[k];
        }
        assert_true(fabs(length - 1) < 1e-12);
    }
    rig_fini(&self);
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
static void test_the_settling_rule_gives_the_recorded_start(void **state)
{
    (void)state;
    rig self;
    suite_line line;
    double before[SUITE_NUMBERS_MAX];
    size_t compared = 0;
    rig_init(&self, "dmc:cheetah_run");
    const mjModel *model = self.suite->model;
    mjData *data = self.lane->physics.data;
    FILE *file = suite_golden_open("cheetah_settling.csv");
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
    rig_fini(&self);
}

static void test_cheetah_begins_settled_from_joints_within_their_limits(void **state)
{
    (void)state;
    rig self;
    rig_init(&self, "dmc:cheetah_run");
    const mjModel *model = self.suite->model;
    const mjData *data = self.lane->physics.data;
    mjData *other = mj_makeData(model);
    assert_non_null(other);
    for (int i = 0; i < SETTLED_RESETS; i++) {
        double before[JOINTS_MAX] = {0};
        aq_rng rng = self.rng;
        for (int k = 3; k < model->njnt; k++) {
            before[k] = aq_rng_range(&rng, model->jnt_range[2 * k], model->jnt_range[2 * k + 1]);
        }
        settle_by_the_rule(model, other, before);
        rig_reset(&self);
        assert_true(data->time == 0);
        assert_memory_equal(data->qpos, other->qpos, (size_t)model->nq * sizeof(mjtNum));
        assert_memory_equal(data->qvel, other->qvel, (size_t)model->nv * sizeof(mjtNum));
    }
    mj_deleteData(other);
    rig_fini(&self);
}

/* -- all -------------------------------------------------------------------------------------- */

static void step_at_random(rig *self, float *obs, float *reward)
{
    float action[AQ_SUITE_CTRL_MAX];
    for (int i = 0; i < self->suite->model->nu; i++) {
        action[i] = (float)aq_rng_range(&self->rng, -1, 1);
    }
    assert_int_equal(
        self->env->class->step(self->env->params, self->lane, &self->rng, action, obs, reward),
        AQ_STEP_GOES_ON);
}

/* Also with a free joint, whose orientation MuJoCo normalises again and again. */
static void check_restored(const char *task)
{
    enum { STEPS = 20 };
    rig self;
    unsigned char bytes[8192];
    float first[STEPS][AQ_SUITE_OBS_MAX];
    float rewards[STEPS];
    float reward;
    rig_init(&self, task);
    rig_reset(&self);
    for (int i = 0; i < STEPS; i++) {
        step_at_random(&self, self.obs, &reward);
    }
    const aq_rng rng = self.rng;
    assert_true(aq_env_saved_bytes(self.env) <= sizeof(bytes));
    aq_env_save(self.env, self.lane, bytes);
    for (int i = 0; i < STEPS; i++) {
        step_at_random(&self, first[i], &rewards[i]);
    }
    rig_reset(&self);
    assert_int_equal(aq_env_restore(self.env, self.lane, bytes, self.obs), 0);
    self.rng = rng;
    for (int i = 0; i < STEPS; i++) {
        step_at_random(&self, self.obs, &reward);
        assert_memory_equal(self.obs, first[i], aq_space_bytes(&self.env->schema.obs));
        assert_true(reward == rewards[i]);
    }
    rig_fini(&self);
}

static void test_a_restored_state_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    check_restored("dmc:cheetah_run");
    check_restored("dmc:hopper_hop");
    check_restored("dmc:humanoid_walk");
    check_restored("dmc:walker_stand");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hopper_begins_with_joints_uniform_in_their_ranges),
        cmocka_unit_test(test_walker_begins_with_joints_uniform_in_their_ranges),
        cmocka_unit_test(test_humanoid_begins_as_the_rule_says),
        cmocka_unit_test(test_humanoid_begins_in_the_air_touching_nothing),
        cmocka_unit_test(test_the_settling_rule_gives_the_recorded_start),
        cmocka_unit_test(test_cheetah_begins_settled_from_joints_within_their_limits),
        cmocka_unit_test(test_a_restored_state_goes_on_with_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

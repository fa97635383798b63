/*
 * What every task of the control suite has in common, beyond what all environments have: failures
 * that are said, and recordings that are refused.
 */
#include "envs/env_golden.h"
#include "tests/support/test.h"
#include "tests/unit/envs/suite_rig.h"

enum { STEPS = 20 };

static bool is_of_the_suite(const aq_env_class *class)
{
    return strncmp(class->name, "dmc:", strlen("dmc:")) == 0;
}

/* -- every task ------------------------------------------------------------------------------- */

static void for_each_task(void (*check)(const char *task))
{
    size_t count = 0;
    for (size_t i = 0; i < aq_env_count(); i++) {
        if (is_of_the_suite(aq_env_at(i))) {
            check(aq_env_at(i)->name);
            count++;
        }
    }
    assert_int_equal(count, 23);
}

/* A step leaves out what only pictures need. */
static void check_picture(const char *task)
{
    enum { SIDE = 48 };
    static uint8_t stepped[SIDE * SIDE * 3];
    static uint8_t derived[SIDE * SIDE * 3];
    rig self;
    float reward;
    aq_canvas canvas = {.width = SIDE, .height = SIDE, .pixels = stepped};
    rig_init(&self, task);
    rig_reset(&self);
    for (int i = 0; i < STEPS; i++) {
        rig_step(&self, self.obs, &reward);
        assert_true(reward >= 0 && reward <= 1);
    }
    self.env->class->draw(self.env->params, self.lane, &canvas);
    assert_true(aq_physics_forward(&self.lane->physics, self.suite->model));
    canvas.pixels = derived;
    self.env->class->draw(self.env->params, self.lane, &canvas);
    assert_memory_equal(stepped, derived, sizeof(stepped));
    rig_fini(&self);
}

TEST(a_picture_after_a_step_is_that_of_the_state)
{
    for_each_task(check_picture);
}

TEST_IN_TASK(an_episode_has_a_thousand_steps, "dmc:walker_walk")
{
    assert_int_equal(self->env->step_limit, 1000);
    assert_true(isnan(self->env->reward_threshold));
    assert_int_equal(aq_space_elements(&self->env->schema.obs), 24);
    assert_int_equal(aq_space_elements(&self->env->schema.action), 6);
    assert_true(self->env->schema.action.low[5] == -1 && self->env->schema.action.high[5] == 1);
}

/* -- failures --------------------------------------------------------------------------------- */

/* The step with this control fails in these words. */
static void fail_step(rig *self, float control, const char *words)
{
    float reward;
    const aq_env_class *class = self->env->class;
    assert_null(class->failure(self->env->params, self->lane));
    assert_int_equal(
        class->step(self->env->params, self->lane, &self->rng, &control, self->obs, &reward),
        AQ_STEP_FAILED);
    assert_says(class->failure(self->env->params, self->lane), words);
}

/* After a reset nothing of a failure is left. */
static void go_on(rig *self)
{
    float reward;
    rig_reset(self);
    rig_step(self, self->obs, &reward);
    assert_null(self->env->class->failure(self->env->params, self->lane));
    assert_true(isfinite(self->obs[0]));
}

TEST_IN_TASK(a_control_that_is_no_number_fails_the_step_and_says_so, "dmc:pendulum_swingup")
{
    rig_reset(self);
    fail_step(self, NAN, "MuJoCo");
    assert_says(self->env->class->failure(self->env->params, self->lane), "CTRL");
    go_on(self);
}

TEST_IN_TASK(a_state_that_flies_apart_fails_the_step, "dmc:pendulum_swingup")
{
    rig_reset(self);
    self->lane->physics.data->qvel[0] = 1e12;
    fail_step(self, 0, "");
    go_on(self);
}

/* The stack is the one resource that MuJoCo has an error for, and not a warning. */
TEST_IN_TASK(an_error_of_mujoco_fails_the_step_and_not_the_process, "dmc:pendulum_swingup")
{
    rig_reset(self);
    const int stack_size = self->lane->physics.data->nstack;
    self->lane->physics.data->nstack = 0;
    fail_step(self, 0, "Stack");
    self->lane->physics.data->nstack = stack_size;
    go_on(self);
}

TEST(a_description_that_does_not_compile_is_refused_with_the_reason)
{
    mjModel *model = NULL;
    assert_int_equal(
        aq_physics_compile("broken", "<mujoco><wordlbody/></mujoco>", &model, &refusal),
        AQ_E_INVALID);
    assert_null(model);
    assert_says(refusal.text, "wordlbody");
    assert_int_equal(aq_physics_compile("empty", "", &model, &refusal), AQ_E_INVALID);
    assert_null(model);
}

/* -- recordings ------------------------------------------------------------------------------- */

TEST_IN_TASK(a_recording_that_lacks_something_is_refused_by_its_name, "dmc:reacher_easy")
{
    const double numbers[3] = {0.1, 0.2, 0.01};
    const aq_env_class *class = self->env->class;
    aq_golden_values values = {.count = 2, .rows = {{"qpos", 2, numbers}, {"qvel", 2, numbers}}};
    assert_refused(class->put(self->env->params, self->lane, &values, &refusal), AQ_E_INVALID,
                   "target_geom_pos");

    values.rows[values.count++] = (aq_golden_value){"target_geom_pos", 3, numbers};
    assert_succeeds(class->put(self->env->params, self->lane, &values, &refusal));
    assert_true(self->lane->target[0] == 0.1 && self->lane->target[1] == 0.2);

    values.rows[values.count++] = (aq_golden_value){"ctrl", 3, numbers};
    values.rows[0].numbers = numbers + 1;
    assert_refused(class->put(self->env->params, self->lane, &values, &refusal), AQ_E_INVALID,
                   "the recording's 'ctrl' has 3 numbers, not 2");
    values.count--;
    values.rows[0].count = 1;
    assert_refused(class->put(self->env->params, self->lane, &values, &refusal), AQ_E_INVALID,
                   "qpos");
    /* A state that was refused changes nothing. */
    const mjtNum *place = self->lane->physics.data->qpos;
    assert_true(place[0] == 0.1 && place[1] == 0.2);
}

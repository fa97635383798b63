/*
 * Every task of the suite draws itself: its bodies where they are, its target where the episode put
 * it, and nothing of it changes by being looked at.
 */
#include "tests/unit/envs/suite_rig.h"

enum { SIDE = 160, BYTES = SIDE * SIDE * 3, STEPS = 20 };

static uint8_t picture[BYTES], other[BYTES];
static aq_canvas canvas = {SIDE, SIDE, picture};

static void draw(const rig *self, uint8_t *pixels)
{
    canvas.pixels = pixels;
    self->env->class->draw(self->env->params, self->lane, &canvas);
}

static bool is_reddish(const uint8_t *pixel)
{
    return pixel[0] > pixel[1] + 80 && pixel[0] > pixel[2] + 80;
}

static bool is_bluish(const uint8_t *pixel)
{
    return pixel[2] > pixel[0] + 40;
}

static int count_pixels(const uint8_t *pixels, bool (*is_it)(const uint8_t *pixel))
{
    int count = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        count += is_it(pixels + (ptrdiff_t)3 * i);
    }
    return count;
}

TEST(every_task_draws_a_body_that_moves)
{
    size_t tasks = 0;
    for (size_t i = 0; i < aq_env_count(); i++) {
        const char *name = aq_env_at(i)->name;
        if (strncmp(name, "dmc:", 4) != 0) {
            continue;
        }
        rig self;
        float reward;
        rig_init(&self, name);
        rig_reset(&self);
        draw(&self, picture);
        if (count_pixels(picture, is_bluish) <= 3) {
            fail_msg("%s: nobody is there", name);
        }
        for (int step = 0; step < STEPS; step++) {
            rig_step(&self, self.obs, &reward);
        }
        draw(&self, other);
        assert_memory_not_equal(picture, other, BYTES);
        rig_fini(&self);
        tasks++;
    }
    assert_true(tasks >= 20);
}

TEST(the_same_state_is_the_same_picture_and_stays_it)
{
    rig drawn, unseen;
    float reward, unseen_reward;
    rig_init(&drawn, "dmc:humanoid_walk");
    rig_init(&unseen, "dmc:humanoid_walk");
    rig_reset(&drawn);
    rig_reset(&unseen);
    draw(&drawn, picture);
    draw(&drawn, other);
    assert_memory_equal(picture, other, BYTES);
    for (int step = 0; step < STEPS; step++) {
        rig_step(&drawn, drawn.obs, &reward);
        rig_step(&unseen, unseen.obs, &unseen_reward);
        draw(&drawn, other);
        assert_memory_equal(drawn.obs, unseen.obs, aq_space_bytes(&drawn.env->schema.obs));
        assert_true(reward == unseen_reward);
    }
    rig_fini(&drawn);
    rig_fini(&unseen);
}

/* The middle of the red pixels, in pixels from the top left. */
static void find_red(double *ret_row, double *ret_column)
{
    double rows = 0, columns = 0, count = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        if (is_reddish(picture + (ptrdiff_t)3 * i)) {
            rows += i / SIDE;
            columns += i % SIDE;
            count++;
        }
    }
    assert_true(count > 0);
    *ret_row = rows / count;
    *ret_column = columns / count;
}

TEST_IN_TASK(a_target_is_drawn_where_the_episode_put_it, "dmc:reacher_easy")
{
    double row, column, moved_row, moved_column;
    rig_reset(self);
    self->lane->target[0] = 0.1;
    self->lane->target[1] = 0.1;
    draw(self, picture);
    find_red(&row, &column);
    self->lane->target[0] = -0.1; /* seen from above: to the left and down */
    self->lane->target[1] = -0.1;
    draw(self, picture);
    find_red(&moved_row, &moved_column);
    assert_float_equal(moved_row - row, column - moved_column, 1.0);
    assert_true(moved_row - row > 16);
}

TEST(a_target_of_another_task_is_not_drawn)
{
    rig turn, spin;
    rig_init(&turn, "dmc:finger_turn_easy");
    rig_init(&spin, "dmc:finger_spin");
    rig_reset(&turn);
    rig_reset(&spin);
    draw(&turn, picture);
    draw(&spin, other);
    assert_true(count_pixels(picture, is_reddish) > count_pixels(other, is_reddish) + 5);
    rig_fini(&turn);
    rig_fini(&spin);
}

TEST(a_target_is_drawn_as_large_as_it_counts)
{
    rig easy, hard;
    rig_init(&easy, "dmc:finger_turn_easy");
    rig_init(&hard, "dmc:finger_turn_hard");
    rig_reset(&easy);
    rig_reset(&hard);
    draw(&easy, picture);
    draw(&hard, other);
    assert_true(count_pixels(picture, is_reddish) > count_pixels(other, is_reddish) + 5);
    rig_fini(&easy);
    rig_fini(&hard);
}

/* How far to the right of the middle the blue pixels are, in all. */
static int blue_lean(const uint8_t *pixels)
{
    int lean = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        lean += is_bluish(pixels + (ptrdiff_t)3 * i) ? i % SIDE - SIDE / 2 : 0;
    }
    return lean;
}

TEST_IN_TASK(what_walks_stays_in_the_middle_and_the_floor_moves, "dmc:walker_walk")
{
    const int bottom = (SIDE - 1) * SIDE * 3;
    rig_reset(self);
    draw(self, picture);
    const aq_suite *suite = self->env->params;
    self->lane->physics.data->qpos[1] += 100.7; /* forward: the root's second joint */
    mj_forward(suite->model, self->lane->physics.data);
    draw(self, other);
    assert_in_range(blue_lean(picture) - blue_lean(other) + 80, 0, 160); /* by rounding at most */
    assert_memory_not_equal(picture + bottom, other + bottom, (size_t)SIDE * 3);
    self->lane->physics.data->qpos[1] = 1e16; /* where a metre is lost in rounding */
    mj_kinematics(suite->model, self->lane->physics.data);
    draw(self, other);
}

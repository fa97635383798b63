/*
 * Every task of the suite draws itself: its bodies where they are, its target where the episode put
 * it, and nothing of it changes by being looked at.
 */
#include <math.h>
#include <string.h>

#include "common/base/memory.h"
#include "envs/env_open.h"
#include "envs/mujoco/suite.h"
#include "tests/support/test.h"

enum { SIDE = 160, BYTES = SIDE * SIDE * 3, STEPS = 20 };

static uint8_t picture[BYTES], other[BYTES];
static aq_canvas canvas = {SIDE, SIDE, picture};
static float action[AQ_SUITE_CTRL_MAX], obs[AQ_SUITE_OBS_MAX];
static aq_rng rng;

/* A task at the start of an episode. */
typedef struct scene {
    aq_env *env;
    aq_suite_lane lane;
} scene;

static void begin(scene *s, const char *name)
{
    aq_error error = {0};
    memset(s, 0, sizeof(*s));
    aq_rng_init(&rng, 3, 0);
    assert_succeeds(aq_env_open(name, &s->env, &error) != 0 ||
                        s->env->class->begin(s->env->params, &s->lane, &error),
                    &error);
    assert_true(s->env->class->reset(s->env->params, &s->lane, &rng, obs));
}

static void end(scene *s)
{
    s->env->class->end(s->env->params, &s->lane);
    aq_env_unref(s->env);
}

static void draw(const scene *s, uint8_t *pixels)
{
    canvas.pixels = pixels;
    s->env->class->draw(s->env->params, &s->lane, &canvas);
}

static void step(scene *s, int steps)
{
    for (int i = 0; i < steps; i++) {
        for (int k = 0; k < AQ_SUITE_CTRL_MAX; k++) {
            action[k] = (float)aq_rng_range(&rng, -1, 1);
        }
        float reward;
        assert_int_equal(s->env->class->step(s->env->params, &s->lane, &rng, action, obs, &reward),
                         AQ_STEP_GOES_ON);
    }
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
        scene s;
        begin(&s, name);
        draw(&s, picture);
        if (count_pixels(picture, is_bluish) <= 3) {
            fail_msg("%s: nobody is there", name);
        }
        step(&s, STEPS);
        draw(&s, other);
        assert_memory_not_equal(picture, other, BYTES);
        end(&s);
        tasks++;
    }
    assert_true(tasks >= 20);
}

TEST(the_same_state_is_the_same_picture_and_stays_it)
{
    static double before[1024], after[1024];
    scene s;
    begin(&s, "dmc:humanoid_walk");
    assert_true(aq_env_saved_bytes(s.env) <= sizeof(before));
    aq_env_save(s.env, &s.lane, before);
    draw(&s, picture);
    draw(&s, other);
    aq_env_save(s.env, &s.lane, after);
    assert_memory_equal(picture, other, BYTES);
    assert_memory_equal(before, after, aq_env_saved_bytes(s.env));
    end(&s);
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

TEST(a_target_is_drawn_where_the_episode_put_it)
{
    double row, column, moved_row, moved_column;
    scene s;
    begin(&s, "dmc:reacher_easy");
    s.lane.target[0] = 0.1;
    s.lane.target[1] = 0.1;
    draw(&s, picture);
    find_red(&row, &column);
    s.lane.target[0] = -0.1; /* seen from above: to the left and down */
    s.lane.target[1] = -0.1;
    draw(&s, picture);
    find_red(&moved_row, &moved_column);
    assert_float_equal(moved_row - row, column - moved_column, 1.0);
    assert_true(moved_row - row > 16);
    end(&s);
}

TEST(a_target_of_another_task_is_not_drawn)
{
    scene turn, spin;
    begin(&turn, "dmc:finger_turn_easy");
    begin(&spin, "dmc:finger_spin");
    draw(&turn, picture);
    draw(&spin, other);
    assert_true(count_pixels(picture, is_reddish) > count_pixels(other, is_reddish) + 5);
    end(&turn);
    end(&spin);
}

TEST(what_walks_stays_in_the_middle_and_the_floor_moves)
{
    scene s;
    int first = 0, bottom = (SIDE - 1) * SIDE * 3;
    begin(&s, "dmc:walker_walk");
    draw(&s, picture);
    for (int i = 0; i < SIDE * SIDE; i++) {
        first += is_bluish(picture + (ptrdiff_t)3 * i) ? i % SIDE - SIDE / 2 : 0;
    }
    const aq_suite *suite = s.env->params;
    s.lane.physics.data->qpos[1] += 100.7; /* forward: the root's second joint */
    mj_forward(suite->model, s.lane.physics.data);
    draw(&s, other);
    int second = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        second += is_bluish(other + (ptrdiff_t)3 * i) ? i % SIDE - SIDE / 2 : 0;
    }
    assert_in_range(first - second + 80, 0, 160); /* by rounding at most */
    assert_memory_not_equal(picture + bottom, other + bottom, (size_t)SIDE * 3);
    end(&s);
}

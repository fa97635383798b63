/*
 * Who can be looked at, and what is seen of images that nobody draws.
 */
#include "envs/env_picture.h"
#include "tests/support/test.h"
#include "tests/unit/envs/env_lane.h"

/* An environment that is seen as an image and does not draw itself. */
static aq_env image_env(uint32_t rank, uint32_t channels, aq_env_class *class)
{
    *class = (aq_env_class){.name = "test:image"};
    aq_env env = {.class = class, .name = "test:image"};
    env.schema.obs = (aq_space){.kind = AQ_SPACE_BOX,
                                .dtype = AQ_DTYPE_U8,
                                .rank = rank,
                                .shape = {2, 3, rank == 3 ? channels : 0},
                                .bound_count = 1,
                                .high = {255}};
    aq_space_init_discrete(&env.schema.action, 2);
    return env;
}

static void assert_pixel(const aq_canvas *canvas, uint32_t row, uint32_t column, aq_colour colour)
{
    const uint8_t *pixel = canvas->pixels + ((size_t)row * canvas->width + column) * 3;
    assert_int_equal(pixel[0], colour.red);
    assert_int_equal(pixel[1], colour.green);
    assert_int_equal(pixel[2], colour.blue);
}

static void draw(const aq_env *env, void *state, const void *obs, aq_canvas *canvas)
{
    const char *text;
    assert_int_equal(aq_env_picture_draw(env, state, obs, canvas, &text), 0);
    assert_null(text);
}

TEST(environments_draw_themselves)
{
    uint8_t pixels[100 * 3] = {0}, own[100 * 3] = {0}, obs[600];
    uint64_t state_bytes[32] = {0};
    aq_canvas canvas = {10, 10, pixels}, other = {10, 10, own};
    aq_env *env = env_lane_open("game:miner");
    aq_rng rng = rng_of(1, 1);
    assert_int_equal(aq_env_picture_check(env, NULL), 0);
    assert_true(env->class->reset(env->params, state_bytes, &rng, obs));
    draw(env, state_bytes, obs, &canvas);
    env->class->draw(env->params, state_bytes, &other);
    assert_memory_equal(pixels, own, sizeof(pixels));
}

/* Those that this build lacks a library for cannot be opened. */
TEST(tasks_of_the_suites_draw_themselves)
{
    static const char *const suites[] = {"dmc:", "gym:", "game:"};
    aq_env *env;
    for (size_t i = 0; i < aq_env_count(); i++) {
        const aq_env_class *class = aq_env_at(i);
        EACH_ROW(k, suites) {
            const bool is_of_it = strncmp(class->name, suites[k], strlen(suites[k])) == 0;
            if (is_of_it && class->draw == NULL && aq_env_open(class->name, &env, &refusal) == 0) {
                fail_msg("%s does not draw itself", class->name);
            }
        }
    }
}

TEST(one_channel_is_grey)
{
    static const uint8_t obs[] = {0, 100, 255, 1, 2, 3};
    uint8_t pixels[4 * 6 * 3];
    aq_canvas canvas = {6, 4, pixels};
    aq_env_class class;
    const aq_env env = image_env(2, 0, &class);
    assert_int_equal(aq_env_picture_check(&env, NULL), 0);
    draw(&env, NULL, obs, &canvas);
    assert_pixel(&canvas, 0, 0, (aq_colour){0, 0, 0});
    assert_pixel(&canvas, 1, 3, (aq_colour){100, 100, 100});
    assert_pixel(&canvas, 0, 5, (aq_colour){255, 255, 255});
    assert_pixel(&canvas, 3, 4, (aq_colour){3, 3, 3});
}

TEST(three_channels_are_red_green_and_blue)
{
    static const uint8_t obs[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
    uint8_t pixels[2 * 3 * 3];
    aq_canvas canvas = {3, 2, pixels};
    aq_env_class class;
    const aq_env env = image_env(3, 3, &class);
    draw(&env, NULL, obs, &canvas);
    assert_memory_equal(pixels, obs, sizeof(obs));
}

TEST(many_channels_have_a_colour_each)
{
    uint8_t obs[2 * 3 * 5] = {0}, pixels[2 * 3 * 3];
    aq_canvas canvas = {3, 2, pixels};
    aq_env_class class;
    const aq_env env = image_env(3, 5, &class);
    for (uint32_t cell = 0; cell < 5; cell++) {
        obs[cell * 5 + cell] = 255;
    }
    draw(&env, NULL, obs, &canvas);
    for (uint32_t a = 0; a < 6; a++) { /* the sixth is dark */
        for (uint32_t b = 0; b < a; b++) {
            assert_memory_not_equal(pixels + a * 3, pixels + b * 3, 3);
        }
    }
    assert_pixel(&canvas, 1, 2, (aq_colour){0, 0, 0});
}

TEST(cells_are_those_of_images)
{
    uint32_t rows, columns;
    aq_env *game = env_lane_open("game:freeway"), *pole = env_lane_open("gym:CartPole-v1");
    aq_env_picture_cells(game, &rows, &columns);
    assert_int_equal(rows, 10);
    assert_int_equal(columns, 10);
    aq_env_picture_cells(pole, &rows, &columns);
    assert_int_equal(rows, 0);
    assert_int_equal(columns, 0);
}

TEST(what_has_no_picture_is_refused_with_those_that_have)
{
    aq_env_class class;
    aq_env env = image_env(3, 4, &class);
    env.schema.obs.dtype = AQ_DTYPE_F32;
    assert_refused(aq_env_picture_check(&env, &refusal), AQ_E_UNSUPPORTED,
                   "there is no picture of test:image");
    assert_says(refusal.text, "game:, gym:");
}

/* ---- pictures that are made elsewhere ------------------------------------------------------- */

static aq_env_frame made; /* no rows and no text: it fails */

static bool give_frame(const void *params, void *state, aq_env_frame *ret_frame)
{
    (void)params;
    (void)state;
    *ret_frame = made;
    return made.rows > 0 || made.text != NULL;
}

static aq_env framed_env(aq_env_class *class)
{
    aq_env env = image_env(3, 3, class);
    class->frame = give_frame;
    env.can_be_drawn = true;
    return env;
}

TEST(a_frame_keeps_its_shape_in_the_middle)
{
    static const uint8_t frame[] = {255, 0, 0, 0, 0, 255}; /* a row: red, blue */
    uint8_t pixels[4 * 4 * 3];
    aq_canvas canvas = {4, 4, pixels};
    aq_env_class class;
    const aq_env env = framed_env(&class);
    made = (aq_env_frame){.rows = 1, .columns = 2, .pixels = frame};
    draw(&env, NULL, NULL, &canvas);
    for (uint32_t column = 0; column < 4; column++) {
        const aq_colour colour = column < 2 ? (aq_colour){255, 0, 0} : (aq_colour){0, 0, 255};
        assert_pixel(&canvas, 0, column, (aq_colour){0, 0, 0});
        assert_pixel(&canvas, 1, column, colour);
        assert_pixel(&canvas, 2, column, colour);
        assert_pixel(&canvas, 3, column, (aq_colour){0, 0, 0});
    }
}

TEST(a_large_frame_is_seen_whole)
{
    static uint8_t frame[8 * 8 * 3];
    uint8_t pixels[2 * 2 * 3];
    aq_canvas canvas = {2, 2, pixels};
    aq_env_class class;
    const aq_env env = framed_env(&class);
    made = (aq_env_frame){.rows = 8, .columns = 8, .pixels = frame};
    for (uint32_t i = 0; i < 8; i++) {
        frame[(i * 8 + 6) * 3 + 1] = 200; /* a thin green line, in one pixel of four */
    }
    draw(&env, NULL, NULL, &canvas);
    assert_pixel(&canvas, 0, 0, (aq_colour){0, 0, 0});
    assert_true(pixels[4] > 0 && pixels[10] == pixels[4]);
}

TEST(a_text_is_handed_on_and_a_failure_told)
{
    const char *text = NULL;
    aq_env_class class;
    const aq_env env = framed_env(&class);
    made = (aq_env_frame){.text = "S.G"};
    assert_int_equal(aq_env_picture_draw(&env, NULL, NULL, NULL, &text), 0);
    assert_string_equal(text, "S.G");
    made = (aq_env_frame){0};
    assert_int_equal(aq_env_picture_draw(&env, NULL, NULL, NULL, &text), AQ_E_PEER);
}

/*
 * Shapes colour the pixels that they should and no others. Every picture lies in a block with
 * guards on both sides, which are looked at after each test.
 */
#include "envs/canvas.h"
#include "tests/support/test.h"

enum { WIDTH = 40, HEIGHT = 20, GUARD = 4096, GUARD_BYTE = 0xa5 };

static const aq_colour black = {0, 0, 0}, red = {200, 0, 0}, white = {255, 255, 255};

static uint8_t block[GUARD + WIDTH * HEIGHT * 3 + GUARD];
static aq_canvas canvas;

static int set_up(void **state)
{
    (void)state;
    memset(block, GUARD_BYTE, sizeof(block));
    canvas = (aq_canvas){WIDTH, HEIGHT, block + GUARD};
    aq_canvas_fill(&canvas, black);
    return 0;
}

static int check_guards(void **state)
{
    (void)state;
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(block[i], GUARD_BYTE);
        assert_int_equal(block[sizeof(block) - 1 - i], GUARD_BYTE);
    }
    return 0;
}

#define TEST_ON_CANVAS(name) TEST_WITH(name, set_up, check_guards)

static uint8_t red_at(uint32_t row, uint32_t column)
{
    return canvas.pixels[(row * WIDTH + column) * 3];
}

/* Red over the whole picture in pixels, counting partly covered ones in part. */
static double red_area(void)
{
    double sum = 0;
    for (uint32_t row = 0; row < HEIGHT; row++) {
        for (uint32_t column = 0; column < WIDTH; column++) {
            sum += red_at(row, column);
        }
    }
    return sum / red.red;
}

TEST_ON_CANVAS(fill_colours_every_pixel_and_channel)
{
    aq_canvas_fill(&canvas, (aq_colour){1, 2, 3});
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT * 3; i++) {
        assert_int_equal(canvas.pixels[i], 1 + i % 3);
    }
}

TEST_ON_CANVAS(zero_is_the_middle_and_the_smaller_side_is_one)
{
    aq_canvas_disc(&canvas, (aq_point){0, 0}, 0.25, red); /* five pixels */
    assert_int_equal(red_at(9, 19), red.red);
    assert_int_equal(red_at(10, 20), red.red);
    assert_int_equal(red_at(10, 23), red.red);
    assert_int_equal(red_at(10, 26), 0);
    assert_int_equal(red_at(13, 20), red.red);
    assert_int_equal(red_at(16, 20), 0);
}

TEST_ON_CANVAS(y_points_downwards)
{
    aq_canvas_disc(&canvas, (aq_point){0, 0.4}, 0.1, red);
    assert_int_equal(red_at(17, 19), red.red);
    assert_int_equal(red_at(2, 19), 0);
}

TEST_ON_CANVAS(a_disc_has_the_area_of_a_circle)
{
    aq_canvas_disc(&canvas, (aq_point){0.013, -0.021}, 0.3, red);
    assert_float_equal(red_area(), acos(-1.0) * 36, 0.6);
}

TEST_ON_CANVAS(borders_are_smooth)
{
    aq_canvas_disc(&canvas, (aq_point){0, 0}, 0.25, red);
    size_t partly = 0;
    for (uint32_t row = 0; row < HEIGHT; row++) {
        for (uint32_t column = 0; column < WIDTH; column++) {
            partly += red_at(row, column) > 0 && red_at(row, column) < red.red;
        }
    }
    assert_in_range(partly, 20, 60);
}

TEST_ON_CANVAS(a_stroke_has_its_thickness_and_round_ends)
{
    aq_canvas_stroke(&canvas, (aq_point){-0.5, 0}, (aq_point){0.5, 0}, 0.2, red);
    for (uint32_t row = 0; row < HEIGHT; row++) {
        assert_int_equal(red_at(row, 20), row >= 8 && row < 12 ? red.red : 0);
    }
    /* Twenty by four pixels, and a disc of four across for the ends. */
    assert_float_equal(red_area(), 80 + acos(-1.0) * 4, 0.5);
}

TEST_ON_CANVAS(a_stroke_thinner_than_a_pixel_is_pale)
{
    /* The middle of row 9 is at -0.025. */
    aq_canvas_stroke(&canvas, (aq_point){-0.5, -0.025}, (aq_point){0.5, -0.025}, 0.01, red);
    assert_in_range(red_at(9, 20), red.red / 5 - 1, red.red / 5 + 1);
    assert_int_equal(red_at(8, 20), 0);
    assert_int_equal(red_at(10, 20), 0);
}

TEST_ON_CANVAS(a_polygon_is_filled_in_either_direction)
{
    const aq_point square[] = {{-0.2, -0.2}, {0.2, -0.2}, {0.2, 0.2}, {-0.2, 0.2}};
    const aq_point turned[] = {{-0.2, 0.2}, {0.2, 0.2}, {0.2, -0.2}, {-0.2, -0.2}};
    uint8_t first[WIDTH * HEIGHT * 3];
    aq_canvas_polygon(&canvas, square, 4, red);
    assert_int_equal(red_at(6, 16), red.red);
    assert_int_equal(red_at(13, 23), red.red);
    assert_int_equal(red_at(5, 16), 0);
    assert_int_equal(red_at(14, 16), 0);
    assert_int_equal(red_at(10, 15), 0);
    assert_int_equal(red_at(10, 24), 0);
    assert_float_equal(red_area(), 64, 0.01);
    memcpy(first, canvas.pixels, sizeof(first));
    aq_canvas_fill(&canvas, black);
    aq_canvas_polygon(&canvas, turned, 4, red);
    assert_memory_equal(first, canvas.pixels, sizeof(first));
}

TEST_ON_CANVAS(a_triangle_has_its_area)
{
    const aq_point corners[] = {{-0.4, 0.4}, {0.45, 0.35}, {0.05, -0.45}};
    aq_canvas_polygon(&canvas, corners, 3, red);
    assert_float_equal(red_area(), 0.5 * (0.85 * 0.85 - 0.45 * 0.05) * 400, 1.0);
}

TEST_ON_CANVAS(a_polygon_without_area_is_not_drawn)
{
    const aq_point line[] = {{-0.25, -0.25}, {0.25, 0.25}, {0, 0}};
    const aq_point place[] = {{0.1, 0.1}, {0.1, 0.1}, {0.1, 0.1}};
    aq_canvas_polygon(&canvas, line, 3, red);
    aq_canvas_polygon(&canvas, place, 3, red);
    assert_float_equal(red_area(), 0, 0);
}

TEST_ON_CANVAS(shapes_are_cut_at_the_edge)
{
    const aq_point large[] = {{-9, -9}, {9, -9}, {9, 9}, {-9, 9}};
    aq_canvas_disc(&canvas, (aq_point){-1, -0.5}, 0.25, red);
    assert_int_equal(red_at(0, 0), red.red);
    aq_canvas_disc(&canvas, (aq_point){1, 0.5}, 0.25, red);
    assert_int_equal(red_at(HEIGHT - 1, WIDTH - 1), red.red);
    aq_canvas_stroke(&canvas, (aq_point){-50, 0}, (aq_point){50, 0}, 0.1, red);
    assert_int_equal(red_at(9, 0), red.red);
    assert_int_equal(red_at(10, WIDTH - 1), red.red);
    aq_canvas_polygon(&canvas, large, 4, white);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT * 3; i++) {
        assert_int_equal(canvas.pixels[i], 255);
    }
}

TEST_ON_CANVAS(shapes_outside_leave_no_trace)
{
    const aq_point far[] = {{1.2, -0.2}, {1.6, -0.2}, {1.6, 0.2}};
    aq_canvas_disc(&canvas, (aq_point){1.5, 0}, 0.3, red);
    aq_canvas_disc(&canvas, (aq_point){0, -1}, 0.4, red);
    aq_canvas_stroke(&canvas, (aq_point){-2, -3}, (aq_point){2, -3}, 0.1, red);
    aq_canvas_polygon(&canvas, far, 3, red);
    assert_float_equal(red_area(), 0, 0);
}

TEST_ON_CANVAS(shapes_without_finite_places_are_not_drawn)
{
    const double strange[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300};
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        const double s = strange[i];
        const aq_point corners[] = {{0, 0}, {0.1, s}, {s, 0.1}};
        aq_canvas_disc(&canvas, (aq_point){s, 0}, 0.1, red);
        aq_canvas_stroke(&canvas, (aq_point){0, s}, (aq_point){0, 0}, 0.1, red);
        if (!isfinite(s)) {
            aq_canvas_disc(&canvas, (aq_point){0, 0}, s, red);
            aq_canvas_polygon(&canvas, corners, 3, red);
        }
    }
    assert_float_equal(red_area(), 0, 0);
    aq_canvas_disc(&canvas, (aq_point){0, 0}, -0.1, red);
    aq_canvas_disc(&canvas, (aq_point){0, 0}, 0, red);
    assert_float_equal(red_area(), 0, 0);
}

TEST_ON_CANVAS(cells_fill_the_picture_without_overlap)
{
    const uint32_t rows = 7, columns = 9; /* neither divides the picture */
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column++) {
            double before = red_area();
            aq_canvas_cell(&canvas, rows, columns, row, column, red);
            double area = red_area() - before;
            assert_true(area == 2 * 4 || area == 3 * 4 || area == 2 * 5 || area == 3 * 5);
        }
    }
    assert_float_equal(red_area(), WIDTH * HEIGHT, 0);
}

TEST_ON_CANVAS(a_cell_lies_where_it_is_counted)
{
    aq_canvas_cell(&canvas, 10, 10, 9, 0, red);
    assert_int_equal(red_at(18, 0), red.red);
    assert_int_equal(red_at(19, 3), red.red);
    assert_float_equal(red_area(), 8, 0);
}

TEST_ON_CANVAS(random_shapes_stay_inside)
{
    aq_rng rng;
    aq_rng_init(&rng, 3, 0);
    for (int i = 0; i < 3000; i++) {
        aq_point corners[16];
        const size_t count = 3 + aq_rng_below(&rng, 14);
        const double spread = pow(10, aq_rng_range(&rng, -3, 4));
        for (size_t corner = 0; corner < count; corner++) {
            corners[corner] = (aq_point){aq_rng_range(&rng, -spread, spread),
                                         aq_rng_range(&rng, -spread, spread)};
        }
        aq_canvas_polygon(&canvas, corners, count, white);
        aq_canvas_stroke(&canvas, corners[0], corners[1], spread / 10, red);
    }
}

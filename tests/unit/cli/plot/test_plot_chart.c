/*
 * Charts: what is in the SVG and where, and that its PNG is a picture of it. The SVG is looked
 * through as text: its elements are one a line.
 */
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot_chart.h"
#include "cli/plot/plot_png.h"
#include "tests/support/test.h"

enum { PICTURE_BYTES_MAX = 1 << 22 };

static const aq_plot_point straight[] = {{0, 0, -10, 10}, {50, 50, 40, 60}, {100, 100, 90, 110}};

static const aq_plot_series one_series[] = {{"int8", straight, 3, 0}};

static aq_plot_lines lines_of(const aq_plot_series *series, size_t count)
{
    return (aq_plot_lines){
        .title = "a title",
        .x_label = "steps",
        .y_label = "return",
        .series = series,
        .series_count = count,
    };
}

static char *svg_of_lines(const aq_plot_lines *chart)
{
    aq_buffer out;
    aq_buffer_init(&out, PICTURE_BYTES_MAX);
    assert_int_equal(aq_plot_lines_draw(chart, &out), 0);
    char *text = calloc(out.size + 1, 1);
    assert_non_null(text);
    memcpy(text, out.data, out.size);
    aq_buffer_fini(&out);
    return text;
}

static char *svg_of_bars(const aq_plot_bars *chart)
{
    aq_buffer out;
    aq_buffer_init(&out, PICTURE_BYTES_MAX);
    assert_int_equal(aq_plot_bars_draw(chart, &out), 0);
    char *text = calloc(out.size + 1, 1);
    assert_non_null(text);
    memcpy(text, out.data, out.size);
    aq_buffer_fini(&out);
    return text;
}

static size_t times_in(const char *text, const char *part)
{
    size_t times = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) {
        times++;
    }
    return times;
}

static void assert_has(const char *text, const char *part, size_t times)
{
    if (times_in(text, part) != times) {
        print_error("'%s' is there %zu times, not %zu\n", part, times_in(text, part), times);
        fail();
    }
}

/* ---- lines ---------------------------------------------------------------------------------- */

TEST(a_chart_is_one_element_with_its_words)
{
    const aq_plot_lines chart = lines_of(one_series, 1);
    char *svg = svg_of_lines(&chart);
    assert_memory_equal(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\"", 38);
    assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
    assert_has(svg, "</svg>", 1);
    assert_has(svg, "width=\"760\" height=\"440\"", 2);
    assert_has(svg, ">a title</text>", 1);
    assert_has(svg, ">steps</text>", 1);
    assert_has(svg, ">return</text>", 1);
    assert_has(svg, "prefers-color-scheme:dark", 1);
    free(svg);
}

TEST(ticks_have_labels_on_both_axes)
{
    const aq_plot_lines chart = lines_of(one_series, 1);
    char *svg = svg_of_lines(&chart);
    assert_has(svg, ">40</text>", 2);
    assert_has(svg, ">100</text>", 2);
    assert_has(svg, ">-20</text>", 1); /* of the band */
    free(svg);
}

TEST(a_line_goes_through_its_points)
{
    const aq_plot_lines chart = lines_of(one_series, 1);
    char *svg = svg_of_lines(&chart);
    double x[3], y[3];
    const char *at = strstr(svg, "<title>int8</title><polyline");
    assert_non_null(at);
    at = strstr(at, "points=\"");
    assert_int_equal(
        sscanf(at, "points=\"%lf,%lf %lf,%lf %lf,%lf\"", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2]),
        6);
    assert_true(fabs(x[1] - (x[0] + x[2]) / 2) <= 0.11);
    assert_true(fabs(y[1] - (y[0] + y[2]) / 2) <= 0.11);
    assert_true(x[2] > x[0] && y[2] < y[0]); /* upwards */
    free(svg);
}

TEST(a_band_is_a_polygon_there_and_back)
{
    const aq_plot_lines chart = lines_of(one_series, 1);
    char *svg = svg_of_lines(&chart);
    const char *band = strstr(svg, "<polygon class=\"aq-band\"");
    assert_non_null(band);
    double x[6], y[6];
    assert_int_equal(sscanf(strstr(band, "points="),
                            "points=\"%lf,%lf %lf,%lf %lf,%lf %lf,%lf %lf,%lf %lf,%lf\"", &x[0],
                            &y[0], &x[1], &y[1], &x[2], &y[2], &x[3], &y[3], &x[4], &y[4], &x[5],
                            &y[5]),
                     12);
    for (int i = 0; i < 3; i++) {
        assert_true(x[i] == x[5 - i]);
        assert_true(y[i] < y[5 - i]); /* above first */
    }
    assert_true(band < strstr(svg, "<title>int8</title><polyline")); /* the line is over it */
    free(svg);
}

TEST(what_is_not_finite_is_a_gap)
{
    const aq_plot_point points[] = {
        {0, 1, NAN, NAN}, {1, 2, NAN, NAN}, {2, NAN, NAN, NAN}, {3, 4, NAN, NAN}, {4, 5, 4, 6}};
    const aq_plot_series series[] = {{NULL, points, 5, 0}};
    const aq_plot_lines chart = lines_of(series, 1);
    char *svg = svg_of_lines(&chart);
    assert_has(svg, "<polyline", 2);
    assert_has(svg, "<polygon", 0); /* of one point there is no band */
    assert_has(svg, "nan", 0);
    free(svg);
}

TEST(points_on_one_spot_are_drawn_once)
{
    enum { MANY = 100000 };
    aq_plot_point *points = calloc(MANY, sizeof(*points));
    assert_non_null(points);
    for (int i = 0; i < MANY; i++) {
        points[i] = (aq_plot_point){i, i / 50000, NAN, NAN};
    }
    const aq_plot_series series[] = {{"many", points, MANY, 0}};
    const aq_plot_lines chart = lines_of(series, 1);
    char *svg = svg_of_lines(&chart);
    assert_true(strlen(svg) < 150000);
    free(svg);
    free(points);
}

TEST(a_wide_band_does_not_flatten_the_lines)
{
    const aq_plot_point points[] = {{0, 0, -1e6, 1e6}, {1, 100, -1e6, 1e6}};
    const aq_plot_series series[] = {{"two runs", points, 2, 0}};
    const aq_plot_lines chart = lines_of(series, 1);
    char *svg = svg_of_lines(&chart);
    assert_has(svg, ">100</text>", 1);
    assert_has(svg, "M</text>", 0);
    free(svg);
}

TEST(colours_repeat_dashed)
{
    const aq_plot_series series[] = {{"a", straight, 3, 1}, {"b", straight, 3, 9}};
    const aq_plot_lines chart = lines_of(series, 2);
    char *svg = svg_of_lines(&chart);
    assert_has(svg, "<g class=\"aq-1\">", 6); /* in the legend, the bands and the lines */
    assert_has(svg, "aq-curve aq-dashed", 2);
    free(svg);
}

TEST(a_level_is_on_the_axis_and_named)
{
    aq_plot_lines chart = lines_of(one_series, 1);
    chart.level_name = "threshold";
    chart.level = 475;
    char *svg = svg_of_lines(&chart);
    assert_has(svg, "class=\"aq-level\"", 1);
    assert_has(svg, ">threshold</text>", 1);
    assert_has(svg, ">500</text>", 1);
    free(svg);
}

TEST(texts_cannot_break_the_picture)
{
    const aq_plot_series series[] = {{"<script>&\"\x01\xff", straight, 3, 0}};
    const aq_plot_lines chart = lines_of(series, 1);
    char *svg = svg_of_lines(&chart);
    assert_has(svg, "<script", 0);
    assert_has(svg, "&lt;script&gt;&amp;&quot;??", 2); /* in the legend and at the line */
    free(svg);
}

TEST(nothing_is_said_to_be_nothing)
{
    const aq_plot_lines chart = {.series_count = 0};
    char *svg = svg_of_lines(&chart);
    assert_has(svg, ">no data</text>", 1);
    free(svg);
}

/* ---- bars ----------------------------------------------------------------------------------- */

static const char *const groups[] = {"fp32", "int8"};
static const char *const parts[] = {"learner", "actors"};
static const double values[] = {30, 60, 30, 20};

static aq_plot_bars bars_of(bool stacked)
{
    return (aq_plot_bars){
        .title = "energy",
        .y_label = "J",
        .groups = groups,
        .group_count = 2,
        .parts = parts,
        .part_count = 2,
        .values = values,
        .stacked = stacked,
    };
}

/* The place of the bar with that name. */
static void box_of(const char *svg, const char *name, double *y, double *height)
{
    double x, width;
    char title[128];
    (void)snprintf(title, sizeof(title), "<title>%s</title><rect", name);
    const char *at = strstr(svg, title);
    assert_non_null(at);
    assert_int_equal(sscanf(strstr(at, " x=\""),
                            " x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &x, y, &width,
                            height),
                     4);
}

TEST(bars_are_as_high_as_their_values)
{
    const aq_plot_bars chart = bars_of(false);
    char *svg = svg_of_bars(&chart);
    double y, learner, actors, fewer;
    box_of(svg, "fp32, learner: 30", &y, &learner);
    box_of(svg, "fp32, actors: 60", &y, &actors);
    box_of(svg, "int8, actors: 20", &y, &fewer);
    assert_true(fabs(actors - 2 * learner) <= 0.21);
    assert_true(fabs(actors - 3 * fewer) <= 0.31);
    assert_has(svg, ">fp32</text>", 1);
    assert_has(svg, ">60</text>", 2); /* at the axis and on the bar */
    free(svg);
}

TEST(stacked_bars_stand_on_each_other)
{
    const aq_plot_bars chart = bars_of(true);
    char *svg = svg_of_bars(&chart);
    double y0, height0, y1, height1;
    box_of(svg, "fp32, learner: 30", &y0, &height0);
    box_of(svg, "fp32, actors: 60", &y1, &height1);
    assert_true(fabs(y1 + height1 - y0) <= 0.11);
    assert_has(svg, ">90</text>", 1); /* the sum */
    free(svg);
}

TEST(errors_are_whiskers_and_missing_values_are_named)
{
    const double missing[] = {30, NAN, 30, 20};
    const double errors[] = {3, 3, 0, NAN};
    aq_plot_bars chart = bars_of(false);
    chart.values = missing;
    chart.errors = errors;
    char *svg = svg_of_bars(&chart);
    assert_has(svg, "class=\"aq-whisker\"", 3);
    assert_has(svg, ">n/a</text>", 1);
    assert_has(svg, "class=\"aq-box\"", 3 + 2); /* and the legend's */
    free(svg);
}

TEST(long_names_stand_upright)
{
    const char *const long_names[] = {"a name that is far too long to lie", "another one of them"};
    aq_plot_bars chart = bars_of(false);
    chart.groups = long_names;
    chart.width = 240;
    char *svg = svg_of_bars(&chart);
    assert_has(svg, "rotate(-90", 3); /* and the axis's label */
    free(svg);
}

/* ---- PNG ------------------------------------------------------------------------------------ */

static png_image pixels_of(const aq_plot_lines *chart, uint8_t **ret_pixels)
{
    aq_buffer svg, out;
    aq_error error = {0};
    png_image image = {.version = PNG_IMAGE_VERSION};
    aq_buffer_init(&svg, PICTURE_BYTES_MAX);
    aq_buffer_init(&out, PICTURE_BYTES_MAX);
    assert_int_equal(aq_plot_lines_draw(chart, &svg), 0);
    if (aq_plot_png(AQ_RSVG_LIBRARY, &svg, &out, &error) != 0) {
        fail_msg("%s", error.text);
    }
    assert_true(png_image_begin_read_from_memory(&image, out.data, out.size));
    image.format = PNG_FORMAT_RGB;
    *ret_pixels = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(*ret_pixels);
    assert_true(png_image_finish_read(&image, NULL, *ret_pixels, 0, NULL));
    aq_buffer_fini(&svg);
    aq_buffer_fini(&out);
    return image;
}

/* All but the rounding of what is see-through. */
static bool has_colour(const uint8_t *pixels, size_t count, int red, int green, int blue)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *pixel = pixels + 3 * i;
        if (abs(pixel[0] - red) <= 1 && abs(pixel[1] - green) <= 1 && abs(pixel[2] - blue) <= 1) {
            return true;
        }
    }
    return false;
}

TEST(a_png_has_the_line_its_band_and_letters_in_light_colours)
{
    const aq_plot_lines chart = lines_of(one_series, 1);
    uint8_t *pixels;
    const png_image image = pixels_of(&chart, &pixels);
    const size_t count = (size_t)image.width * image.height;
    assert_int_equal(image.width, 2 * 760);
    assert_int_equal(image.height, 2 * 440);
    assert_true(has_colour(pixels, count, 0xff, 0xff, 0xff));
    assert_true(has_colour(pixels, count, 0x24, 0x66, 0xc9)); /* the line */
    assert_true(has_colour(pixels, count, 0xd8, 0xe3, 0xf5)); /* the band over white */
    assert_true(has_colour(pixels, count, 0x1c, 0x20, 0x26)); /* letters */
    free(pixels);
}

TEST(without_librsvg_there_is_an_answer_and_no_png)
{
    const aq_plot_lines chart = lines_of(one_series, 1);
    aq_buffer svg, out;
    aq_error error = {0};
    aq_buffer_init(&svg, PICTURE_BYTES_MAX);
    aq_buffer_init(&out, PICTURE_BYTES_MAX);
    assert_int_equal(aq_plot_lines_draw(&chart, &svg), 0);
    assert_refused(aq_plot_png("librsvg-0.so", &svg, &out, &error), AQ_E_UNSUPPORTED, &error,
                   "a PNG of a chart needs librsvg");
    assert_refused(aq_plot_png("libm.so.6", &svg, &out, &error), AQ_E_UNSUPPORTED, &error,
                   "rsvg_handle_new_from_data");
    svg.size /= 2;
    assert_refused(aq_plot_png(AQ_RSVG_LIBRARY, &svg, &out, &error), AQ_E_INVALID, &error,
                   "librsvg: ");
    assert_int_equal(out.size, 0);
    aq_buffer_fini(&svg);
    aq_buffer_fini(&out);
}

/* ---- failure -------------------------------------------------------------------------------- */

TEST(without_memory_there_is_no_picture)
{
    const aq_plot_lines lines = lines_of(one_series, 1);
    const aq_plot_bars bars = bars_of(true);
    for (int kind = 0; kind < 2; kind++) {
        int rc = AQ_E_NOMEM;
        EACH_ALLOCATION_FAILS(rc)
        {
            aq_buffer out;
            aq_buffer_init(&out, PICTURE_BYTES_MAX);
            rc = kind == 0 ? aq_plot_lines_draw(&lines, &out) : aq_plot_bars_draw(&bars, &out);
            assert_true(rc == 0 ? out.size > 0 : out.size == 0);
            aq_buffer_fini(&out);
        }
    }
}

TEST(a_png_that_is_too_big_leaves_the_buffer_as_it_was)
{
    const aq_plot_lines chart = lines_of(one_series, 1);
    aq_buffer svg, out;
    aq_error error = {0};
    aq_buffer_init(&svg, PICTURE_BYTES_MAX);
    aq_buffer_init(&out, 3000);
    assert_int_equal(aq_plot_lines_draw(&chart, &svg), 0);
    assert_refused(aq_plot_png(AQ_RSVG_LIBRARY, &svg, &out, &error), AQ_E_TOO_BIG, &error,
                   "larger than the limit");
    assert_int_equal(out.size, 0);
    aq_buffer_fini(&svg);
    aq_buffer_fini(&out);
}

TEST(a_buffer_that_is_too_small_stays_as_it_was)
{
    const aq_plot_lines chart = lines_of(one_series, 1);
    aq_buffer out;
    aq_buffer_init(&out, 3000);
    assert_int_equal(aq_buffer_append(&out, "before", 6), 0);
    assert_int_equal(aq_plot_lines_draw(&chart, &out), AQ_E_TOO_BIG);
    assert_int_equal(out.size, 6);
    aq_buffer_fini(&out);
}

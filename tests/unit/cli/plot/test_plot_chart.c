/*
 * Charts: their SVG, whole (tests/golden/pages/chart_*.svg, to be looked at), and that its PNG is a
 * picture of it.
 */
#include <png.h>

#include "cli/plot/plot_chart.h"
#include "cli/plot/plot_png.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

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

TEST_ENDING(end_text, aq_long_text_fini);

/* Either the lines or the bars, until the next picture. */
static aq_buffer *drawn(const aq_plot_lines *lines, const aq_plot_bars *bars)
{
    static aq_long_text text;
    aq_long_text_fini(&text);
    aq_long_text_init(&text, PICTURE_BYTES_MAX);
    if (lines != NULL) {
        aq_plot_lines_draw(lines, &text);
    } else {
        aq_plot_bars_draw(bars, &text);
    }
    assert_int_equal(text.rc, 0);
    at_end(end_text, &text);
    return &text.bytes;
}

/* The chart, drawn as SVG, is the page of that name. */
static void assert_chart(const char *name, const aq_plot_lines *lines, const aq_plot_bars *bars)
{
    aq_buffer *out = drawn(lines, bars);
    assert_int_equal(aq_buffer_append(out, "", 1), 0);
    cli_assert_page(name, (const char *)out->data);
}

static void assert_lines(const char *name, const aq_plot_series *series, size_t count)
{
    const aq_plot_lines chart = lines_of(series, count);
    assert_chart(name, &chart, NULL);
}

/* ---- lines ---------------------------------------------------------------------------------- */

TEST(a_line_has_its_band_and_its_axes)
{
    assert_lines("chart_line.svg", one_series, 1);
}

/* Of one point there is no band. */
TEST(what_is_not_finite_is_a_gap)
{
    const aq_plot_point points[] = {
        {0, 1, NAN, NAN}, {1, 2, NAN, NAN}, {2, NAN, NAN, NAN}, {3, 4, NAN, NAN}, {4, 5, 4, 6}};
    assert_lines("chart_gap.svg", (const aq_plot_series[]){{NULL, points, 5, 0}}, 1);
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
    assert_true(drawn(&chart, NULL)->size < 150000);
    free(points);
}

TEST(a_wide_band_does_not_flatten_the_lines)
{
    const aq_plot_point points[] = {{0, 0, -1e6, 1e6}, {1, 100, -1e6, 1e6}};
    assert_lines("chart_wide_band.svg", (const aq_plot_series[]){{"two runs", points, 2, 0}}, 1);
}

/* The third point is out of the range, and its line goes to the edge. */
TEST(a_range_cuts_off_what_hangs_over_and_notes_stand_below)
{
    static const aq_plot_range x = {10, 80}, y = {NAN, 70};
    aq_plot_lines chart = lines_of(one_series, 1);
    chart.x_axis.range = &x;
    chart.y_axis.range = &y;
    chart.notes[0] =
        "mean of the runs and their whole band, from the least to the greatest of them";
    chart.notes[1] = "each point the mean of the last 10";
    assert_chart("chart_range.svg", &chart, NULL);
}

TEST(what_is_not_above_zero_has_no_place_on_a_logarithmic_axis)
{
    static const aq_plot_point points[] = {{0, 5, NAN, NAN},
                                           {10, 0.01, -1, 0.02},
                                           {1000, 1, 0.5, 2},
                                           {1e5, 0, 0, 1},
                                           {1e6, 100, 50, 200}};
    const aq_plot_series series = {"int8", points, 5, 0};
    aq_plot_lines chart = lines_of(&series, 1);
    chart.x_axis.is_log = chart.y_axis.is_log = true;
    assert_chart("chart_log.svg", &chart, NULL);
}

TEST(colours_repeat_dashed)
{
    const aq_plot_series series[] = {{"a", straight, 3, 1}, {"b", straight, 3, 9}};
    assert_lines("chart_dashed.svg", series, 2);
}

TEST(a_level_is_on_the_axis_and_named)
{
    aq_plot_lines chart = lines_of(one_series, 1);
    chart.level_name = "threshold";
    chart.level = 475;
    assert_chart("chart_level.svg", &chart, NULL);
}

TEST(texts_cannot_break_the_picture)
{
    const aq_plot_series series[] = {{"<script>&\"'\x01\xff\xef\xbf\xbe", straight, 3, 0}};
    assert_lines("chart_texts.svg", series, 1);
}

TEST(nothing_is_said_to_be_nothing)
{
    assert_chart("chart_nothing.svg", &(aq_plot_lines){.series_count = 0}, NULL);
}

/* ---- bars ----------------------------------------------------------------------------------- */

static const char *const groups[] = {"fp32", "int8"};
static const char *const parts[] = {"learner", "actors"};
static const double values[] = {30, 60, 30, 20};

static const aq_plot_bars bars = {
    .title = "energy",
    .y_label = "J",
    .groups = groups,
    .group_count = 2,
    .parts = parts,
    .part_count = 2,
    .values = values,
};

TEST(parts_of_a_bar_stand_on_each_other)
{
    assert_chart("chart_stacked.svg", NULL, &bars);
}

TEST(bars_without_parts_need_no_legend)
{
    aq_plot_bars chart = bars;
    chart.parts = NULL;
    chart.part_count = 1;
    assert_chart("chart_bars.svg", NULL, &chart);
}

TEST(missing_values_are_named)
{
    const double missing[] = {30, NAN, NAN, NAN};
    aq_plot_bars chart = bars;
    chart.values = missing;
    assert_chart("chart_missing.svg", NULL, &chart);
}

TEST(long_names_stand_upright)
{
    const char *const long_names[] = {"a name that is far too long to lie", "another one of them"};
    aq_plot_bars chart = bars;
    chart.groups = long_names;
    chart.width = 240;
    assert_chart("chart_upright.svg", NULL, &chart);
}

/* ---- PNG ------------------------------------------------------------------------------------ */

static png_image pixels_of(const aq_plot_lines *chart, uint8_t **ret_pixels)
{
    aq_buffer *out = buffer_up_to(PICTURE_BYTES_MAX);
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_succeeds(aq_plot_png(AQ_RSVG_LIBRARY, drawn(chart, NULL), out, &refusal));
    assert_true(png_image_begin_read_from_memory(&image, out->data, out->size));
    image.format = PNG_FORMAT_RGB;
    *ret_pixels = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(*ret_pixels);
    assert_true(png_image_finish_read(&image, NULL, *ret_pixels, 0, NULL));
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
    aq_buffer *svg = drawn(&chart, NULL), *out = buffer_up_to(PICTURE_BYTES_MAX);
    assert_refused(aq_plot_png("librsvg-0.so", svg, out, &refusal), AQ_E_UNSUPPORTED,
                   "a PNG of a chart needs librsvg");
    assert_refused(aq_plot_png("libm.so.6", svg, out, &refusal), AQ_E_UNSUPPORTED,
                   "rsvg_handle_new_from_data");
    svg->size /= 2;
    assert_refused(aq_plot_png(AQ_RSVG_LIBRARY, svg, out, &refusal), AQ_E_INVALID, "librsvg: ");
    assert_int_equal(out->size, 0);
}

/* ---- failure -------------------------------------------------------------------------------- */

TEST(without_memory_there_is_no_picture)
{
    const aq_plot_lines lines = lines_of(one_series, 1);
    for (int kind = 0; kind < 2; kind++) {
        int rc = AQ_E_NOMEM;
        EACH_ALLOCATION_FAILS(rc) {
            aq_long_text out;
            aq_long_text_init(&out, PICTURE_BYTES_MAX);
            if (kind == 0) {
                aq_plot_lines_draw(&lines, &out);
            } else {
                aq_plot_bars_draw(&bars, &out);
            }
            rc = out.rc;
            aq_long_text_fini(&out);
        }
    }
}

TEST(a_png_that_is_too_big_leaves_the_buffer_as_it_was)
{
    const aq_plot_lines chart = lines_of(one_series, 1);
    aq_buffer *svg = drawn(&chart, NULL), *out = buffer_up_to(3000);
    assert_refused(aq_plot_png(AQ_RSVG_LIBRARY, svg, out, &refusal), AQ_E_TOO_BIG,
                   "larger than the limit");
    assert_int_equal(out->size, 0);
}

TEST(a_picture_that_is_too_big_is_refused)
{
    const aq_plot_lines chart = lines_of(one_series, 1);
    aq_long_text out;
    aq_long_text_init(&out, 3000);
    aq_plot_lines_draw(&chart, &out);
    assert_int_equal(out.rc, AQ_E_TOO_BIG);
    aq_long_text_fini(&out);
}

/*
 * actorq plot: curves of runs as a picture.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_png.h"
#include "cli/plot/run_plot.h"
#include "cli/run/run_paths.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/sys/file.h"

typedef struct plot_arguments {
    aq_run_names runs;
    const char *output;
    aq_run_plot_options options;
    aq_plot_range x_range, y_range;
    aq_command_size size;
    aq_json_form json;
} plot_arguments;

static const char *const x_words[] = {AQ_PLOT_XS(AQ_CHOICE_WORD) NULL};
static const char *const band_words[] = {AQ_BANDS(AQ_CHOICE_WORD) NULL};
static const char *const end_words[] = {AQ_BAND_ENDS(AQ_CHOICE_WORD) NULL};

/* "0:500", "0:", ":1e6" */
static int take_range(void *taken, const char *value, aq_error *error)
{
    char low_text[64];
    aq_plot_range range = {NAN, NAN};
    const char *colon = strchr(value, ':');
    const size_t size = colon ? (size_t)(colon - value) : 0;
    bool is_range =
        colon && aq_text_format(low_text, sizeof(low_text), "%.*s", (int)size, value) == 0;
    is_range = is_range && (size == 0 || aq_parse_f64(low_text, &range.low) == 0) &&
               (colon[1] == '\0' || aq_parse_f64(colon + 1, &range.high) == 0);
    if (!is_range || range.low >= range.high || (isnan(range.low) && isnan(range.high))) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is no range such as 0:500, 0: or :1e6", value);
    }
    *(aq_plot_range *)taken = range;
    return 0;
}

static const aq_option option_rows[] = {
    {"x", 'x', "WHAT",
     "env_steps, learner_steps, time, or auto, the default: env_steps, but learner_steps of runs "
     "whose "
     "env_steps stand still, as they do where a dataset is trained on",
     AQ_TO_CHOICE(plot_arguments, options.x, 0, x_words)},
    {"y", 'y', "QUANTITY", "return, the default, or a number of metrics.jsonl such as loss",
     AQ_TO_TEXT(plot_arguments, options.y)},
    {"group-by", 0, "LIST",
     "settings that tell curves apart, such as learner.algorithm,quantizer.format, or run for a "
     "curve each (default: what differs)",
     AQ_TO_TEXT(plot_arguments, options.by)},
    {"band", 0, "KIND",
     "bootstrap, the default, or student (95 % intervals of the mean), stderr, minmax or none",
     AQ_TO_CHOICE(plot_arguments, options.band, 0, band_words)},
    {"ended", 0, "HOW",
     "runs that end before others of their curve: carry, the default, goes on with their last "
     "value, cut ends the curve there",
     AQ_TO_CHOICE(plot_arguments, options.end, 0, end_words)},
    {"smooth", 0, "N", "each point of a run is the mean of its last N (default: 1)",
     AQ_TO_NUMBER(plot_arguments, options.smooth, 1, AQ_PLOT_SMOOTH_MAX)},
    {"x-range", 0, "LOW:HIGH", "what the x axis shows, of time in seconds; either may be left out",
     AQ_TO(take_range, plot_arguments, x_range)},
    {"y-range", 0, "LOW:HIGH", "what the y axis shows; either may be left out",
     AQ_TO(take_range, plot_arguments, y_range)},
    {"log-x", 0, NULL, "a logarithmic x axis, without what is not above 0",
     AQ_TO_FLAG(plot_arguments, options.x_axis.is_log)},
    {"log-y", 0, NULL, "a logarithmic y axis, without what is not above 0",
     AQ_TO_FLAG(plot_arguments, options.y_axis.is_log)},
    {"output", 'o', "FILE", "FILE.svg or FILE.png; - prints SVG (default: plot.svg)",
     AQ_TO_TEXT(plot_arguments, output)},
    {"title", 0, "TEXT", "above the picture (default: the task)",
     AQ_TO_TEXT(plot_arguments, options.title)},
    {"level", 0, "NUMBER", "a dotted line across, such as the return that solves the task",
     AQ_TO_REAL(plot_arguments, options.level)},
    {"size", 0, "WxH", "of the picture in px (default: 760x440)",
     AQ_TO(aq_command_take_size, plot_arguments, size)},
    AQ_JSON_OPTION_ROW(plot_arguments, json, "the result"),
};

static const aq_options options_page = {
    .program = "actorq plot",
    .usage = "RUN... [options]",
    .summary = "Draws how runs went. Runs that differ in nothing but their seed are one curve: "
               "their mean, with a band. The picture says how it was made. A folder of runs, such "
               "as --seeds makes, stands for all of them.",
    .details =
        "Quantities are those of metrics.jsonl, within objects as replay/stored; return is "
        "the mean of the evaluations.\n\n"
        "Examples:\n"
        "  actorq plot runs/first\n"
        "  actorq plot runs/int8-* runs/fp32-* --x time --output returns.png\n"
        "  actorq plot runs/* -y loss --log-y --group-by learner.algorithm,quantizer.format\n"
        "  actorq plot runs/* --band minmax --ended cut --smooth 10 --y-range 0:500\n",
    AQ_OPTION_ROWS(option_rows),
    .more = aq_run_names_take,
};

/* ---- the picture ---------------------------------------------------------------------------- */

static bool is_standard_output(const plot_arguments *arguments)
{
    return strcmp(arguments->output, "-") == 0;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t size = strlen(text);
    return size > strlen(end) && strcmp(text + size - strlen(end), end) == 0;
}

static int check_output(const char *output, aq_error *error)
{
    if (strcmp(output, "-") == 0 || ends_with(output, ".svg") || ends_with(output, ".png")) {
        return 0;
    }
    return aq_fail(error, AQ_E_INVALID, "'%s' is neither FILE.svg nor FILE.png", output);
}

static int write_picture(const plot_arguments *arguments, const aq_run_plot *plot, aq_error *error)
{
    aq_long_text svg;
    aq_buffer png;
    const bool is_png = ends_with(arguments->output, ".png");
    const aq_buffer *picture = is_png ? &png : &svg.bytes;
    aq_long_text_init(&svg, AQ_PLOT_BYTES_MAX);
    aq_buffer_init(&png, AQ_PLOT_BYTES_MAX);
    aq_run_plot_draw(plot, &svg);
    int rc = svg.rc != 0 ? aq_fail(error, svg.rc, "%s", aq_error_text(svg.rc))
             : is_png    ? aq_plot_png(AQ_RSVG_LIBRARY, &svg.bytes, &png, error)
                         : 0;
    if (rc != 0) {
        rc = aq_fail_context(error, rc, "%s", arguments->output);
    } else if (is_standard_output(arguments)) {
        (void)fwrite(picture->data, 1, picture->size, stdout); /* a failure is told by the stream */
    } else {
        rc = aq_file_write_atomic(arguments->output, picture->data, picture->size, error);
    }
    aq_long_text_fini(&svg);
    aq_buffer_fini(&png);
    return rc;
}

/* Those of each curve begin when another has ended: only what is cut comes to nothing then. */
static bool is_cut_away(const aq_run_plot *plot)
{
    bool has_runs = false;
    for (size_t i = 0; i < plot->curve_count; i++) {
        has_runs = has_runs || plot->curves[i].run_count > 0;
    }
    return has_runs;
}

/* A picture of nothing helps nobody: a name that no run knows is a mistake. */
static int check_points(const plot_arguments *arguments, const aq_run_plot *plot, aq_error *error)
{
    if (aq_run_plot_has_points(plot)) {
        return 0;
    }
    if (is_cut_away(plot)) {
        return aq_fail(error, AQ_E_NOT_FOUND,
                       "the runs have nothing along the x axis in common: --ended carry draws "
                       "them");
    }
    if (plot->fell_back > 0) {
        return aq_fail(error, AQ_E_NOT_FOUND,
                       "every evaluation was of a version that fell back to fp32: nothing is left "
                       "to draw");
    }
    return aq_fail(error, AQ_E_NOT_FOUND, "no run has a number called '%s' in its metrics.jsonl",
                   arguments->options.y);
}

/* Neither end that is given may be 0 or less on a logarithmic axis. */
static bool is_drawable(const aq_plot_axis *axis, const aq_plot_range *range)
{
    return !axis->is_log || !(range->low <= 0 || range->high <= 0);
}

static int draw(const plot_arguments *arguments, aq_run_paths *runs, aq_run_plots **ret_plots,
                aq_error *error)
{
    if (is_standard_output(arguments) && arguments->json) {
        return aq_fail(error, AQ_E_INVALID, "either --json or --output -, as both print");
    }
    int rc = check_output(arguments->output, error);
    if (rc == 0 && (!is_drawable(&arguments->options.x_axis, &arguments->x_range) ||
                    !is_drawable(&arguments->options.y_axis, &arguments->y_range))) {
        rc = aq_fail(error, AQ_E_INVALID, "a logarithmic axis begins above 0");
    }
    rc = rc != 0 ? rc : aq_run_paths_add_named(runs, &arguments->runs, error);
    if (rc == 0) {
        rc = aq_run_plots_create((const char *const *)runs->paths, runs->count, &arguments->options,
                                 1, ret_plots, error);
    }
    rc = rc != 0 ? rc : check_points(arguments, aq_run_plots_at(*ret_plots, 0), error);
    return rc != 0 ? rc : write_picture(arguments, aq_run_plots_at(*ret_plots, 0), error);
}

/* ---- the result ----------------------------------------------------------------------------- */

/* Where a curve ends; NaN for one without points. */
static aq_plot_point end_of(const aq_run_curve *curve)
{
    return curve->count > 0 ? curve->points[curve->count - 1] : (aq_plot_point){NAN, NAN, NAN, NAN};
}

static json_t *curve_json(const aq_run_curve *curve)
{
    const aq_plot_point end = end_of(curve);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", aq_json_text(curve->name),
                     "runs", aq_json_count(curve->run_count), "ended_early",
                     aq_json_count(curve->ended), "x", aq_json_number(end.x), "mean",
                     aq_json_number(end.y), "low", aq_json_number(end.low), "high",
                     aq_json_number(end.high));
}

static json_t *make_json(const plot_arguments *arguments, const aq_run_plot *plot)
{
    json_t *curves = json_array(), *notes = json_array();
    for (size_t i = 0; i < plot->curve_count; i++) {
        aq_json_add(&curves, curve_json(&plot->curves[i]));
    }
    for (size_t i = 0; i < plot->note_count; i++) {
        aq_json_add(&notes, json_string(plot->notes[i]));
    }
    return json_pack("{s:o, s:s, s:s, s:o, s:o}", "path", aq_json_text(arguments->output), "x",
                     plot->x_label, "y", arguments->options.y, "curves", curves, "notes", notes);
}

static void print(const plot_arguments *arguments, const aq_run_plot *plot)
{
    char plain[AQ_GROUP_NAME_BYTES];
    (void)printf("%s: %s over %s\n", arguments->output, arguments->options.y, plot->x_label);
    for (size_t i = 0; i < plot->curve_count; i++) {
        const aq_run_curve *curve = &plot->curves[i];
        const aq_plot_point end = end_of(curve);
        const bool is_time = arguments->options.x == AQ_PLOT_X_TIME; /* 3.4 hours, say */
        aq_figure x, mean, low, high;
        (void)printf("  %s: %zu run%s, %s at %s", aq_plain_text(plain, sizeof(plain), curve->name),
                     curve->run_count, curve->run_count == 1 ? "" : "s",
                     aq_figure_number(&mean, end.y),
                     is_time ? aq_figure_number(&x, end.x) : aq_figure_count(&x, end.x));
        if (isfinite(end.high)) {
            (void)printf(", %s to %s", aq_figure_number(&low, end.low),
                         aq_figure_number(&high, end.high));
        }
        (void)printf("\n");
    }
    for (size_t i = 0; i < plot->note_count; i++) {
        (void)printf("  %s\n", plot->notes[i]);
    }
}

static void say_skipped(const char *words)
{
    char plain[AQ_ERROR_TEXT_MAX];
    (void)fprintf(stderr, "actorq plot: skipped: %s\n", aq_plain_text(plain, sizeof(plain), words));
}

static const plot_arguments defaults = {
    .output = "plot.svg",
    .options = {.y = "return", .level = NAN, .skip = say_skipped},
    .x_range = {NAN, NAN},
    .y_range = {NAN, NAN},
    .size = {0, 0, AQ_PLOT_SIDE_MIN, AQ_PLOT_SIDE_MAX, false},
};

static bool is_given(const aq_plot_range *range)
{
    return isfinite(range->low) || isfinite(range->high);
}

static int plot(void *given, aq_error *error)
{
    plot_arguments *arguments = given;
    aq_run_paths runs = {0};
    aq_run_plots *drawn = NULL;
    arguments->options.has_level = !isnan(arguments->options.level);
    arguments->options.width = arguments->size.width;
    arguments->options.height = arguments->size.height;
    arguments->options.x_axis.range = is_given(&arguments->x_range) ? &arguments->x_range : NULL;
    arguments->options.y_axis.range = is_given(&arguments->y_range) ? &arguments->y_range : NULL;
    int rc = draw(arguments, &runs, &drawn, error);
    if (rc == 0 && !is_standard_output(arguments)) {
        if (arguments->json) {
            rc = aq_print_json(make_json(arguments, aq_run_plots_at(drawn, 0)), arguments->json,
                               error);
        } else {
            print(arguments, aq_run_plots_at(drawn, 0));
        }
    }
    aq_run_plots_destroy(drawn);
    aq_run_paths_fini(&runs);
    return rc;
}

const aq_command aq_command_plot = {
    .name = "plot",
    .summary = "draw curves of runs, with bands",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = plot,
};

/*
 * Sweep coordinates: see sweep_coordinates.h.
 */
#include "cli/sweep/report/sweep_coordinates.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/plot/plot_svg.h"
#include "cli/text/figure_text.h"

enum { WIDTH = 760, HEIGHT = 440, LEFT = 70, RIGHT = 690, TOP = 60, BOTTOM = 350, LINES_MAX = 500 };
enum { COLOUR_BEST = 1, COLOUR_OTHERS = 7 };

typedef struct picture {
    const aq_sweep_study *study;
    aq_long_text *svg;
    double low, high; /* of scores */
} picture;

static double axis_x(const picture *its, size_t axis)
{
    return LEFT + (double)(RIGHT - LEFT) * (double)axis / (double)its->study->spec->space.count;
}

static void draw_axis(picture *its, size_t axis, const char *name, const char *low,
                      const char *high)
{
    const double x = axis_x(its, axis);
    const double name_y = BOTTOM + 44 + 18 * (double)(axis % 2); /* long names beside each other */
    aq_plot_svg_rule(its->svg, AQ_RULE_AXIS, (aq_plot_at){x, TOP}, (aq_plot_at){x, BOTTOM});
    aq_plot_svg_text(its->svg, AQ_LETTERS_TICK, AQ_ANCHOR_MIDDLE, false,
                     (aq_plot_at){x, BOTTOM + 18}, low);
    aq_plot_svg_text(its->svg, AQ_LETTERS_TICK, AQ_ANCHOR_MIDDLE, false, (aq_plot_at){x, TOP - 8},
                     high);
    aq_plot_svg_text(its->svg, AQ_LETTERS_LABEL, AQ_ANCHOR_MIDDLE, false, (aq_plot_at){x, name_y},
                     name);
}

static void draw_axes(picture *its)
{
    const aq_sweep_space *space = &its->study->spec->space;
    aq_figure low, high;
    for (size_t i = 0; i < space->count; i++) {
        char ends[2][AQ_SWEEP_VALUE_MAX];
        aq_sweep_dim_value(&space->dims[i], 0, ends[0]);
        aq_sweep_dim_value(&space->dims[i], 1, ends[1]);
        draw_axis(its, i, aq_setting_short_key(space->dims[i].key), ends[0], ends[1]);
    }
    draw_axis(its, space->count, aq_sweep_figure_name(its->study->spec->score),
              aq_figure_number(&low, its->low), aq_figure_number(&high, its->high));
}

static void draw_trial(picture *its, uint32_t stage, uint32_t colour)
{
    const aq_sweep_space *space = &its->study->spec->space;
    const double score = aq_sweep_stage_score(its->study, stage);
    aq_plot_at points[AQ_SWEEP_DIMS_MAX + 1];
    size_t count = 0;
    char name[96];
    aq_figure room;
    for (size_t i = 0; i < space->count; i++) {
        const char *value = its->study->stages[stage].point.values[i];
        if (value[0] != '\0') {
            points[count++] =
                (aq_plot_at){axis_x(its, i),
                             BOTTOM - (BOTTOM - TOP) * aq_sweep_dim_place(&space->dims[i], value)};
        }
    }
    const double share = its->high > its->low ? (score - its->low) / (its->high - its->low) : 0.5;
    points[count++] = (aq_plot_at){axis_x(its, space->count), BOTTOM - (BOTTOM - TOP) * share};
    (void)snprintf(name, sizeof(name), "trial %" PRIu32 ": %s", its->study->stages[stage].trial,
                   aq_figure_number(&room, score));
    aq_plot_svg_curve(its->svg, colour, name, points, count);
}

void aq_sweep_coordinates_draw(const aq_sweep_summary *summary, aq_long_text *out)
{
    picture its = {.study = summary->study, .svg = out, .low = INFINITY, .high = -INFINITY};
    size_t count = 0, shown = 0; /* what failed stands behind all others */
    while (count < summary->known_count &&
           isfinite(aq_sweep_stage_score(its.study, summary->known[count]))) {
        count++;
    }
    for (; shown < count && shown < LINES_MAX; shown++) {
        const double score = aq_sweep_stage_score(its.study, summary->known[shown]);
        its.low = fmin(its.low, score);
        its.high = fmax(its.high, score);
    }
    char title[64] = "Settings of all trials", head[128];
    if (shown < count) {
        (void)snprintf(title, sizeof(title), "Settings of the best %zu of %zu trials", shown,
                       count);
    }
    (void)snprintf(head, sizeof(head), "%s, the best tenth in colour", title);
    aq_plot_svg_begin(out, WIDTH, HEIGHT, title);
    aq_plot_svg_text(its.svg, AQ_LETTERS_TITLE, AQ_ANCHOR_START, false, (aq_plot_at){16, 24}, head);
    draw_axes(&its);
    for (size_t i = shown; i-- > 0;) { /* the best lie above the others */
        draw_trial(&its, summary->known[i], i * 10 < shown ? COLOUR_BEST : COLOUR_OTHERS);
    }
    aq_plot_svg_end(out);
}

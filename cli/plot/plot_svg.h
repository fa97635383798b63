/*
 * Plot SVG: the few strokes that charts are made of, as elements of an SVG picture. Places are in
 * px of the picture, y downwards. After a failure nothing more is drawn, and the end says why. One
 * owner.
 */
#ifndef AQ_CLI_PLOT_PLOT_SVG_H
#define AQ_CLI_PLOT_PLOT_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/text/long_text.h"

enum { AQ_PALETTE_COLOURS = 8, AQ_PLOT_TEXT_BYTES = 256 /* longer texts are cut */ };

enum aq_plot_anchor { AQ_ANCHOR_START, AQ_ANCHOR_MIDDLE, AQ_ANCHOR_END };

enum aq_plot_rule {
    AQ_RULE_GRID,
    AQ_RULE_AXIS,
    AQ_RULE_LEVEL, /* dotted */
};

enum aq_plot_lettering {
    AQ_LETTERS_TICK,  /* numbers at ticks, names in the legend: 12 px high */
    AQ_LETTERS_LABEL, /* of axes: 13 px */
    AQ_LETTERS_TITLE, /* 15 px, bold */
};

typedef struct aq_plot_at {
    double x, y;
} aq_plot_at;

/* A cut through a band: at x, from y = top down to y = bottom. */
typedef struct aq_plot_cut {
    double x, top, bottom;
} aq_plot_cut;

typedef struct aq_plot_box {
    double x, y, width, height;
} aq_plot_box;

/* Begins an <svg> element of that size; `title`, which may be NULL, is what it shows. */
void aq_plot_svg_begin(aq_long_text *svg, uint32_t width, uint32_t height, const char *title);

/* From here to its end, nothing is drawn outside of the box. */
void aq_plot_svg_clip(aq_long_text *svg, aq_plot_box box);
void aq_plot_svg_clip_end(aq_long_text *svg);

void aq_plot_svg_end(aq_long_text *svg);

/* Names say what something is to somebody who points at it; NULL: nothing. A colour beyond the
 * palette is one of it again, and dashed. */
void aq_plot_svg_rule(aq_long_text *svg, enum aq_plot_rule rule, aq_plot_at from, aq_plot_at to);
void aq_plot_svg_curve(aq_long_text *svg, uint32_t colour, const char *name,
                       const aq_plot_at *points, size_t count);
void aq_plot_svg_band(aq_long_text *svg, uint32_t colour, const aq_plot_cut *cuts, size_t count);
void aq_plot_svg_box(aq_long_text *svg, uint32_t colour, const char *name, aq_plot_box box);

/* `at` is on the baseline. `upwards`: turned to the left by a right angle. */
void aq_plot_svg_text(aq_long_text *svg, enum aq_plot_lettering lettering,
                      enum aq_plot_anchor anchor, bool upwards, aq_plot_at at, const char *text);

#endif

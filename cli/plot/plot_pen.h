/*
 * Plot pen: the few strokes that charts are made of, so that a chart is drawn once and becomes SVG
 * or pixels. Places are in px of the picture, y downwards. A pen that failed draws nothing more and
 * keeps why. One owner.
 */
#ifndef AQ_CLI_PLOT_PLOT_PEN_H
#define AQ_CLI_PLOT_PLOT_PEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

typedef struct aq_plot_pen aq_plot_pen;

/* Names say what something is to somebody who points at it; NULL: nothing. */
typedef struct aq_plot_pen_class {
    void (*rule)(aq_plot_pen *pen, enum aq_plot_rule rule, aq_plot_at from, aq_plot_at to);
    void (*curve)(aq_plot_pen *pen, uint32_t colour, const char *name, const aq_plot_at *points,
                  size_t count);
    void (*band)(aq_plot_pen *pen, uint32_t colour, const aq_plot_cut *cuts, size_t count);
    void (*box)(aq_plot_pen *pen, uint32_t colour, const char *name, aq_plot_box box);
    /* A thin line in the colour of text, such as an error bar's. */
    void (*whisker)(aq_plot_pen *pen, aq_plot_at from, aq_plot_at to);
    /* `at` is on the baseline. `upwards`: turned to the left by a right angle. */
    void (*text)(aq_plot_pen *pen, enum aq_plot_lettering lettering, enum aq_plot_anchor anchor,
                 bool upwards, aq_plot_at at, const char *text);
} aq_plot_pen_class;

struct aq_plot_pen {
    const aq_plot_pen_class *class;
    int rc; /* 0, or why nothing more is drawn */
};

/* True where the colour's lines are dashed, as the palette has been used up before it. */
static inline bool aq_plot_is_dashed(uint32_t colour)
{
    return (colour / AQ_PALETTE_COLOURS) % 2 == 1;
}

/* Height of the letters' line in px. */
static inline double aq_plot_letters_px(enum aq_plot_lettering lettering)
{
    return lettering == AQ_LETTERS_TITLE ? 15 : lettering == AQ_LETTERS_LABEL ? 13 : 12;
}

#endif

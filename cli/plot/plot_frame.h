/*
 * Plot frame: what lies around the data of a chart: title, legend, labels, the y axis with its
 * grid. Above each other, so that nothing lies over the data. One owner.
 */
#ifndef AQ_CLI_PLOT_PLOT_FRAME_H
#define AQ_CLI_PLOT_PLOT_FRAME_H

#include "cli/plot/plot_chart.h"
#include "cli/plot/plot_scale.h"
#include "cli/plot/plot_svg.h"

typedef struct aq_legend_entry {
    const char *name; /* NULL: left out */
    uint32_t colour;
} aq_legend_entry;

typedef struct aq_plot_frame {
    const char *title, *x_label, *y_label; /* NULL: none. All lent */
    aq_legend_entry legend[AQ_PLOT_SERIES_MAX];
    size_t legend_count;
    bool legend_boxes;                        /* swatches are boxes, not lines */
    aq_legend_entry notes[AQ_PLOT_NOTES_MAX]; /* under all; their colours don't matter */
    bool y_is_log;
    uint32_t width;   /* of the picture, px; 0: a default, which aq_plot_frame_lay puts in */
    uint32_t height;  /* likewise */
    double under_px;  /* room for what is written at the x axis */
    aq_plot_scale y;  /* aq_plot_frame_lay sets it, and area */
    aq_plot_box area; /* where the data are */
} aq_plot_frame;

/* Decides on the y axis, from `low` to `high`, and on the area. */
void aq_plot_frame_lay(aq_plot_frame *frame, double low, double high, bool whole_steps);

void aq_plot_frame_draw(const aq_plot_frame *frame, aq_long_text *svg);

/* Where a value lies, in px. */
double aq_plot_frame_y(const aq_plot_frame *frame, double value);

/* About how wide a text in the letters of ticks is, in px, whatever the font. */
double aq_plot_text_px(const char *text);

#endif

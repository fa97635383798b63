/*
 * Plot frame: see plot_frame.h.
 */
#include "cli/plot/plot_frame.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/base/plain_text.h"

enum {
    WIDTH = 760,
    HEIGHT = 440,
    MARGIN = 12,
    TITLE_PX = 24,
    LEGEND_ROW_PX = 19,
    SWATCH_PX = 20,
    SWATCH_GAP = 6,
    ENTRY_GAP = 18,
    LABEL_PX = 20,
    TICK_GAP = 7,
    TICK_EVERY_PX = 44, /* along the y axis, at least */
    AREA_MIN = 32,
    TICKS_MIN = 2,
    TICKS_MAX = 10
};

/* What a letter of a common font is wide, on average, as a share of its height; and that height. */
#define LETTER_SHARE 0.58
#define LETTER_PX    12

double aq_plot_text_px(const char *text)
{
    char plain[AQ_PLOT_TEXT_BYTES];
    const size_t columns = aq_plain_columns(aq_plain_text(plain, sizeof(plain), text));
    return LETTER_SHARE * LETTER_PX * (double)columns;
}

/* ---- the legend ----------------------------------------------------------------------------- */

static void draw_entry(const aq_plot_frame *frame, aq_long_text *svg, const aq_legend_entry *entry,
                       aq_plot_at at)
{
    if (frame->legend_boxes) {
        aq_plot_svg_box(svg, entry->colour, NULL,
                        (aq_plot_box){at.x + SWATCH_PX - 12, at.y - 10, 12, 12});
    } else {
        const aq_plot_at line[] = {{at.x, at.y - 4}, {at.x + SWATCH_PX, at.y - 4}};
        aq_plot_svg_curve(svg, entry->colour, NULL, line, 2);
    }
    aq_plot_svg_text(svg, AQ_LETTERS_TICK, AQ_ANCHOR_START, false,
                     (aq_plot_at){at.x + SWATCH_PX + SWATCH_GAP, at.y}, entry->name);
}

/* Rows that entries take, which begin with something `swatch_px` wide; into a picture they are
 * drawn, the first row with its baseline at `y`. An entry that is too long for what is left of a
 * row begins the next. */
static uint32_t walk_entries(const aq_plot_frame *frame, const aq_legend_entry *entries,
                             size_t count, double swatch_px, aq_long_text *svg, double y)
{
    double x = MARGIN;
    uint32_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        const aq_legend_entry *entry = &entries[i];
        if (entry->name == NULL) {
            continue;
        }
        const double width = swatch_px + aq_plot_text_px(entry->name);
        if (rows == 0 || x + width > frame->width - MARGIN) {
            rows++;
            x = MARGIN;
        }
        const aq_plot_at at = {x, y + (rows - 1) * LEGEND_ROW_PX};
        if (svg != NULL && swatch_px > 0) {
            draw_entry(frame, svg, entry, at);
        } else if (svg != NULL) {
            aq_plot_svg_text(svg, AQ_LETTERS_TICK, AQ_ANCHOR_START, false, at, entry->name);
        }
        x += width + ENTRY_GAP;
    }
    return rows;
}

static uint32_t walk_legend(const aq_plot_frame *frame, aq_long_text *svg, double y)
{
    return walk_entries(frame, frame->legend, frame->legend_count, SWATCH_PX + SWATCH_GAP, svg, y);
}

static double notes_px(const aq_plot_frame *frame)
{
    return LEGEND_ROW_PX * walk_entries(frame, frame->notes, AQ_PLOT_NOTES_MAX, 0, NULL, 0);
}

/* ---- the layout ----------------------------------------------------------------------------- */

static double widest_tick(const aq_plot_scale *scale)
{
    double widest = 0;
    aq_tick_label room;
    for (uint32_t i = 0; i < scale->tick_count; i++) {
        widest = fmax(widest, aq_plot_text_px(aq_plot_tick_label(scale, i, &room)));
    }
    return widest;
}

void aq_plot_frame_lay(aq_plot_frame *frame, double low, double high, bool whole_steps)
{
    frame->width = frame->width > 0 ? frame->width : WIDTH;
    frame->height = frame->height > 0 ? frame->height : HEIGHT;
    AQ_ASSERT(frame->width >= AQ_PLOT_SIDE_MIN && frame->width <= AQ_PLOT_SIDE_MAX);
    AQ_ASSERT(frame->height >= AQ_PLOT_SIDE_MIN && frame->height <= AQ_PLOT_SIDE_MAX);
    const double legend_px = LEGEND_ROW_PX * walk_legend(frame, NULL, 0);
    const double top = MARGIN + (frame->title ? TITLE_PX : 0) + legend_px + LABEL_PX / 2;
    const double bottom = frame->height - MARGIN - notes_px(frame) - frame->under_px -
                          (frame->x_label ? LABEL_PX : 0);
    frame->area.y = top;
    frame->area.height = fmax(AREA_MIN, bottom - top);

    const double ticks = fmax(TICKS_MIN, fmin(TICKS_MAX, frame->area.height / TICK_EVERY_PX));
    frame->y = frame->y_is_log ? aq_plot_scale_log(low, high, (uint32_t)ticks)
                               : aq_plot_scale_of(low, high, (uint32_t)ticks, whole_steps);
    frame->area.x = MARGIN + (frame->y_label ? LABEL_PX : 0) + widest_tick(&frame->y) + TICK_GAP;
    frame->area.width = fmax(AREA_MIN, frame->width - frame->area.x - 2 * MARGIN);
}

double aq_plot_frame_y(const aq_plot_frame *frame, double value)
{
    return frame->area.y + frame->area.height * (1 - aq_plot_scale_at(&frame->y, value));
}

/* ---- drawing -------------------------------------------------------------------------------- */

static void draw_labels(const aq_plot_frame *frame, aq_long_text *svg)
{
    const aq_plot_box *area = &frame->area;
    if (frame->title) {
        aq_plot_svg_text(svg, AQ_LETTERS_TITLE, AQ_ANCHOR_START, false,
                         (aq_plot_at){MARGIN, MARGIN + 14}, frame->title);
    }
    if (frame->x_label) {
        aq_plot_svg_text(
            svg, AQ_LETTERS_LABEL, AQ_ANCHOR_MIDDLE, false,
            (aq_plot_at){area->x + area->width / 2, frame->height - MARGIN - notes_px(frame)},
            frame->x_label);
    }
    if (frame->y_label) {
        aq_plot_svg_text(svg, AQ_LETTERS_LABEL, AQ_ANCHOR_MIDDLE, true,
                         (aq_plot_at){MARGIN + 12, area->y + area->height / 2}, frame->y_label);
    }
}

static void draw_y_axis(const aq_plot_frame *frame, aq_long_text *svg)
{
    const aq_plot_box *area = &frame->area;
    aq_tick_label room;
    for (uint32_t i = 0; i < frame->y.tick_count; i++) {
        const double y = aq_plot_frame_y(frame, aq_plot_tick(&frame->y, i));
        aq_plot_svg_rule(svg, AQ_RULE_GRID, (aq_plot_at){area->x, y},
                         (aq_plot_at){area->x + area->width, y});
        aq_plot_svg_text(svg, AQ_LETTERS_TICK, AQ_ANCHOR_END, false,
                         (aq_plot_at){area->x - TICK_GAP, y + 4},
                         aq_plot_tick_label(&frame->y, i, &room));
    }
}

void aq_plot_frame_draw(const aq_plot_frame *frame, aq_long_text *svg)
{
    draw_labels(frame, svg);
    (void)walk_legend(frame, svg, MARGIN + (frame->title ? TITLE_PX : 0) + 14);
    (void)walk_entries(frame, frame->notes, AQ_PLOT_NOTES_MAX, 0, svg,
                       frame->height - notes_px(frame) + 6);
    draw_y_axis(frame, svg);
}

/*
 * Plot scale: an axis. Its ticks are at round numbers, 1, 2 or 5 times a power of ten apart, and
 * their labels have as many digits as tell them apart. On a logarithmic axis they are at 1, 2 and 5
 * times powers of ten, or at powers alone. Pure functions, any thread.
 */
#ifndef AQ_CLI_PLOT_PLOT_SCALE_H
#define AQ_CLI_PLOT_PLOT_SCALE_H

#include <stdbool.h>
#include <stdint.h>

enum { AQ_TICKS_MAX = 32 };

#define AQ_PLOT_VALUE_MAX 1e300 /* larger ones, of either sign, count as this */

typedef struct aq_plot_scale {
    double low, high;    /* ends of the axis, low < high */
    int32_t mantissa;    /* 1, 2 or 5: ticks are mantissa * 10^exponent apart */
    int32_t exponent;    /* of ten */
    int64_t first;       /* the lowest tick is this times that */
    uint32_t tick_count; /* <= AQ_TICKS_MAX; 0 only where numbers are too close for any */
    bool is_log;         /* low > 0, and places are by the logarithm */
    int32_t stride;      /* every so many of 1, 2, 5, 10, 20 ... is a tick; 0: ticks as above */
} aq_plot_scale;

typedef struct aq_tick_label {
    char text[32];
} aq_tick_label;

/* An axis from `low` to `high`, which are finite, with about `ticks_wanted` (2 to 16) ticks and not
 * more. `whole_steps` moves its ends out to the next ticks; otherwise they stay, unless they are
 * one, which is given room on both sides. */
aq_plot_scale aq_plot_scale_of(double low, double high, uint32_t ticks_wanted, bool whole_steps);

/* The same for a logarithmic axis, whose ends stay; 0 < low. */
aq_plot_scale aq_plot_scale_log(double low, double high, uint32_t ticks_wanted);

/* Tick number `index` < tick_count. */
double aq_plot_tick(const aq_plot_scale *scale, uint32_t index);

/* "20k", "0.25", "-1.5M". Returns room->text. */
const char *aq_plot_tick_label(const aq_plot_scale *scale, uint32_t index, aq_tick_label *room);

/* Where `value` lies: 0 at low, 1 at high; NaN for what a logarithmic axis has no place for. */
double aq_plot_scale_at(const aq_plot_scale *scale, double value);

#endif

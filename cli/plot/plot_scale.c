/*
 * Plot scale: see plot_scale.h. Ticks are whole multiples of the step, made by one multiplication
 * or division by a power of ten, so that 3 * 0.1 is 0.3 and not what three additions give.
 */
#include "cli/plot/plot_scale.h"

#include <math.h>
#include <stdio.h>

#include "common/base/assert.h"

enum { DECIMALS_MAX = 6 };

/* A range below this share of its numbers can't be told apart in doubles with room for ticks. */
#define SHARE_MIN 1e-9

/* An end that is a tick but for rounding is that tick: this many steps. */
#define SLACK 1e-5

static double clamp(double value)
{
    return fmax(-AQ_PLOT_VALUE_MAX, fmin(AQ_PLOT_VALUE_MAX, value));
}

static double tick_of(const aq_plot_scale *scale, int64_t multiple)
{
    const double whole = (double)(multiple * scale->mantissa);
    return scale->exponent < 0 ? whole / pow(10, -scale->exponent)
                               : whole * pow(10, scale->exponent);
}

/* The least of 1, 2, 5 times a power of ten that is not below `step`. */
static void choose_step(aq_plot_scale *scale, double step)
{
    static const int32_t mantissas[] = {1, 2, 5};
    scale->exponent = (int32_t)floor(log10(step));
    for (int decade = 0; decade < 3; decade++, scale->exponent++) {
        for (int i = 0; i < 3; i++) {
            scale->mantissa = mantissas[i];
            if (tick_of(scale, 1) >= step * (1 - 1e-9)) {
                return;
            }
        }
    }
}

static void place_ticks(aq_plot_scale *scale, bool whole_steps)
{
    const double step = tick_of(scale, 1);
    const double low = scale->low / step, high = scale->high / step;
    const double first = whole_steps ? floor(low + SLACK) : ceil(low - SLACK);
    const double last = whole_steps ? ceil(high - SLACK) : floor(high + SLACK);
    scale->first = (int64_t)first;
    scale->tick_count = last >= first ? (uint32_t)fmin(last - first + 1, AQ_TICKS_MAX) : 0;
    if (whole_steps) {
        scale->low = fmin(scale->low, tick_of(scale, scale->first));
        scale->high =
            fmax(scale->high, tick_of(scale, scale->first + (int64_t)scale->tick_count - 1));
    }
}

aq_plot_scale aq_plot_scale_of(double low, double high, uint32_t ticks_wanted, bool whole_steps)
{
    AQ_ASSERT(isfinite(low));
    AQ_ASSERT(isfinite(high));
    AQ_ASSERT(low <= high);
    AQ_ASSERT(ticks_wanted >= 2);
    AQ_ASSERT(ticks_wanted <= 16);
    aq_plot_scale scale = {.low = clamp(low), .high = clamp(high)};
    const double size = fmax(fabs(scale.low), fabs(scale.high));
    if (scale.high - scale.low <= size * SHARE_MIN || size < 1 / AQ_PLOT_VALUE_MAX) {
        const double room = size < 1 / AQ_PLOT_VALUE_MAX ? 1 : 0.1 * size;
        scale.low -= room;
        scale.high += room;
    }
    choose_step(&scale, (scale.high - scale.low) / ticks_wanted);
    place_ticks(&scale, whole_steps);
    return scale;
}

/* ---- logarithmic axes ----------------------------------------------------------------------- */

/* Decades from which on powers of ten are ticks enough, and below which they are too few. */
#define DECADES_MANY 3.0
#define DECADES_FEW  1.0

/* Of 1, 2, 5, 10, 20 ...; below 1 for `place` below 0. */
static double log_tick(int64_t place)
{
    static const double mantissas[] = {1, 2, 5};
    const int64_t decade = place >= 0 ? place / 3 : -((2 - place) / 3);
    const double mantissa = mantissas[place - 3 * decade];
    return decade < 0 ? mantissa / pow(10, (double)-decade) : mantissa * pow(10, (double)decade);
}

static void place_log_ticks(aq_plot_scale *scale, double decades, uint32_t ticks_wanted)
{
    const int32_t powers = (int32_t)ceil(decades / ticks_wanted);
    scale->stride = decades < DECADES_MANY ? 1 : 3 * powers;
    const double before = 3 * floor(log10(scale->low)) / scale->stride;
    scale->first = (int64_t)floor(before);
    while (log_tick(scale->first * scale->stride) < scale->low * (1 - SLACK)) {
        scale->first++;
    }
    while (scale->tick_count < AQ_TICKS_MAX &&
           log_tick((scale->first + scale->tick_count) * scale->stride) <=
               scale->high * (1 + SLACK)) {
        scale->tick_count++;
    }
}

aq_plot_scale aq_plot_scale_log(double low, double high, uint32_t ticks_wanted)
{
    AQ_ASSERT(low > 0);
    AQ_ASSERT(low <= high);
    const bool is_one = high / low < 1 + SLACK;
    low = is_one ? low / 2 : low;
    high = is_one ? high * 2 : high;
    const double decades = log10(high) - log10(low);
    aq_plot_scale scale = {.low = low, .high = high};
    if (decades < DECADES_FEW) {
        scale = aq_plot_scale_of(low, high, ticks_wanted, false);
    } else {
        place_log_ticks(&scale, decades, ticks_wanted);
    }
    scale.is_log = true;
    return scale;
}

/* ---- ticks and places ----------------------------------------------------------------------- */

double aq_plot_tick(const aq_plot_scale *scale, uint32_t index)
{
    AQ_ASSERT(index < scale->tick_count);
    if (scale->stride > 0) {
        return log_tick((scale->first + index) * scale->stride);
    }
    return tick_of(scale, scale->first + (int64_t)index);
}

const char *aq_plot_tick_label(const aq_plot_scale *scale, uint32_t index, aq_tick_label *room)
{
    static const char *const suffixes[] = {"", "k", "M", "G", "T"};
    const double value = aq_plot_tick(scale, index);
    const bool alone = scale->stride > 0; /* such ticks differ too much for a unit in common */
    const double size = alone ? value
                              : fmax(fabs(aq_plot_tick(scale, 0)),
                                     fabs(aq_plot_tick(scale, scale->tick_count - 1)));
    /* From 10,000 on: "2000" is as short as "2k". */
    const int thousands = size < 1e4 ? 0 : (int)fmin(4, floor(log10(size) / 3));
    const int decimals = 3 * thousands - scale->exponent;
    if (value == 0) {
        (void)snprintf(room->text, sizeof(room->text), "0");
    } else if (alone && size < 1e16) {
        (void)snprintf(room->text, sizeof(room->text), "%.7g%s", value / pow(1000, thousands),
                       suffixes[thousands]);
    } else if (decimals > DECIMALS_MAX || size >= 1e16) {
        (void)snprintf(room->text, sizeof(room->text), "%.7g", value);
    } else {
        (void)snprintf(room->text, sizeof(room->text), "%.*f%s", decimals > 0 ? decimals : 0,
                       value / pow(1000, thousands), suffixes[thousands]);
    }
    return room->text;
}

double aq_plot_scale_at(const aq_plot_scale *scale, double value)
{
    if (scale->is_log) {
        return value > 0 ? log(value / scale->low) / log(scale->high / scale->low) : (double)NAN;
    }
    return (clamp(value) - scale->low) / (scale->high - scale->low);
}

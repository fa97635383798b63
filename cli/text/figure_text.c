/*
 * Figures: see figure_text.h.
 */
#include "cli/text/figure_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/base/parse.h"

static const char *none(aq_figure *room)
{
    room->text[0] = '-';
    room->text[1] = '\0';
    return room->text;
}

const char *aq_figure_count(aq_figure *room, double count)
{
    return isfinite(count) ? aq_text_count(room->text, sizeof(room->text), count) : none(room);
}

const char *aq_figure_bytes(aq_figure *room, double bytes)
{
    return isfinite(bytes) ? aq_text_bytes(room->text, sizeof(room->text), bytes) : none(room);
}

const char *aq_figure_duration(aq_figure *room, double seconds)
{
    if (!isfinite(seconds)) {
        return none(room);
    }
    if (seconds == 0) { /* no time needs no microseconds */
        (void)snprintf(room->text, sizeof(room->text), "0s");
        return room->text;
    }
    return aq_text_duration(room->text, sizeof(room->text), seconds);
}

/* The limits are where rounding would give "1e+03". */
const char *aq_figure_joules(aq_figure *room, double joules)
{
    if (!isfinite(joules)) {
        return none(room);
    }
    if (joules < 999.5) {
        (void)snprintf(room->text, sizeof(room->text), "%.3g J", joules);
    } else if (joules < 999.5e3) {
        (void)snprintf(room->text, sizeof(room->text), "%.3g kJ", joules / 1e3);
    } else {
        (void)snprintf(room->text, sizeof(room->text), "%.4g MJ", joules / 1e6);
    }
    return room->text;
}

const char *aq_figure_rate(aq_figure *room, double per_s)
{
    if (!(per_s > 0 && per_s < 10)) {
        return aq_figure_count(room, per_s);
    }
    (void)snprintf(room->text, sizeof(room->text), "%.2g", per_s);
    return room->text;
}

const char *aq_figure_number(aq_figure *room, double value)
{
    if (!isfinite(value)) {
        return none(room);
    }
    (void)snprintf(room->text, sizeof(room->text), "%.4g", value);
    return room->text;
}

const char *aq_figure_return(aq_figure *room, double value)
{
    if (!isfinite(value)) {
        return aq_figure_number(room, value);
    }
    return aq_text_return(room->text, sizeof(room->text), value, 1);
}

const char *aq_figure_share(aq_figure *room, double share)
{
    double percent = 100 * share;
    const bool is_nearly_all = percent >= 99.5 && percent < 100;
    if (!isfinite(percent)) {
        return none(room);
    }
    (void)snprintf(room->text, sizeof(room->text),
                   is_nearly_all                        ? "%.1f %%"
                   : percent != 0 && fabs(percent) < 10 ? "%.2g %%"
                                                        : "%.0f %%",
                   is_nearly_all ? fmin(percent, 99.9) : percent);
    return room->text;
}

const char *aq_figure_best(const aq_best_figure *best, char *out, size_t size)
{
    aq_figure mean, deviation;
    const bool is_one = best->episodes == 1; /* which deviates from nothing */
    const char *kind = best->is_fresh ? "" : " (screening)";
    (void)aq_figure_return(&mean, best->mean);
    if (best->episodes == 0) {
        (void)snprintf(out, size, "%s of version %" PRIu64 "%s", mean.text, best->version, kind);
        return out;
    }
    (void)snprintf(out, size, "%s%s%s over %" PRIu64 "%s episode%s of version %" PRIu64 "%s",
                   mean.text, is_one ? "" : " +- ",
                   is_one ? "" : aq_figure_return(&deviation, best->std), best->episodes,
                   best->is_fresh ? " fresh" : "", is_one ? "" : "s", best->version, kind);
    return out;
}

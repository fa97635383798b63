/*
 * Spread: see spread.h.
 */
#include "cli/watch/spread.h"

aq_spread aq_spread_of(const uint64_t *counts, size_t count)
{
    aq_spread spread = {.total = 0};
    for (size_t i = 0; i < count; i++) {
        const size_t bucket = i < AQ_SPREAD_BUCKETS ? i : AQ_SPREAD_BUCKETS - 1;
        spread.counts[bucket] += counts[i];
        spread.total += counts[i];
    }
    return spread;
}

uint64_t aq_spread_under(const aq_spread *spread, double share)
{
    uint64_t below = 0;
    if (spread->total == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < AQ_SPREAD_BUCKETS - 1; i++) {
        below += spread->counts[i];
        if ((double)below >= share * (double)spread->total) {
            return UINT64_C(1) << i;
        }
    }
    return UINT64_MAX;
}

const char *aq_spread_bars(const aq_spread *spread, char *out)
{
    static const char shades[] = " .:-=+*#";
    const uint64_t darkest = sizeof(shades) - 2;
    uint64_t most = 1;
    size_t used = 0;
    for (size_t i = 0; i < AQ_SPREAD_BUCKETS; i++) {
        most = spread->counts[i] > most ? spread->counts[i] : most;
        used = spread->counts[i] > 0 ? i + 1 : used;
    }
    for (size_t i = 0; i < used; i++) {
        const double height = (double)spread->counts[i] / (double)most * (double)darkest;
        const uint64_t shade = (uint64_t)(height + 0.5);
        out[i] = shades[spread->counts[i] > 0 && shade == 0 ? 1 : shade];
    }
    out[used] = '\0';
    return out;
}

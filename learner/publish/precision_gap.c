/*
 * Precision gap: see precision_gap.h.
 */
#include "learner/publish/precision_gap.h"

#include <math.h>

/* Of the normal distribution, with 2.5 % beyond it on each side. */
#define QUANTILE 1.959963984540054

void aq_precision_gap_add(aq_precision_gap *gap, const aq_version_gap *version)
{
    const double before = version->mean - gap->mean;
    gap->versions++;
    gap->episodes += version->episodes;
    gap->mean += before / (double)gap->versions;
    gap->squares += before * (version->mean - gap->mean);
    gap->latest = *version;
}

static double half_width(double variance, double count)
{
    return count > 1 ? QUANTILE * sqrt(variance / count) : (double)NAN;
}

double aq_precision_gap_ci95(const aq_precision_gap *gap)
{
    const double count = (double)gap->versions;
    return half_width(gap->squares / (count - 1), count);
}

double aq_version_gap_ci95(const aq_version_gap *version)
{
    return half_width(version->std * version->std, version->episodes);
}

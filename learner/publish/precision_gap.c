/*
 * Precision gap: see precision_gap.h.
 */
#include "learner/publish/precision_gap.h"

#include <math.h>

#include "common/base/student_t.h"

void aq_precision_gap_add(aq_precision_gap *gap, const aq_version_gap *version)
{
    const double before = version->mean - gap->mean;
    gap->versions++;
    gap->episodes += version->episodes;
    gap->mean += before / (double)gap->versions;
    gap->squares += before * (version->mean - gap->mean);
    gap->latest_version = version->version;
    gap->latest_mean = version->mean;
}

static double half_width(double variance, double count)
{
    return count > 1 ? aq_student_t_quantile(0.975, count - 1) * sqrt(variance / count)
                     : (double)NAN;
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

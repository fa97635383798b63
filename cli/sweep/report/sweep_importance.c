/*
 * Sweep importance: see sweep_importance.h.
 *
 * A dimension's places fall into bins, or into its choices. With n trials in k bins,
 *
 *   share = (between - (k - 1) within / (n - k)) / total
 *
 * of sums of squares of ranks: epsilon squared (T. Kelley, 1935), which is about 0 for a setting
 * that does nothing. Ranks, since a score that diverged would be all of the variance. Trials that
 * are alike share their mean rank: which of them came first says nothing of their settings.
 */
#include "cli/sweep/report/sweep_importance.h"

#include <math.h>

#include "cli/sweep/study/sweep_order.h"
#include "common/base/memory.h"

enum { BINS = 5, TRIALS_MIN = 8 };

static size_t bin_of(const aq_sweep_dim *dim, const char *value)
{
    if (dim->scale == AQ_SWEEP_CHOICE) {
        return aq_sweep_dim_choice(dim, value);
    }
    const size_t bin = (size_t)(aq_sweep_dim_place(dim, value) * BINS);
    return bin < BINS ? bin : BINS - 1;
}

static void find_ranks(const aq_sweep_study *study, const uint32_t *stages, size_t count,
                       double *ranks)
{
    for (size_t first = 0, end = 0; first < count; first = end) {
        while (end < count && aq_sweep_are_alike(study, stages[first], stages[end])) {
            end++;
        }
        for (size_t i = first; i < end; i++) {
            ranks[i] = (double)(first + end - 1) / 2;
        }
    }
}

static double share_of(const aq_sweep_study *study, size_t dim, const uint32_t *stages,
                       const double *ranks, size_t count)
{
    double sums[AQ_SWEEP_CHOICES_MAX] = {0}, counts[AQ_SWEEP_CHOICES_MAX] = {0};
    double n = 0, sum = 0, squares = 0, between = 0, bins = 0;
    for (size_t i = 0; i < count; i++) {
        const char *value = study->stages[stages[i]].point.values[dim];
        if (value[0] == '\0') {
            continue;
        }
        const size_t bin = bin_of(&study->spec->space.dims[dim], value);
        sums[bin] += ranks[i];
        counts[bin]++;
        n++;
        sum += ranks[i];
        squares += ranks[i] * ranks[i];
    }
    for (size_t i = 0; i < AQ_SWEEP_CHOICES_MAX; i++) {
        between += counts[i] > 0 ? sums[i] * sums[i] / counts[i] : 0;
        bins += counts[i] > 0;
    }
    if (n < TRIALS_MIN || n <= bins) {
        return NAN;
    }
    between -= sum * sum / n;
    const double total = squares - sum * sum / n;
    if (total <= 0) { /* all alike */
        return NAN;
    }
    return fmax(0, (between - (bins - 1) * (total - between) / (n - bins)) / total);
}

int aq_sweep_importance(const aq_sweep_study *study, double ret_shares[AQ_SWEEP_DIMS_MAX])
{
    uint32_t *stages = aq_alloc(study->stage_count + 1, sizeof(*stages));
    double *ranks = aq_alloc(study->stage_count + 1, sizeof(*ranks));
    size_t count = 0;
    int rc = stages != NULL && ranks != NULL ? 0 : AQ_E_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < study->stage_count; i++) {
        if (study->stages[i].kind == AQ_SWEEP_TUNE && study->stages[i].rung == 0 &&
            aq_sweep_stage_is_over(study, i)) {
            stages[count++] = i;
        }
    }
    if (rc == 0) {
        rc = aq_sweep_sort(study, stages, count);
    }
    if (rc == 0) {
        find_ranks(study, stages, count, ranks);
        for (size_t i = 0; i < study->spec->space.count; i++) {
            ret_shares[i] = share_of(study, i, stages, ranks, count);
        }
    }
    aq_free(stages);
    aq_free(ranks);
    return rc;
}

/*
 * Ranking: see ranking.h.
 */
#include "learner/run/ranking.h"

#include <math.h>

bool aq_ranking_leads(const aq_evaluation_result *best, const aq_evaluation_result *screening)
{
    return !best->confirmed || screening->return_mean > best->return_mean;
}

/* n = n1 + n2, mean = m1 + d n2 / n with d = m2 - m1, and the squares around the means add up with
 * d^2 n1 n2 / n. What an older checkpoint brought is of 0 episodes: nobody knows of how many. */
static void add(aq_evaluation_result *best, const aq_evaluation_result *more)
{
    aq_evaluation_result sum = *more;
    const double n1 = best->episodes, n2 = more->episodes, n = n1 + n2;
    if (n1 > 0) {
        const double d = more->return_mean - best->return_mean;
        const double squares = (n1 - 1) * best->return_std * best->return_std +
                               (n2 - 1) * more->return_std * more->return_std + d * d * n1 * n2 / n;
        sum.episodes = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
        sum.return_mean = best->return_mean + d * n2 / n;
        sum.return_std = sqrt(squares / (n - 1));
    }
    *best = sum;
}

bool aq_ranking_take(aq_evaluation_result *best, const aq_evaluation_result *result, bool solves)
{
    if (result->version == best->version && result->confirmed && best->confirmed) {
        add(best, result);
        return true;
    }
    bool better = result->return_mean > best->return_mean;
    if (best->version == 0 || solves) {
        better = true;
    } else if (result->confirmed != best->confirmed) {
        better = result->confirmed;
    }
    if (better) {
        *best = *result;
    }
    return better;
}

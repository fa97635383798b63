/*
 * A ring that is never read in order.
 */
#include "actor/core/episode_returns.h"

#include <math.h>
#include <stddef.h>

void aq_episode_returns_add(aq_episode_returns *returns, double episode_return)
{
    returns->latest[returns->episodes++ % AQ_RETURNS_KEPT] = episode_return;
}

double aq_episode_returns_mean(const aq_episode_returns *returns)
{
    const uint64_t episodes = returns->episodes;
    const size_t kept = episodes < AQ_RETURNS_KEPT ? (size_t)episodes : AQ_RETURNS_KEPT;
    double sum = 0.0;
    for (size_t i = 0; i < kept; i++) {
        sum += returns->latest[i];
    }
    return kept > 0 ? sum / (double)kept : (double)NAN;
}

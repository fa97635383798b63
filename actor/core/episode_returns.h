/*
 * Episode returns: how many episodes there were, and the mean return of the latest.
 *
 * Plain data, no locking.
 */
#ifndef AQ_ACTOR_CORE_EPISODE_RETURNS_H
#define AQ_ACTOR_CORE_EPISODE_RETURNS_H

#include <stdint.h>

enum { AQ_RETURNS_KEPT = 100 };

typedef struct aq_episode_returns {
    uint64_t episodes;
    double latest[AQ_RETURNS_KEPT];
} aq_episode_returns;

void aq_episode_returns_add(aq_episode_returns *returns, double episode_return);

/* Of those that are kept; NaN: none. */
double aq_episode_returns_mean(const aq_episode_returns *returns);

#endif

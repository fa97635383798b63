/*
 * Back-off: how long to wait before something that failed is tried again.
 */
#ifndef AQ_ACTOR_CORE_BACK_OFF_H
#define AQ_ACTOR_CORE_BACK_OFF_H

#include <stdint.h>

#include "common/base/rng.h"

/* min_ms, doubled with every failure in a row, up to max_ms. Half of it is drawn, so that many
 * actors that lost the same peer do not come back in step. `failures` before this one. */
int64_t aq_back_off_ns(aq_rng *jitter, uint32_t min_ms, uint32_t max_ms, uint32_t failures);

#endif

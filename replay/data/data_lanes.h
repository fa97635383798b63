/*
 * Lanes: something to remember of each lane of experience, found by whose it is: actor, incarnation
 * and environment. In the order in which they came. One owner, no locking.
 */
#ifndef AQ_REPLAY_DATA_DATA_LANES_H
#define AQ_REPLAY_DATA_DATA_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { AQ_DATA_LANES_MAX = 1 << 20 };

/* A lane that stands for all of an actor. */
#define AQ_DATA_LANE_ALL UINT32_MAX

typedef struct aq_data_lane {
    uint64_t actor, incarnation;
    uint32_t lane;
    void *memory; /* zeroed at first; stays where it is */
} aq_data_lane;

typedef struct aq_data_lanes aq_data_lanes;

int aq_data_lanes_create(size_t memory_bytes, aq_data_lanes **ret_lanes) AQ_MUST_USE;
void aq_data_lanes_destroy(aq_data_lanes *lanes); /* NULL is fine */

/* The lane, made if it isn't there. AQ_E_FULL, AQ_E_NOMEM. */
int aq_data_lanes_find(aq_data_lanes *lanes, uint64_t actor, uint64_t incarnation, uint32_t lane,
                       aq_data_lane **ret_lane) AQ_MUST_USE;

size_t aq_data_lanes_count(const aq_data_lanes *lanes);
aq_data_lane *aq_data_lanes_at(const aq_data_lanes *lanes, size_t index);

#endif

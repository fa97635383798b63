/*
 * Planted faults in experience: what a shard with a fault would make of a message.
 */
#ifndef AQ_TESTS_SIM_SIM_PLANT_H
#define AQ_TESTS_SIM_SIM_PLANT_H

#include <stdbool.h>

#include "common/base/buffer.h"
#include "tests/sim/sim_ledger.h"
#include "tests/sim/sim_scenario.h"

/* Appends the frame that the fault makes of this one. False when it makes nothing of it. */
bool sim_plant_frame(enum sim_plant plant, const sim_ledger *ledger, const uint8_t *frame,
                     size_t size, aq_buffer *out);

/* Whether the planted frame is handed in after the true one, or else instead of it. */
bool sim_plant_comes_after(enum sim_plant plant);

#endif

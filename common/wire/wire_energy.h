/*
 * Energy on the wire: what a process says of itself in its heartbeats, and what of that can be
 * believed.
 */
#ifndef AQ_COMMON_WIRE_WIRE_ENERGY_H
#define AQ_COMMON_WIRE_WIRE_ENERGY_H

#include "common/base/error.h"
#include "common/energy/energy_meter.h"
#include "proto/membership.pb-c.h"

/* A message and its texts. Points into itself: don't move it. */
typedef struct aq_wire_energy {
    Actorq__V1__EnergyStats message;
    aq_energy_reading reading;
} aq_wire_energy;

void aq_wire_energy_to(const aq_energy_reading *reading, aq_wire_energy *ret_energy);

/* Names that are too long are cut, and one with letters that a line or a JSON text does not want
 * becomes "". AQ_E_INVALID for numbers that can't be: not finite, below 0, or parts that are more
 * than the whole. A source that is not known is none. */
int aq_wire_energy_from(const Actorq__V1__EnergyStats *message,
                        aq_energy_reading *ret_reading) AQ_MUST_USE;

#endif

/*
 * Energy counters through perf_event_open(2): the events energy-pkg and energy-ram of the unit
 * `power`. They count all that runs on a socket, and are opened once for each of its sockets.
 */
#ifndef AQ_COMMON_ENERGY_ENERGY_PERF_H
#define AQ_COMMON_ENERGY_ENERGY_PERF_H

#include "common/base/error.h"
#include "common/energy/energy_counters.h"

/* Opens a counter of unit `type` on one processor: a file from which 8 bytes are read, or -1 and
 * errno. */
typedef int (*aq_energy_perf_open_fn)(uint32_t type, uint64_t config, int cpu);

/* The system's own. */
int aq_energy_perf_open_event(uint32_t type, uint64_t config, int cpu) AQ_MUST_USE;

/* `dir` is /sys/bus/event_source/devices. AQ_E_NOT_FOUND when there is no such unit, AQ_E_IO when
 * it can't be opened by this user, AQ_E_CORRUPT when its description is unknown. */
int aq_energy_perf_open(const char *dir, aq_energy_perf_open_fn open_event,
                        aq_energy_counters *ret_counters, aq_error *error) AQ_MUST_USE;

#endif

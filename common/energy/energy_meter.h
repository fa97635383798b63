/*
 * Energy meter of one process: its processor time and, where the machine's counters can be read,
 * its share of what the machine took. A joule that a machine takes within an interval is shared
 * evenly by its processor seconds, busy and idle ones: a process gets what its own weigh, and what
 * the idle ones weigh is told apart. So the shares of all processes and the idle share add up to
 * what was measured.
 *
 * Who multiplies processor time by a model instead is power_model.h. One thread at a time; reading
 * takes some system calls, and no memory.
 */
#ifndef AQ_COMMON_ENERGY_ENERGY_METER_H
#define AQ_COMMON_ENERGY_ENERGY_METER_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/energy/energy_perf.h"

typedef struct aq_energy_meter aq_energy_meter;

/* Where the facts are; NULL members mean the system's own places. */
typedef struct aq_energy_places {
    const char *powercap_dir;
    const char *events_dir;
    const char *proc_dir;
    aq_energy_perf_open_fn open_event;
} aq_energy_places;

enum { AQ_ENERGY_SOURCE_MAX = 8, AQ_PROCESSOR_NAME_MAX = 64 };

/* Totals since the meter was made; processor time since the process started. They never fall, but
 * for joules when their counters can be read no more: then source is "". */
typedef struct aq_energy_reading {
    uint64_t machine; /* the same for all processes under one kernel, in containers too; not 0 */
    char processor[AQ_PROCESSOR_NAME_MAX];
    uint32_t cpus;                     /* logical processors that are online, at least 1 */
    char source[AQ_ENERGY_SOURCE_MAX]; /* of joules: "rapl", "perf", or "" and they mean nothing */
    double wall_s;
    double cpu_s;
    double measured_j; /* this process's share of machine_j */
    double machine_j;  /* packages, and dram where it is counted */
    double dram_j;     /* of machine_j */
    double idle_j;     /* of machine_j: what idle processors weigh */
} aq_energy_reading;

/* `places` may be NULL. That nothing can be measured is no failure: see aq_energy_meter_why_not. */
int aq_energy_meter_create(const aq_energy_places *places, int64_t now_ns,
                           aq_energy_meter **ret_meter) AQ_MUST_USE;
void aq_energy_meter_destroy(aq_energy_meter *meter); /* NULL is fine */

/* Processor time is of this moment; counters are read at most five times a second, as a power over
 * less time than they are kept up to date in would be noise. A counter that fails ends measuring
 * for good: a total with a hole would look like a saving. */
void aq_energy_meter_read(aq_energy_meter *meter, int64_t now_ns, aq_energy_reading *ret_reading);

/* Takes away what an earlier reading of the same meter had. */
void aq_energy_reading_since(aq_energy_reading *reading, const aq_energy_reading *before);

/* Why nothing is measured, for people; "" when something is. */
const char *aq_energy_meter_why_not(const aq_energy_meter *meter);

#endif

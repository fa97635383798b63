/*
 * Energy ledger: what a run has taken, by role, from what each process says of itself. A core: it
 * is told the time and the readings.
 *
 * Two sums are kept side by side and never mixed: joules that were measured, and joules of the
 * power model, which needs processor time alone and so is there for everybody. The measured sum
 * counts only when every process of the run measures, and by one source; else the model's does.
 *
 * Readings are totals, so one that is lost costs nothing, and one that comes twice counts once. A
 * process that is lost stays known, in case it comes back; one that left does not come back.
 *
 * What a machine takes as a whole is told by each process on it. Time is laid out on a line for
 * each machine, and whoever tells first about a stretch of it counts for that stretch. Beyond a
 * maximum the machine that was not heard of for the longest makes room, and what it took goes to
 * one row of all such.
 */
#ifndef AQ_LEARNER_METRICS_ENERGY_LEDGER_H
#define AQ_LEARNER_METRICS_ENERGY_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_names.h"
#include "common/energy/energy_meter.h"
#include "common/energy/power_model.h"

enum { AQ_ENERGY_PROCESSES_MAX = 16384, AQ_ENERGY_MACHINES_MAX = 4096 };

typedef struct aq_energy_role_sum {
    double cpu_s;
    double model_j;
    double measured_j;
} aq_energy_role_sum;

typedef struct aq_energy_machine {
    uint64_t machine; /* 0: several that made room */
    char processor[AQ_PROCESSOR_NAME_MAX];
    aq_power_model power;
    double wall_s;       /* that the run was on it */
    double model_idle_j; /* in that time */
    double machine_j;    /* measured; 0 where nothing is */
    double dram_j;       /* of machine_j */
    double idle_j;       /* of machine_j */
    bool is_covered;     /* told about, by the clock of now_ns: */
    double covered_from_s, covered_until_s;
} aq_energy_machine;

/* What a process said last. */
typedef struct aq_energy_process {
    uint64_t incarnation;
    uint32_t role;
    aq_energy_reading last;
    int64_t heard_ns;
} aq_energy_process;

typedef struct aq_energy_ledger {
    double tdp_w; /* of the setting; 0: by the processor's name */
    aq_energy_role_sum roles[AQ_ENERGY_ROLES];
    char source[AQ_ENERGY_SOURCE_MAX]; /* of everything measured so far */
    bool is_unmeasured;                /* some process measured nothing, or by another source */
    aq_energy_machine *machines;
    size_t machine_count, machine_capacity;
    aq_energy_process *processes;
    size_t process_count, process_capacity;
} aq_energy_ledger;

/* One source for all of it. */
typedef struct aq_energy_totals {
    const char *source; /* "rapl", "perf" or "model"; static storage */
    double cpu_s;
    double energy_j; /* of all roles */
    double idle_j;   /* of the machines, beside it */
    double role_j[AQ_ENERGY_ROLES];
} aq_energy_totals;

void aq_energy_ledger_init(aq_energy_ledger *ledger, double tdp_w);
void aq_energy_ledger_fini(aq_energy_ledger *ledger); /* a zeroed one is fine */

/* `role` is below AQ_ENERGY_ROLES. Out of memory nothing changes, and the next reading makes up for
 * it. A total that fell is not believed, and counts again once it has grown past what it was. */
void aq_energy_ledger_told(aq_energy_ledger *ledger, int64_t now_ns, uint64_t incarnation,
                           uint32_t role, const aq_energy_reading *reading);

/* The process was with another run meanwhile, and begins its totals anew. */
void aq_energy_ledger_anew(aq_energy_ledger *ledger, uint64_t incarnation);

/* It has told its last totals, and is forgotten: what it took stays in the sums. */
void aq_energy_ledger_left(aq_energy_ledger *ledger, uint64_t incarnation);

aq_energy_totals aq_energy_ledger_totals(const aq_energy_ledger *ledger);

/* For taking up a run: adds a row as it was. AQ_E_NOMEM, AQ_E_FULL. */
int aq_energy_ledger_add_machine(aq_energy_ledger *ledger,
                                 const aq_energy_machine *machine) AQ_MUST_USE;
int aq_energy_ledger_add_process(aq_energy_ledger *ledger,
                                 const aq_energy_process *process) AQ_MUST_USE;

#endif

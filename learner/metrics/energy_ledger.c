/*
 * Energy ledger: see energy_ledger.h. Rows stand in arrays and are searched one by one, as the
 * coordinator's are.
 */
#include "learner/metrics/energy_ledger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/growing.h"
#include "common/base/memory.h"

void aq_energy_ledger_init(aq_energy_ledger *ledger, double tdp_w)
{
    *ledger = (aq_energy_ledger){.tdp_w = tdp_w};
}

void aq_energy_ledger_fini(aq_energy_ledger *ledger)
{
    aq_free(ledger->machines);
    aq_free(ledger->processes);
    *ledger = (aq_energy_ledger){0};
}

/* No machine has this identity. */
enum { SEVERAL = 0 };

/* ---- rows ----------------------------------------------------------------------------------- */

int aq_energy_ledger_add_machine(aq_energy_ledger *ledger, const aq_energy_machine *machine)
{
    int rc = aq_grow(&ledger->machines, &ledger->machine_capacity, ledger->machine_count,
                     sizeof(*machine), AQ_ENERGY_MACHINES_MAX);
    if (rc == 0) {
        ledger->machines[ledger->machine_count++] = *machine;
    }
    return rc;
}

int aq_energy_ledger_add_process(aq_energy_ledger *ledger, const aq_energy_process *process)
{
    int rc = aq_grow(&ledger->processes, &ledger->process_capacity, ledger->process_count,
                     sizeof(*process), AQ_ENERGY_PROCESSES_MAX);
    if (rc == 0) {
        ledger->processes[ledger->process_count++] = *process;
    }
    return rc;
}

static aq_energy_machine *find_machine(const aq_energy_ledger *ledger, uint64_t machine)
{
    for (size_t i = 0; i < ledger->machine_count; i++) {
        if (ledger->machines[i].machine == machine) {
            return &ledger->machines[i];
        }
    }
    return NULL;
}

static aq_energy_machine *oldest_machine(const aq_energy_ledger *ledger)
{
    aq_energy_machine *oldest = &ledger->machines[0];
    for (size_t i = 1; i < ledger->machine_count; i++) {
        if (ledger->machines[i].covered_until_s < oldest->covered_until_s) {
            oldest = &ledger->machines[i];
        }
    }
    return oldest;
}

/* The first time two make room: one for the row of them all. */
static aq_energy_machine *make_room(aq_energy_ledger *ledger)
{
    aq_energy_machine *several = find_machine(ledger, SEVERAL);
    if (several == NULL) {
        several = oldest_machine(ledger);
        several->machine = SEVERAL;
        (void)snprintf(several->processor, sizeof(several->processor), "several");
    }
    several->covered_until_s = INFINITY; /* it stays */
    aq_energy_machine *oldest = oldest_machine(ledger);
    several->wall_s += oldest->wall_s;
    several->model_idle_j += oldest->model_idle_j;
    several->machine_j += oldest->machine_j;
    several->dram_j += oldest->dram_j;
    several->idle_j += oldest->idle_j;
    return oldest;
}

static aq_energy_machine *find_or_add_machine(aq_energy_ledger *ledger,
                                              const aq_energy_reading *reading)
{
    aq_energy_machine *found = find_machine(ledger, reading->machine);
    if (found) {
        return found;
    }
    aq_energy_machine machine = {
        .machine = reading->machine,
        .power = aq_power_model_of(reading->processor, reading->cpus, ledger->tdp_w),
    };
    memcpy(machine.processor, reading->processor, sizeof(machine.processor));
    int rc = aq_energy_ledger_add_machine(ledger, &machine);
    if (rc == 0) {
        return &ledger->machines[ledger->machine_count - 1];
    }
    if (rc != AQ_E_FULL) {
        return NULL;
    }
    found = make_room(ledger);
    *found = machine;
    return found;
}

static aq_energy_process *find_process(const aq_energy_ledger *ledger, uint64_t incarnation)
{
    for (size_t i = 0; i < ledger->process_count; i++) {
        if (ledger->processes[i].incarnation == incarnation) {
            return &ledger->processes[i];
        }
    }
    return NULL;
}

/* When there are too many, the one that was not heard of for the longest makes room. */
static aq_energy_process *find_or_add_process(aq_energy_ledger *ledger, uint64_t incarnation,
                                              uint32_t role)
{
    aq_energy_process *found = find_process(ledger, incarnation);
    if (found) {
        return found;
    }
    aq_energy_process process = {.incarnation = incarnation, .role = role};
    int rc = aq_energy_ledger_add_process(ledger, &process);
    if (rc == 0) {
        return &ledger->processes[ledger->process_count - 1];
    }
    if (rc != AQ_E_FULL) {
        return NULL;
    }
    aq_energy_process *oldest = &ledger->processes[0];
    for (size_t i = 1; i < ledger->process_count; i++) {
        if (ledger->processes[i].heard_ns < oldest->heard_ns) {
            oldest = &ledger->processes[i];
        }
    }
    *oldest = process;
    return oldest;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static double grown(double now, double before)
{
    return fmax(0, now - before);
}

static void take_source(aq_energy_ledger *ledger, const char *source)
{
    if (source[0] == '\0') {
        ledger->is_unmeasured = true;
    } else if (ledger->source[0] == '\0') {
        memcpy(ledger->source, source, sizeof(ledger->source));
    } else if (strcmp(ledger->source, source) != 0) {
        ledger->is_unmeasured = true;
    }
}

/* The part of what happened on the machine since the process's last reading that nobody has told
 * about yet: it may lie before what others told as well, as when a learner was away. */
static void cover(aq_energy_machine *machine, int64_t now_ns, const aq_energy_reading *reading,
                  const aq_energy_reading *last)
{
    double told_s = grown(reading->wall_s, last->wall_s);
    double now_s = aq_ns_to_s(now_ns), begin_s = now_s - told_s;
    double new_s = told_s;
    if (machine->is_covered) {
        new_s = fmin(told_s, grown(machine->covered_from_s, begin_s) +
                                 grown(now_s, machine->covered_until_s));
    }
    if (!(new_s > 0)) {
        return;
    }
    double part = new_s / told_s;
    machine->wall_s += new_s;
    machine->model_idle_j += aq_power_model_idle_j(&machine->power, new_s);
    if (reading->source[0] != '\0') {
        machine->machine_j += part * grown(reading->machine_j, last->machine_j);
        machine->dram_j += part * grown(reading->dram_j, last->dram_j);
        machine->idle_j += part * grown(reading->idle_j, last->idle_j);
    }
    machine->covered_from_s =
        machine->is_covered ? fmin(machine->covered_from_s, begin_s) : begin_s;
    machine->covered_until_s = now_s;
    machine->is_covered = true;
}

void aq_energy_ledger_told(aq_energy_ledger *ledger, int64_t now_ns, uint64_t incarnation,
                           uint32_t role, const aq_energy_reading *reading)
{
    AQ_ASSERT(role < AQ_ENERGY_ROLES);
    aq_energy_machine *machine = find_or_add_machine(ledger, reading);
    aq_energy_process *process = machine ? find_or_add_process(ledger, incarnation, role) : NULL;
    if (!process) {
        return;
    }
    aq_energy_reading *last = &process->last;
    aq_energy_role_sum *sum = &ledger->roles[process->role];
    double cpu_s = grown(reading->cpu_s, last->cpu_s);
    take_source(ledger, reading->source);
    sum->cpu_s += cpu_s;
    sum->model_j += aq_power_model_busy_j(&machine->power, cpu_s);
    sum->measured_j += grown(reading->measured_j, last->measured_j);
    cover(machine, now_ns, reading, last);

    aq_energy_reading most = *reading;
    most.cpu_s = fmax(reading->cpu_s, last->cpu_s);
    most.wall_s = fmax(reading->wall_s, last->wall_s);
    most.measured_j = fmax(reading->measured_j, last->measured_j);
    most.machine_j = fmax(reading->machine_j, last->machine_j);
    most.dram_j = fmax(reading->dram_j, last->dram_j);
    most.idle_j = fmax(reading->idle_j, last->idle_j);
    *last = most;
    process->heard_ns = now_ns;
}

void aq_energy_ledger_anew(aq_energy_ledger *ledger, uint64_t incarnation)
{
    aq_energy_process *process = find_process(ledger, incarnation);
    if (process) {
        process->last = (aq_energy_reading){.machine = process->last.machine};
    }
}

void aq_energy_ledger_left(aq_energy_ledger *ledger, uint64_t incarnation)
{
    aq_energy_process *process = find_process(ledger, incarnation);
    if (process) {
        *process = ledger->processes[--ledger->process_count];
    }
}

aq_energy_totals aq_energy_ledger_totals(const aq_energy_ledger *ledger)
{
    bool measured = !ledger->is_unmeasured && ledger->source[0] != '\0';
    aq_energy_totals totals = {.source = "model"};
    if (measured) {
        totals.source = strcmp(ledger->source, "perf") == 0 ? "perf" : "rapl";
    }
    for (uint32_t role = 0; role < AQ_ENERGY_ROLES; role++) {
        const aq_energy_role_sum *sum = &ledger->roles[role];
        totals.role_j[role] = measured ? sum->measured_j : sum->model_j;
        totals.energy_j += totals.role_j[role];
        totals.cpu_s += sum->cpu_s;
    }
    for (size_t i = 0; i < ledger->machine_count; i++) {
        totals.idle_j += measured ? ledger->machines[i].idle_j : ledger->machines[i].model_idle_j;
    }
    return totals;
}

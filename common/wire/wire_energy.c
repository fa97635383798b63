/*
 * Energy on the wire: see wire_energy.h.
 */
#include "common/wire/wire_energy.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Ten machines at full load for a century: what is more was not measured. */
static const double JOULES_MAX = 1e14;
static const double SECONDS_MAX = 1e14;

/* Shares are rounded, and so is their sum. */
static const double ROUNDING = 1 + 1e-6;

void aq_wire_energy_to(const aq_energy_reading *reading, aq_wire_energy *ret_energy)
{
    actorq__v1__energy_stats__init(&ret_energy->message);
    ret_energy->reading = *reading;
    Actorq__V1__EnergyStats *message = &ret_energy->message;
    message->cpu_s = reading->cpu_s;
    message->wall_s = reading->wall_s;
    message->machine = reading->machine;
    message->processor = ret_energy->reading.processor;
    message->processors = reading->cpus;
    message->source = ret_energy->reading.source;
    message->measured_j = reading->measured_j;
    message->machine_j = reading->machine_j;
    message->dram_j = reading->dram_j;
    message->idle_j = reading->idle_j;
}

static bool is_amount(double value, double most)
{
    return isfinite(value) && value >= 0 && value <= most;
}

static void take_name(const char *name, char out[AQ_PROCESSOR_NAME_MAX])
{
    (void)snprintf(out, AQ_PROCESSOR_NAME_MAX, "%s", name);
    for (const char *at = out; *at != '\0'; at++) {
        if (*at < ' ' || *at > '~') {
            out[0] = '\0';
            return;
        }
    }
}

int aq_wire_energy_from(const Actorq__V1__EnergyStats *message, aq_energy_reading *ret_reading)
{
    bool measured = strcmp(message->source, "rapl") == 0 || strcmp(message->source, "perf") == 0;
    aq_energy_reading reading = {
        .machine = message->machine,
        .cpus = message->processors,
        .cpu_s = message->cpu_s,
        .wall_s = message->wall_s,
    };
    if (!is_amount(message->cpu_s, SECONDS_MAX) || !is_amount(message->wall_s, SECONDS_MAX) ||
        message->machine == 0 || message->processors == 0 || message->processors > UINT16_MAX) {
        return AQ_E_INVALID;
    }
    if (measured) {
        if (!is_amount(message->machine_j, JOULES_MAX) || !is_amount(message->dram_j, JOULES_MAX) ||
            !is_amount(message->measured_j, JOULES_MAX) ||
            !is_amount(message->idle_j, JOULES_MAX) ||
            message->measured_j + message->idle_j > message->machine_j * ROUNDING ||
            message->dram_j > message->machine_j * ROUNDING) {
            return AQ_E_INVALID;
        }
        (void)snprintf(reading.source, sizeof(reading.source), "%s", message->source);
        reading.measured_j = message->measured_j;
        reading.machine_j = message->machine_j;
        reading.dram_j = message->dram_j;
        reading.idle_j = message->idle_j;
    }
    take_name(message->processor, reading.processor);
    *ret_reading = reading;
    return 0;
}

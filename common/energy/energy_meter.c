/*
 * Energy meter: see energy_meter.h.
 */
#include "common/energy/energy_meter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fnv1a.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/energy/energy_powercap.h"
#include "common/energy/processor_time.h"
#include "common/sys/file.h"
#include "common/sys/machine.h"

#define SAMPLE_NS_MIN (200 * AQ_NS_PER_MS)

struct aq_energy_meter {
    aq_energy_places places;
    aq_energy_counters counters;
    char why_not[AQ_ERROR_TEXT_MAX];
    int64_t begun_ns;
    int64_t sampled_ns;
    double sampled_cpu_s;
    aq_machine_time sampled_machine;
    aq_energy_reading totals;
};

/* FNV-1a of the kernel's boot id, which containers share. */
static uint64_t identify_machine(const char *proc_dir)
{
    char text[64];
    uint64_t hash = AQ_FNV1A_START;
    if (!aq_file_peek(text, sizeof(text), "%s/sys/kernel/random/boot_id", proc_dir)) {
        aq_machine_host(text, sizeof(text));
    }
    for (size_t i = 0; text[i] != '\0'; i++) {
        hash = (hash ^ (uint8_t)text[i]) * AQ_FNV1A_PRIME;
    }
    return aq_fnv1a_end(hash);
}

/* RAPL first: its files tell more domains apart, and may be opened to one group of users. */
static void open_counters(aq_energy_meter *meter)
{
    aq_error rapl = {0};
    aq_error perf = {0};
    if (aq_energy_powercap_open(meter->places.powercap_dir, &meter->counters, &rapl) == 0) {
        return;
    }
    if (aq_energy_perf_open(meter->places.events_dir, meter->places.open_event, &meter->counters,
                            &perf) == 0) {
        return;
    }
    int rc = aq_text_format(meter->why_not, sizeof(meter->why_not), "%s; %s", rapl.text, perf.text);
    (void)rc; /* what fits is enough */
}

static void give_up(aq_energy_meter *meter, const char *why)
{
    aq_energy_counters_fini(&meter->counters);
    (void)snprintf(meter->why_not, sizeof(meter->why_not), "%s", why);
    meter->totals.source[0] = '\0';
    meter->totals.measured_j = meter->totals.machine_j = 0;
    meter->totals.dram_j = meter->totals.idle_j = 0;
}

static const char *or_default(const char *given, const char *own)
{
    return given ? given : own;
}

int aq_energy_meter_create(const aq_energy_places *places, int64_t now_ns,
                           aq_energy_meter **ret_meter)
{
    static const aq_energy_places nothing;
    aq_energy_meter *meter = aq_alloc(1, sizeof(*meter));
    if (!meter) {
        return AQ_E_NOMEM;
    }
    const aq_energy_places *given = places ? places : &nothing;
    meter->places = (aq_energy_places){
        .powercap_dir = or_default(given->powercap_dir, "/sys/class/powercap"),
        .events_dir = or_default(given->events_dir, "/sys/bus/event_source/devices"),
        .proc_dir = or_default(given->proc_dir, "/proc"),
        .open_event = given->open_event ? given->open_event : aq_energy_perf_open_event,
    };
    meter->begun_ns = now_ns;
    meter->sampled_ns = now_ns;
    meter->totals.machine = identify_machine(meter->places.proc_dir);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    meter->totals.cpus = cpus > 0 ? (uint32_t)cpus : 1;
    (void)snprintf(meter->totals.processor, sizeof(meter->totals.processor), "%s",
                   aq_machine_model());
    open_counters(meter);
    if (meter->counters.count > 0) {
        (void)snprintf(meter->totals.source, sizeof(meter->totals.source), "%s",
                       meter->counters.source);
        if (aq_processor_time_machine(meter->places.proc_dir, &meter->sampled_machine) != 0) {
            give_up(meter, "the processor time of the machine can't be read");
        }
    }
    meter->sampled_cpu_s = aq_processor_time_own_s(meter->places.proc_dir);
    *ret_meter = meter;
    return 0;
}

void aq_energy_meter_destroy(aq_energy_meter *meter)
{
    if (!meter) {
        return;
    }
    aq_energy_counters_fini(&meter->counters);
    aq_free(meter);
}

/* Shares what was spent since the last sample. Ticks of the machine's time are long, so a share of
 * a short interval can be a little off in either direction, but never more than the whole. */
static void share(aq_energy_meter *meter, const aq_energy_spent *spent, const aq_machine_time *now)
{
    const aq_machine_time *before = &meter->sampled_machine;
    double idle_s = fmax(0, now->idle_s - before->idle_s);
    double all_s = fmax(0, now->busy_s - before->busy_s) + idle_s;
    double own_s = fmax(0, meter->totals.cpu_s - meter->sampled_cpu_s);
    double joules = spent->package_j + spent->dram_j;
    all_s = fmax(all_s, own_s);
    meter->totals.machine_j += joules;
    meter->totals.dram_j += spent->dram_j;
    if (all_s > 0) {
        meter->totals.measured_j += joules * own_s / all_s;
        meter->totals.idle_j += joules * fmin(idle_s, all_s - own_s) / all_s;
    }
}

static void sample(aq_energy_meter *meter, int64_t now_ns)
{
    aq_energy_spent spent;
    aq_machine_time machine;
    double elapsed_s = aq_ns_to_s(now_ns - meter->sampled_ns);
    if (!aq_energy_counters_advance(&meter->counters, elapsed_s, &spent)) {
        give_up(meter, "an energy counter failed, leapt, or was not looked at for too long");
        return;
    }
    if (aq_processor_time_machine(meter->places.proc_dir, &machine) != 0) {
        give_up(meter, "the processor time of the machine can't be read any more");
        return;
    }
    share(meter, &spent, &machine);
    meter->sampled_ns = now_ns;
    meter->sampled_cpu_s = meter->totals.cpu_s;
    meter->sampled_machine = machine;
}

void aq_energy_meter_read(aq_energy_meter *meter, int64_t now_ns, aq_energy_reading *ret_reading)
{
    double cpu_s = aq_processor_time_own_s(meter->places.proc_dir);
    meter->totals.cpu_s = fmax(meter->totals.cpu_s, cpu_s);
    meter->totals.wall_s = aq_ns_to_s(now_ns - meter->begun_ns);
    if (meter->counters.count > 0 && now_ns - meter->sampled_ns >= SAMPLE_NS_MIN) {
        sample(meter, now_ns);
    }
    *ret_reading = meter->totals;
}

void aq_energy_reading_since(aq_energy_reading *reading, const aq_energy_reading *before)
{
    reading->wall_s -= before->wall_s;
    reading->cpu_s -= before->cpu_s;
    reading->measured_j -= before->measured_j;
    reading->machine_j -= before->machine_j;
    reading->dram_j -= before->dram_j;
    reading->idle_j -= before->idle_j;
}

const char *aq_energy_meter_why_not(const aq_energy_meter *meter)
{
    return meter->why_not;
}

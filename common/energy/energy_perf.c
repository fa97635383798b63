/*
 * The unit describes itself in files: `type`, `cpumask` (one processor of each socket: "0,32"),
 * `events/energy-pkg` ("event=0x02") and `events/energy-pkg.scale` (joules of a count). Counts have
 * 64 bits, which no machine fills.
 */
#define _DEFAULT_SOURCE /* syscall */
#include "common/energy/energy_perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/parse.h"
#include "common/sys/cpus.h"
#include "common/sys/file.h"

enum { TEXT_BYTES = 256 };

int aq_energy_perf_open_event(uint32_t type, uint64_t config, int cpu)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.size = sizeof(attributes);
    attributes.type = type;
    attributes.config = config;
    return (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The first line of DIR/power/NAME. */
static bool read_line(const char *dir, const char *name, char out[TEXT_BYTES])
{
    const bool is_there = aq_file_peek(out, TEXT_BYTES, "%s/power/%s", dir, name);
    out[strcspn(out, "\n")] = '\0';
    return is_there;
}

typedef struct perf_event {
    uint64_t config;
    double count_j;
} perf_event;

/* At most 4 digits: the unit has a handful of events. */
static bool parse_hex(const char *text, uint64_t *ret_value)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        const char *digit = strchr(digits, text[i]);
        if (!digit || length > 4) {
            return false;
        }
        value = value << 4 | (uint64_t)(digit - digits);
    }
    *ret_value = value;
    return length > 0;
}

/* "event=0x02", alone: whoever adds another term means something else. */
static bool read_event(const char *dir, const char *event, perf_event *ret_event)
{
    char name[64];
    char text[TEXT_BYTES];
    char scale[TEXT_BYTES];
    uint64_t config;
    (void)snprintf(name, sizeof(name), "events/%s", event);
    if (!read_line(dir, name, text) || strncmp(text, "event=0x", strlen("event=0x")) != 0 ||
        !parse_hex(text + strlen("event=0x"), &config)) {
        return false;
    }
    (void)snprintf(name, sizeof(name), "events/%s.scale", event);
    double count_j = 0;
    if (!read_line(dir, name, scale) || aq_parse_f64(scale, &count_j) != 0 || !(count_j > 0)) {
        return false;
    }
    *ret_event = (perf_event){.config = config, .count_j = count_j};
    return true;
}

typedef struct perf_unit {
    uint32_t type;
    aq_cpus cpus;
    aq_energy_perf_open_fn open_event;
} perf_unit;

static int open_on(const perf_unit *unit, const char *name, const perf_event *event, bool is_dram,
                   int cpu, aq_energy_counters *counters, aq_error *error)
{
    if (counters->count == AQ_ENERGY_DOMAINS_MAX) {
        return aq_fail(error, AQ_E_FULL, "perf: more than %d energy counters",
                       AQ_ENERGY_DOMAINS_MAX);
    }
    aq_energy_domain domain = {.is_dram = is_dram, .count_j = event->count_j};
    (void)snprintf(domain.name, sizeof(domain.name), "%s of processor %d", name, cpu);
    domain.file = unit->open_event(unit->type, event->config, cpu);
    if (domain.file < 0) {
        return aq_fail(error, AQ_E_IO, "perf: %s can't be opened: %s", domain.name,
                       strerror(errno));
    }
    if (!aq_energy_domain_read(&domain, &domain.last)) {
        (void)close(domain.file);
        return aq_fail(error, AQ_E_IO, "perf: %s can't be read", domain.name);
    }
    counters->domains[counters->count++] = domain;
    return 0;
}

static int open_event_everywhere(const perf_unit *unit, const char *name, const perf_event *event,
                                 bool is_dram, aq_energy_counters *counters, aq_error *error)
{
    int rc = 0;
    for (int cpu = 0; rc == 0 && cpu < AQ_CPUS_MAX; cpu++) {
        if (unit->cpus.has[cpu]) {
            rc = open_on(unit, name, event, is_dram, cpu, counters, error);
        }
    }
    return rc;
}

int aq_energy_perf_open(const char *dir, aq_energy_perf_open_fn open_event,
                        aq_energy_counters *ret_counters, aq_error *error)
{
    char type[TEXT_BYTES], cpus[TEXT_BYTES];
    uint64_t type_number;
    perf_event package, dram;
    perf_unit unit = {.open_event = open_event};
    aq_energy_counters counters = {.source = "perf"};
    if (!read_line(dir, "type", type)) {
        return aq_fail(error, AQ_E_NOT_FOUND, "%s/power: no such unit", dir);
    }
    if (aq_parse_u64(type, &type_number) != 0 || type_number > UINT32_MAX ||
        !read_line(dir, "cpumask", cpus) || !read_event(dir, "energy-pkg", &package)) {
        return aq_fail(error, AQ_E_CORRUPT, "%s/power: not a unit that counts packages", dir);
    }
    unit.type = (uint32_t)type_number;
    aq_cpus all;
    memset(all.has, true, sizeof(all.has));
    if (aq_cpus_read(cpus, &all, &unit.cpus, NULL) != 0) {
        return aq_fail(error, AQ_E_CORRUPT, "perf: power/cpumask is '%s'", cpus);
    }
    int rc = open_event_everywhere(&unit, "energy-pkg", &package, false, &counters, error);
    if (rc == 0 && read_event(dir, "energy-ram", &dram)) {
        rc = open_event_everywhere(&unit, "energy-ram", &dram, true, &counters, error);
    }
    if (rc != 0) {
        aq_energy_counters_fini(&counters);
        return rc;
    }
    *ret_counters = counters;
    return 0;
}

/*
 * RUN/energy.json: see energy_file.h.
 *
 * Numbers that a run is taken up from stand in "state", apart from those for readers; 64-bit
 * identities are texts, as JSON's numbers may be doubles.
 */
#include "learner/metrics/energy_file.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

enum { FORMAT = 1, FILE_BYTES_MAX = 32 << 20, IDENTITY_BYTES = 17 };

/* ---- carbon --------------------------------------------------------------------------------- */

aq_energy_carbon aq_energy_carbon_of(const char *country, double g_per_kwh, double pue)
{
    if (g_per_kwh > 0) {
        return (aq_energy_carbon){.g_per_kwh = g_per_kwh, .pue = pue};
    }
    const aq_carbon_intensity *row = aq_carbon_intensity_find(country);
    AQ_ASSERT(row != NULL); /* the configuration was checked */
    return (aq_energy_carbon){.country = row, .g_per_kwh = row->g_per_kwh, .pue = pue};
}

const char *aq_energy_carbon_text(const aq_energy_carbon *carbon, char *out)
{
    if (carbon->country) {
        (void)snprintf(out, AQ_CARBON_TEXT_MAX, "%s, %" PRIu32 " (%s)", carbon->country->name,
                       carbon->country->year, carbon->country->source);
    } else {
        (void)snprintf(out, AQ_CARBON_TEXT_MAX, "energy.carbon_intensity");
    }
    return out;
}

static double grams(const aq_energy_carbon *carbon, double joules)
{
    return aq_carbon_grams(joules, carbon->g_per_kwh, carbon->pue);
}

/* ---- writing -------------------------------------------------------------------------------- */

static const char *hex(uint64_t value, char out[IDENTITY_BYTES])
{
    (void)snprintf(out, IDENTITY_BYTES, "%016" PRIx64, value);
    return out;
}

static json_t *pack_roles(const aq_energy_ledger *ledger, const aq_energy_totals *totals)
{
    json_t *roles = json_object();
    for (uint32_t role = 0; role < AQ_ENERGY_ROLES; role++) {
        (void)json_object_set_new(roles, aq_energy_role_name(role),
                                  json_pack("{s:f, s:f}", "cpu_s", ledger->roles[role].cpu_s,
                                            "energy_j", totals->role_j[role]));
    }
    return roles;
}

/* The model's joules stand beside measured ones too, so that runs of different machines can be
 * compared under one measure. */
static json_t *pack_model(const aq_energy_ledger *ledger)
{
    double energy_j = 0;
    double idle_j = 0;
    for (uint32_t role = 0; role < AQ_ENERGY_ROLES; role++) {
        energy_j += ledger->roles[role].model_j;
    }
    for (size_t i = 0; i < ledger->machine_count; i++) {
        idle_j += ledger->machines[i].model_idle_j;
    }
    return json_pack("{s:f, s:f, s:f}", "energy_j", energy_j, "idle_j", idle_j, "idle_share",
                     AQ_POWER_IDLE_SHARE);
}

static json_t *pack_measured(const aq_energy_ledger *ledger, const aq_energy_totals *totals)
{
    if (strcmp(totals->source, "model") == 0) {
        return json_null();
    }
    double machine_j = 0;
    double dram_j = 0;
    for (size_t i = 0; i < ledger->machine_count; i++) {
        machine_j += ledger->machines[i].machine_j;
        dram_j += ledger->machines[i].dram_j;
    }
    double others_j = fmax(0, machine_j - totals->energy_j - totals->idle_j);
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "machines_j", machine_j, "dram_j", dram_j,
                     "energy_j", totals->energy_j, "idle_j", totals->idle_j, "others_j", others_j);
}

static json_t *pack_machines(const aq_energy_ledger *ledger)
{
    json_t *machines = json_array();
    char identity[IDENTITY_BYTES];
    for (size_t i = 0; i < ledger->machine_count; i++) {
        const aq_energy_machine *machine = &ledger->machines[i];
        (void)json_array_append_new(
            machines,
            json_pack("{s:s, s:s, s:I, s:f, s:f, s:s, s:f}", "machine",
                      hex(machine->machine, identity), "processor", machine->processor,
                      "processors", (json_int_t)machine->power.cpus, "tdp_w", machine->power.tdp_w,
                      "processor_w", machine->power.cpu_w, "tdp_of",
                      aq_power_origin_text(machine->power.origin), "wall_s", machine->wall_s));
    }
    return machines;
}

static json_t *pack_carbon(const aq_energy_carbon *carbon, const aq_energy_totals *totals)
{
    json_t *out = json_pack("{s:f, s:f, s:f, s:f}", "g_per_kwh", carbon->g_per_kwh, "pue",
                            carbon->pue, "carbon_g", grams(carbon, totals->energy_j), "idle_g",
                            grams(carbon, totals->idle_j));
    json_t *country = NULL;
    if (carbon->country) {
        country = json_pack("{s:s, s:s, s:I, s:s}", "code", carbon->country->code, "name",
                            carbon->country->name, "year", (json_int_t)carbon->country->year,
                            "table", carbon->country->source);
    }
    (void)json_object_set_new(out, "country", country ? country : json_null());
    return out;
}

static json_t *pack_state_machine(const aq_energy_machine *machine)
{
    char identity[IDENTITY_BYTES];
    return json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:f}", "machine",
                     hex(machine->machine, identity), "processor", machine->processor, "processors",
                     (json_int_t)machine->power.cpus, "wall_s", machine->wall_s, "model_idle_j",
                     machine->model_idle_j, "machine_j", machine->machine_j, "dram_j",
                     machine->dram_j, "idle_j", machine->idle_j);
}

static json_t *pack_state_process(const aq_energy_process *process)
{
    char identity[IDENTITY_BYTES];
    char machine[IDENTITY_BYTES];
    return json_pack("{s:s, s:I, s:s, s:f, s:f, s:f, s:f, s:f, s:f}", "incarnation",
                     hex(process->incarnation, identity), "role", (json_int_t)process->role,
                     "machine", hex(process->last.machine, machine), "cpu_s", process->last.cpu_s,
                     "wall_s", process->last.wall_s, "measured_j", process->last.measured_j,
                     "machine_j", process->last.machine_j, "dram_j", process->last.dram_j, "idle_j",
                     process->last.idle_j);
}

static int compare_heard(const void *a, const void *b)
{
    const aq_energy_process *one = a, *other = b;
    return (one->heard_ns > other->heard_ns) - (one->heard_ns < other->heard_ns);
}

/* A clock's times mean nothing to the learner that reads them, so processes stand in their order.
 */
static json_t *pack_state(aq_energy_ledger *ledger)
{
    json_t *roles = json_array();
    json_t *machines = json_array();
    json_t *processes = json_array();
    for (uint32_t role = 0; role < AQ_ENERGY_ROLES; role++) {
        const aq_energy_role_sum *sum = &ledger->roles[role];
        (void)json_array_append_new(roles,
                                    json_pack("{s:f, s:f, s:f}", "cpu_s", sum->cpu_s, "model_j",
                                              sum->model_j, "measured_j", sum->measured_j));
    }
    for (size_t i = 0; i < ledger->machine_count; i++) {
        (void)json_array_append_new(machines, pack_state_machine(&ledger->machines[i]));
    }
    if (ledger->process_count > 0) {
        qsort(ledger->processes, ledger->process_count, sizeof(*ledger->processes), compare_heard);
    }
    for (size_t i = 0; i < ledger->process_count; i++) {
        (void)json_array_append_new(processes, pack_state_process(&ledger->processes[i]));
    }
    return json_pack("{s:s, s:b, s:o, s:o, s:o}", "source", ledger->source, "is_unmeasured",
                     ledger->is_unmeasured, "roles", roles, "machines", machines, "processes",
                     processes);
}

char *aq_energy_file_text(aq_energy_ledger *ledger, const aq_energy_carbon *carbon, double wall_s)
{
    aq_energy_totals totals = aq_energy_ledger_totals(ledger);
    json_t *file =
        json_pack("{s:i, s:s, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "format", FORMAT,
                  "source", totals.source, "wall_s", wall_s, "cpu_s", totals.cpu_s, "energy_j",
                  totals.energy_j, "idle_j", totals.idle_j, "roles", pack_roles(ledger, &totals),
                  "carbon", pack_carbon(carbon, &totals), "model", pack_model(ledger), "measured",
                  pack_measured(ledger, &totals), "machines", pack_machines(ledger), "state",
                  pack_state(ledger));
    char *text = file ? json_dumps(file, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(file);
    return text;
}

void aq_energy_file_text_free(char *text)
{
    free(text);
}

json_t *aq_energy_file_summary(const aq_energy_ledger *ledger, const aq_energy_carbon *carbon)
{
    aq_energy_totals totals = aq_energy_ledger_totals(ledger);
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:o}", "source", totals.source, "cpu_s",
                     totals.cpu_s, "energy_j", totals.energy_j, "idle_j", totals.idle_j, "carbon_g",
                     grams(carbon, totals.energy_j), "roles", pack_roles(ledger, &totals));
}

int aq_energy_file_write(const char *run_dir, const char *text, aq_error *error)
{
    char path[PATH_MAX];
    int rc = aq_path_in(path, sizeof(path), run_dir, "energy.json", error);
    return rc != 0 ? rc : aq_file_write_atomic(path, text, strlen(text), error);
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool are_amounts(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]) || values[i] < 0) {
            return false;
        }
    }
    return true;
}

static int read_role(json_t *row, aq_energy_role_sum *sum)
{
    return json_unpack(row, "{s:F, s:F, s:F}", "cpu_s", &sum->cpu_s, "model_j", &sum->model_j,
                       "measured_j", &sum->measured_j) == 0 &&
                   are_amounts((double[]){sum->cpu_s, sum->model_j, sum->measured_j}, 3)
               ? 0
               : AQ_E_CORRUPT;
}

static int read_machine(json_t *row, aq_energy_ledger *ledger)
{
    const char *identity;
    const char *processor;
    json_int_t cpus;
    aq_energy_machine machine = {0};
    if (json_unpack(row, "{s:s, s:s, s:I, s:F, s:F, s:F, s:F, s:F}", "machine", &identity,
                    "processor", &processor, "processors", &cpus, "wall_s", &machine.wall_s,
                    "model_idle_j", &machine.model_idle_j, "machine_j", &machine.machine_j,
                    "dram_j", &machine.dram_j, "idle_j", &machine.idle_j) ||
        !are_amounts((double[]){machine.wall_s, machine.model_idle_j, machine.machine_j,
                                machine.dram_j, machine.idle_j},
                     5) ||
        cpus < 1 || cpus > UINT16_MAX || aq_parse_id(identity, &machine.machine) != 0 ||
        aq_text_set(machine.processor, sizeof(machine.processor), processor) != 0) {
        return AQ_E_CORRUPT;
    }
    machine.power = aq_power_model_of(processor, (uint32_t)cpus, ledger->tdp_w);
    return aq_energy_ledger_add_machine(ledger, &machine);
}

static int read_process(json_t *row, aq_energy_ledger *ledger)
{
    const char *identity;
    const char *machine;
    json_int_t role;
    aq_energy_process process = {0};
    aq_energy_reading *last = &process.last;
    if (json_unpack(row, "{s:s, s:I, s:s, s:F, s:F, s:F, s:F, s:F, s:F}", "incarnation", &identity,
                    "role", &role, "machine", &machine, "cpu_s", &last->cpu_s, "wall_s",
                    &last->wall_s, "measured_j", &last->measured_j, "machine_j", &last->machine_j,
                    "dram_j", &last->dram_j, "idle_j", &last->idle_j) ||
        !are_amounts((double[]){last->cpu_s, last->wall_s, last->measured_j, last->machine_j,
                                last->dram_j, last->idle_j},
                     6) ||
        role < 0 || role >= AQ_ENERGY_ROLES || aq_parse_id(identity, &process.incarnation) != 0 ||
        aq_parse_id(machine, &last->machine) != 0) {
        return AQ_E_CORRUPT;
    }
    process.role = (uint32_t)role;
    process.heard_ns = INT64_MIN + (int64_t)ledger->process_count;
    return aq_energy_ledger_add_process(ledger, &process);
}

static int read_state(json_t *file, aq_energy_ledger *ledger)
{
    int unmeasured;
    const char *source;
    json_t *roles, *machines, *processes;
    if (json_unpack(file, "{s:{s:s, s:b, s:o, s:o, s:o}}", "state", "source", &source,
                    "is_unmeasured", &unmeasured, "roles", &roles, "machines", &machines,
                    "processes", &processes) ||
        json_array_size(roles) != AQ_ENERGY_ROLES ||
        aq_text_set(ledger->source, sizeof(ledger->source), source) != 0) {
        return AQ_E_CORRUPT;
    }
    ledger->is_unmeasured = unmeasured;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < AQ_ENERGY_ROLES; i++) {
        rc = read_role(json_array_get(roles, i), &ledger->roles[i]);
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(machines); i++) {
        rc = read_machine(json_array_get(machines, i), ledger);
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(processes); i++) {
        rc = read_process(json_array_get(processes, i), ledger);
    }
    return rc;
}

static int read_file(json_t *file, const char *path, aq_energy_ledger *ledger, aq_error *error)
{
    int format;
    int rc = json_unpack(file, "{s:i}", "format", &format) == 0 ? 0 : AQ_E_CORRUPT;
    if (rc == 0 && format != FORMAT) {
        return aq_fail(error, AQ_E_VERSION, "%s: of format %d; this program reads %d", path, format,
                       FORMAT);
    }
    rc = rc != 0 ? rc : read_state(file, ledger);
    return rc != 0 ? aq_fail(error, rc, "%s: not the energy of a run", path) : 0;
}

int aq_energy_file_read(const char *run_dir, aq_energy_ledger *ledger, aq_error *error)
{
    char path[PATH_MAX];
    aq_buffer text;
    aq_energy_ledger read;
    int rc = aq_path_in(path, sizeof(path), run_dir, "energy.json", error);
    if (rc != 0) {
        return rc;
    }
    aq_buffer_init(&text, FILE_BYTES_MAX);
    rc = aq_file_read(path, &text, error);
    if (rc == 0) {
        json_t *file = json_loadb((const char *)text.data, text.size, 0, NULL);
        aq_energy_ledger_init(&read, ledger->tdp_w);
        rc = read_file(file, path, &read, error);
        json_decref(file);
        if (rc != 0) {
            aq_energy_ledger_fini(&read);
        } else {
            *ledger = read;
        }
    }
    aq_buffer_fini(&text);
    return rc;
}

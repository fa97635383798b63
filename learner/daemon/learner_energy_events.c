/*
 * The learner daemon: what the run takes. Members tell in their heartbeats and when they leave; the
 * learner reads its own meter once a second. energy.json is written with each checkpoint, by the
 * thread that writes those, and once more when everybody has left.
 */
#include <inttypes.h>

#include "common/base/clock.h"
#include "common/base/rng.h"
#include "common/wire/wire_energy.h"
#include "learner/daemon/learner_net_priv.h"

static void say_failed(const char *what, const aq_error *error)
{
    char quoted[2 * AQ_ERROR_TEXT_MAX];
    aq_log(AQ_LOG_WARN, "energy_failed", what, "error=%s",
           aq_log_quote(quoted, sizeof(quoted), error->text));
}

int aq_learner_energy_create(aq_learner *learner, aq_error *error)
{
    const aq_run_config *config = &learner->plan.config;
    aq_learner_energy *energy = &learner->energy;
    aq_energy_ledger_init(&energy->ledger, config->energy.tdp_w);
    energy->carbon = aq_energy_carbon_of(config->energy.country, config->energy.carbon_intensity,
                                         config->energy.pue);
    energy->incarnation = aq_rng_system_seed();
    if (aq_energy_meter_create(NULL, aq_clock_monotonic_ns(), &energy->meter)) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    aq_error problem = {0};
    if (learner->folder.resumed &&
        aq_energy_file_read(learner->folder.path, &energy->ledger, &problem) &&
        problem.code != AQ_E_NOT_FOUND) {
        say_failed("what the run took before is not counted", &problem);
    }
    return 0;
}

void aq_learner_energy_destroy(aq_learner *learner)
{
    aq_energy_meter_destroy(learner->energy.meter);
    aq_energy_ledger_fini(&learner->energy.ledger);
}

static void read_own(aq_learner *learner)
{
    aq_learner_energy *energy = &learner->energy;
    aq_energy_reading reading;
    int64_t now_ns = aq_clock_monotonic_ns();
    aq_energy_meter_read(energy->meter, now_ns, &reading);
    aq_energy_ledger_told(&energy->ledger, now_ns, energy->incarnation, AQ_ENERGY_LEARNER,
                          &reading);
}

void aq_learner_energy_said(void *user, const aq_member_record *record,
                            const Actorq__V1__EnergyStats *stats)
{
    aq_learner *learner = user;
    aq_energy_reading reading;
    if (!aq_wire_energy_from(stats, &reading)) {
        aq_energy_ledger_told(&learner->energy.ledger, aq_clock_monotonic_ns(), record->incarnation,
                              (uint32_t)record->role, &reading);
    }
}

/* A new reference, NULL without memory: the line is written without it. */
struct json_t *aq_learner_energy_metrics(aq_learner *learner)
{
    read_own(learner);
    return aq_energy_file_summary(&learner->energy.ledger, &learner->energy.carbon);
}

void aq_learner_energy_say(const aq_learner *learner)
{
    aq_energy_reading reading;
    aq_energy_meter *meter = learner->energy.meter;
    char quoted[2 * AQ_ERROR_TEXT_MAX];
    aq_energy_meter_read(meter, aq_clock_monotonic_ns(), &reading);
    aq_power_model power =
        aq_power_model_of(reading.processor, reading.cpus, learner->energy.ledger.tdp_w);
    aq_log(AQ_LOG_INFO, "energy", "",
           "source=%s tdp_w=%.1f tdp_of=%s processors=%" PRIu32 " unmeasured=%s",
           reading.source[0] != '\0' ? reading.source : "model", power.tdp_w,
           power.origin == AQ_POWER_SETTING ? "setting"
           : power.origin == AQ_POWER_TABLE ? "table"
                                            : "unknown",
           power.cpus, aq_log_quote(quoted, sizeof(quoted), aq_energy_meter_why_not(meter)));
}

void aq_learner_energy_status(aq_learner *learner, Actorq__V1__LearnerStatus *status)
{
    aq_learner_energy *energy = &learner->energy;
    read_own(learner);
    aq_energy_totals totals = aq_energy_ledger_totals(&energy->ledger);
    Actorq__V1__EnergyStatus *message = &energy->status;
    actorq__v1__energy_status__init(message);
    message->source = (char *)(uintptr_t)totals.source;
    message->cpu_s = totals.cpu_s;
    message->energy_j = totals.energy_j;
    message->idle_j = totals.idle_j;
    message->carbon_g =
        aq_carbon_grams(totals.energy_j, energy->carbon.g_per_kwh, energy->carbon.pue);
    message->carbon_g_per_kwh = energy->carbon.g_per_kwh;
    message->pue = energy->carbon.pue;
    message->carbon_of =
        (char *)(uintptr_t)aq_energy_carbon_text(&energy->carbon, energy->carbon_text);
    message->n_roles = AQ_ENERGY_ROLES;
    message->roles = energy->role_pointers;
    for (uint32_t role = 0; role < AQ_ENERGY_ROLES; role++) {
        Actorq__V1__RoleEnergy *row = &energy->status_roles[role];
        actorq__v1__role_energy__init(row);
        row->role = (char *)(uintptr_t)aq_energy_role_name(role);
        row->cpu_s = energy->ledger.roles[role].cpu_s;
        row->energy_j = totals.role_j[role];
        energy->role_pointers[role] = row;
    }
    status->energy = message;
}

char *aq_learner_energy_text(aq_learner *learner)
{
    read_own(learner);
    return aq_energy_file_text(
        &learner->energy.ledger, &learner->energy.carbon,
        aq_coordinator_wall_s(learner->coordinator, aq_clock_monotonic_ns()));
}

void aq_learner_energy_write(const aq_learner *learner, const char *text)
{
    aq_error error = {0};
    if (text && aq_energy_file_write(learner->folder.path, text, &error)) {
        say_failed("energy.json stays as it was", &error);
    }
}

void aq_learner_energy_end(aq_learner *learner)
{
    char *text = aq_learner_energy_text(learner);
    aq_learner_energy_write(learner, text);
    aq_energy_file_text_free(text);
}

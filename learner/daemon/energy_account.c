/*
 * Energy account: a ledger, this process's meter, and the message that shows both.
 */
#include "learner/daemon/energy_account.h"

#include <inttypes.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/energy/energy_meter.h"
#include "common/energy/power_model.h"
#include "common/net/security/incarnation.h"
#include "common/sys/log.h"
#include "common/wire/wire_energy.h"
#include "common/wire/wire_frame.h"
#include "learner/metrics/energy_file.h"

struct aq_energy_account {
    const aq_run_folder *folder;
    bool is_left; /* the folder's file is of another format, and stays for who can read it */
    aq_energy_ledger ledger;
    aq_energy_carbon carbon;
    aq_energy_meter *meter;
    uint64_t incarnation;            /* of this process */
    Actorq__V1__EnergyStatus status; /* points at what follows */
    Actorq__V1__RoleEnergy status_roles[AQ_ENERGY_ROLES];
    Actorq__V1__RoleEnergy *role_pointers[AQ_ENERGY_ROLES];
    char carbon_text[AQ_CARBON_TEXT_MAX];
};

static void say_failed(const char *what, const aq_error *error)
{
    aq_log(AQ_LOG_WARN, "energy_failed", what, "error=%s", AQ_LOG_QUOTED(error->text));
}

/* Where nothing was ever measured, the line of the start has said so. */
static void tell(aq_energy_account *account, uint64_t incarnation, uint32_t role, const char *host,
                 const aq_energy_reading *reading)
{
    aq_energy_ledger *ledger = &account->ledger;
    const bool was_unmeasured = ledger->is_unmeasured;
    aq_energy_ledger_told(ledger, aq_clock_monotonic_ns(), incarnation, role, reading);
    if (ledger->is_unmeasured && !was_unmeasured && ledger->source[0] != '\0') {
        aq_log(AQ_LOG_INFO, "energy_unmeasured", "the run's joules are the model's from now on",
               "energy_role=%s host=%s source=%s measured_so_far=%s", aq_energy_role_name(role),
               AQ_LOG_QUOTED(host), reading->source[0] != '\0' ? reading->source : "model",
               ledger->source);
    }
}

static void read_own(aq_energy_account *account)
{
    aq_energy_reading reading;
    aq_energy_meter_read(account->meter, aq_clock_monotonic_ns(), &reading);
    tell(account, account->incarnation, AQ_ENERGY_LEARNER, "", &reading);
}

int aq_energy_account_create(const aq_run_config *config, const aq_run_folder *folder,
                             aq_energy_account **ret_account)
{
    aq_energy_account *account = aq_alloc(1, sizeof(*account));
    if (account == NULL) {
        return AQ_E_NOMEM;
    }
    account->folder = folder;
    aq_energy_ledger_init(&account->ledger, config->energy.tdp_w);
    account->carbon = aq_energy_carbon_of(config->energy.country, config->energy.carbon_intensity,
                                          config->energy.pue);
    account->incarnation = aq_rng_system_seed();
    if (aq_energy_meter_create(NULL, aq_clock_monotonic_ns(), &account->meter) != 0) {
        aq_energy_account_destroy(account);
        return AQ_E_NOMEM;
    }
    aq_error problem = {0};
    if (folder->resumed && aq_energy_file_read(folder->path, &account->ledger, &problem) != 0 &&
        problem.code != AQ_E_NOT_FOUND) {
        account->is_left = problem.code == AQ_E_VERSION;
        say_failed(account->is_left
                       ? "energy.json stays as it is, without what the run takes from here on"
                       : "what the run took before is not counted",
                   &problem);
    }
    read_own(account); /* before members tell, so that who differs from it is named */
    *ret_account = account;
    return 0;
}

void aq_energy_account_destroy(aq_energy_account *account)
{
    if (account == NULL) {
        return;
    }
    aq_energy_meter_destroy(account->meter);
    aq_energy_ledger_fini(&account->ledger);
    aq_free(account);
}

void aq_energy_account_anew(aq_energy_account *account, const aq_member_record *record)
{
    aq_energy_ledger_anew(&account->ledger, aq_incarnation_name(record->incarnation));
}

void aq_energy_account_told(aq_energy_account *account, const aq_member_record *record,
                            const Actorq__V1__EnergyStats *stats)
{
    aq_energy_reading reading;
    if (aq_wire_energy_from(stats, &reading) == 0) {
        tell(account, aq_incarnation_name(record->incarnation), (uint32_t)record->role,
             record->host, &reading);
    }
}

void aq_energy_account_left(aq_energy_account *account, const aq_member_record *record)
{
    aq_energy_ledger_left(&account->ledger, aq_incarnation_name(record->incarnation));
}

/* Each is counted by itself, as starts of processes are. */
void aq_energy_account_told_rank(aq_energy_account *account, uint32_t rank,
                                 const aq_energy_reading *reading)
{
    tell(account, aq_incarnation_name(account->incarnation + rank), AQ_ENERGY_LEARNER, "", reading);
}

struct json_t *aq_energy_account_metrics(aq_energy_account *account)
{
    read_own(account);
    return aq_energy_file_summary(&account->ledger, &account->carbon);
}

void aq_energy_account_say(const aq_energy_account *account)
{
    aq_energy_reading reading;
    aq_energy_meter_read(account->meter, aq_clock_monotonic_ns(), &reading);
    aq_power_model power =
        aq_power_model_of(reading.processor, reading.cpus, account->ledger.tdp_w);
    aq_log(AQ_LOG_INFO, "energy", "",
           "source=%s tdp_w=%.1f tdp_of=%s processors=%" PRIu32 " unmeasured=%s",
           reading.source[0] != '\0' ? reading.source : "model", power.tdp_w,
           power.origin == AQ_POWER_SETTING ? "setting"
           : power.origin == AQ_POWER_TABLE ? "table"
                                            : "unknown",
           power.cpus, AQ_LOG_QUOTED(aq_energy_meter_why_not(account->meter)));
}

Actorq__V1__EnergyStatus *aq_energy_account_status(aq_energy_account *account)
{
    read_own(account);
    aq_energy_totals totals = aq_energy_ledger_totals(&account->ledger);
    Actorq__V1__EnergyStatus *message = &account->status;
    actorq__v1__energy_status__init(message);
    message->source = aq_wire_text(totals.source);
    message->cpu_s = totals.cpu_s;
    message->energy_j = totals.energy_j;
    message->idle_j = totals.idle_j;
    message->carbon_g =
        aq_carbon_grams(totals.energy_j, account->carbon.g_per_kwh, account->carbon.pue);
    message->carbon_g_per_kwh = account->carbon.g_per_kwh;
    message->pue = account->carbon.pue;
    message->carbon_of =
        aq_wire_text(aq_energy_carbon_text(&account->carbon, account->carbon_text));
    message->n_roles = AQ_ENERGY_ROLES;
    message->roles = account->role_pointers;
    for (uint32_t role = 0; role < AQ_ENERGY_ROLES; role++) {
        Actorq__V1__RoleEnergy *row = &account->status_roles[role];
        actorq__v1__role_energy__init(row);
        row->role = aq_wire_text(aq_energy_role_name(role));
        row->cpu_s = account->ledger.roles[role].cpu_s;
        row->energy_j = totals.role_j[role];
        account->role_pointers[role] = row;
    }
    return message;
}

char *aq_energy_account_text(aq_energy_account *account, double wall_s)
{
    read_own(account);
    return aq_energy_file_text(&account->ledger, &account->carbon, wall_s);
}

void aq_energy_account_write(const aq_energy_account *account, const char *text)
{
    aq_error error = {0};
    if (text != NULL && !account->is_left &&
        aq_energy_file_write(account->folder->path, text, &error) != 0) {
        say_failed("energy.json stays as it was", &error);
    }
}

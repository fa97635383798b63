/*
 * Energy account: what the run takes. Members tell in their heartbeats and when they leave; the
 * learner's own meter is read whenever somebody asks. energy.json is written with each checkpoint,
 * by the thread that writes those, and once more when everybody has left.
 *
 * Loop thread only, but for aq_energy_account_write.
 */
#ifndef AQ_LEARNER_DAEMON_ENERGY_ACCOUNT_H
#define AQ_LEARNER_DAEMON_ENERGY_ACCOUNT_H

#include "common/config/run_config.h"
#include "common/energy/energy_meter.h"
#include "learner/run/coordinator.h"
#include "learner/run/run_folder.h"
#include "proto/operations.pb-c.h"

typedef struct aq_energy_account aq_energy_account;
struct json_t; /* jansson's */

/* `folder` is lent. What a resumed run took before is read from it; if that can't be read, the log
 * says so and the account begins anew. AQ_E_NOMEM. */
int aq_energy_account_create(const aq_run_config *config, const aq_run_folder *folder,
                             aq_energy_account **ret_account) AQ_MUST_USE;
void aq_energy_account_destroy(aq_energy_account *account); /* NULL is fine */

/* A member came from another run: its totals begin anew. */
void aq_energy_account_anew(aq_energy_account *account, const aq_member_record *record);

/* What a member said its process takes. */
void aq_energy_account_told(aq_energy_account *account, const aq_member_record *record,
                            const Actorq__V1__EnergyStats *stats);

/* It has told its last, and leaves. */
void aq_energy_account_left(aq_energy_account *account, const aq_member_record *record);

/* What the process of another rank of the learner takes. */
void aq_energy_account_told_rank(aq_energy_account *account, uint32_t rank,
                                 const aq_energy_reading *reading);

/* In the log, once: how energy is known here. */
void aq_energy_account_say(const aq_energy_account *account);

/* For the status; valid until the next call. */
Actorq__V1__EnergyStatus *aq_energy_account_status(aq_energy_account *account);

/* For a line of the metrics: a new reference, NULL without memory. */
struct json_t *aq_energy_account_metrics(aq_energy_account *account);

/* The text of energy.json after `wall_s` of the run, to be freed with aq_energy_file_text_free;
 * NULL without memory. */
char *aq_energy_account_text(aq_energy_account *account, double wall_s);

/* Any thread: writes such a text; NULL is fine, and a failure is in the log. */
void aq_energy_account_write(const aq_energy_account *account, const char *text);

#endif

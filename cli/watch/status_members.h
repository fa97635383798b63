/*
 * Status members: who is in a run, as tables for people. Those who act and those who store are
 * asked different questions, and a replay shard knows less of its actors than the learner does.
 */
#ifndef AQ_CLI_WATCH_STATUS_MEMBERS_H
#define AQ_CLI_WATCH_STATUS_MEMBERS_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"
#include "proto/operations.pb-c.h"

/* By role and slot. Of each table at most `members_max` rows are printed, the rest is counted.
 * AQ_E_NOMEM. */
int aq_status_members_print(FILE *out, const Actorq__V1__StatusReply *status,
                            size_t members_max) AQ_MUST_USE;

#endif

/*
 * Run trouble: what keeps a run from going on at all, such as a full disk, from its status. Any
 * thread; no state.
 */
#ifndef AQ_CLI_TRAIN_RUN_TROUBLE_H
#define AQ_CLI_TRAIN_RUN_TROUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/operations.pb-c.h"

enum { AQ_TROUBLE_MAX = 320 };

/* Says it in `out`, "replay 0 cannot write: …", or makes it "" when there is none. A run that has
 * just started, and one that has ended, lacks nobody; `is_offline` lacks no actors. */
void aq_run_trouble_of(const Actorq__V1__StatusReply *status, bool is_offline,
                       char out[AQ_TROUBLE_MAX]);

/* Whether the actors' environments, so many of them, do nothing but fail: some times as often as
 * there are environments, and no step has come of any. */
bool aq_run_is_of_failures(const Actorq__V1__StatusReply *status, uint64_t envs);

#endif

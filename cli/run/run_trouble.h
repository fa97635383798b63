/*
 * Run trouble: what keeps a run from going on at all, such as a full disk or an environment that
 * does nothing but fail, from its status. Any thread.
 */
#ifndef AQ_CLI_RUN_RUN_TROUBLE_H
#define AQ_CLI_RUN_RUN_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/operations.pb-c.h"

enum { AQ_TROUBLE_MAX = 320 };

/* Says it in `out`, "replay 0 cannot write: …", fit for a terminal, or makes it "" when there is
 * none. A run that has just started, and one that has ended, lacks nobody; `is_offline` lacks no
 * actors. `failure` is why environments do nothing but fail; NULL: they do not. */
void aq_run_trouble_of(const Actorq__V1__StatusReply *status, bool is_offline, const char *failure,
                       char out[AQ_TROUBLE_MAX]);

/* How often the actors' environments have failed since a step of any of them last arrived. */
typedef struct aq_failure_watch {
    uint64_t steps, failures; /* in all, when one did */
    int64_t stepped_ns;       /* when that was; 0: never */
} aq_failure_watch;

/* Takes in where the run stands. Returns why an environment failed last, when all of them, so many,
 * do nothing else; otherwise NULL. It is the status's. Of those that have worked, waiting may mend
 * them, so that `ret_is_hopeless` follows a minute later. */
const char *aq_failure_watch_take(aq_failure_watch *watch, int64_t now_ns,
                                  const Actorq__V1__StatusReply *status, uint64_t envs,
                                  bool *ret_is_hopeless);

#endif

/*
 * Run watch: asks a learner for its status again and again, at first every `period_ms`, and keeps
 * the newest answer. The learner may be away for a while: it is asked until it answers. Loop thread
 * only.
 */
#ifndef AQ_CLI_RUN_RUN_WATCH_H
#define AQ_CLI_RUN_RUN_WATCH_H

#include <uv.h>

#include "common/base/error.h"
#include "common/net/rpc/rpc.h"
#include "proto/operations.pb-c.h"

typedef struct aq_run_watch aq_run_watch;

/* A new answer; valid until the next one. */
typedef void (*aq_run_watch_fn)(void *user, const Actorq__V1__StatusReply *status);

int aq_run_watch_create(uv_loop_t *loop, const char *url, unsigned period_ms,
                        aq_run_watch_fn changed, void *user, aq_run_watch **ret_watch,
                        aq_error *error) AQ_MUST_USE;

/* The newest answer, or NULL before the first; the caller frees it. */
Actorq__V1__StatusReply *aq_run_watch_take(aq_run_watch *watch);

/* What became of the newest question that came back; OK: it was answered, or none has come back. */
const aq_rpc_status *aq_run_watch_outcome(const aq_run_watch *watch);

/* Why the learner has not been reached; "": it has been, or nobody knows. */
void aq_run_watch_unreached(const aq_run_watch *watch, char *ret_text, size_t size);

/* The memory goes when the loop has run its close callbacks. NULL is fine. */
void aq_run_watch_close(aq_run_watch *watch);

#endif

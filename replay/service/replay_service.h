/*
 * Replay service: the shard's four RPC services (Flow, Sampling, Operations, Exchange) and its
 * intake of experience, on top of the core. No sockets and no clock: it is offered to a dispatcher,
 * is handed frames, and is told the time. The daemon and the simulated cluster drive the same code.
 *
 * It starts without a run: everything but Stop is answered UNAVAILABLE until
 * aq_replay_service_begin. Answers that are held back (long polls, samples that the limiter
 * forbids) are given by aq_replay_service_tick, so that many small changes make one answer.
 *
 * One thread. Times are of one monotonic clock and never go back.
 */
#ifndef AQ_REPLAY_SERVICE_REPLAY_SERVICE_H
#define AQ_REPLAY_SERVICE_REPLAY_SERVICE_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/net/rpc/rpc.h"
#include "replay/service/replay_stats.h"
#include "replay/shard/replay_core.h"

/* Held answers; a dispatcher should allow as many calls and some more. */
enum {
    AQ_REPLAY_HELD_CREDITS_MAX = 8192, /* beyond: answered at once */
    AQ_REPLAY_HELD_SAMPLES_MAX = 256,  /* beyond: RESOURCE_EXHAUSTED */
    AQ_REPLAY_CALLS_MAX = AQ_REPLAY_HELD_CREDITS_MAX + AQ_REPLAY_HELD_SAMPLES_MAX + 64,
};

/* How often a daemon should tick. */
enum { AQ_REPLAY_TICK_MS = 2 };

typedef struct aq_replay_service_owner {
    void *user;
    uint64_t process;    /* its name, under which the learner asks whether it is there */
    const aq_seal *seal; /* experience counts when it is sealed, of incarnations that have called,
                            and proved that they may; NULL: of everybody */
    /* An experience message was refused and counted; for a rate-limited log line. AQ_E_AGAIN: its
     * actor has not called yet, which is nobody's fault after a start of the shard. */
    void (*rejected)(void *user, const char *peer, const aq_error *error);
    /* Something of an earlier life of the store could not be restored; likewise. */
    void (*damaged)(void *user, const char *what);
    /* Another record of an earlier life was read, of what may take minutes. NULL: nobody asks. */
    void (*advanced)(void *user);
    /* Somebody asked for the end of this process. The service must outlive the call. */
    void (*stop)(void *user, const char *peer, const char *reason);
} aq_replay_service_owner;

typedef struct aq_replay_service aq_replay_service;

int aq_replay_service_create(const aq_replay_service_owner *owner, int64_t now_ns,
                             aq_replay_service **ret_service) AQ_MUST_USE;

/* Answers what is held (UNAVAILABLE). NULL is fine. Goes after the last call and before the
 * dispatcher. */
void aq_replay_service_destroy(aq_replay_service *service);

/* Offers the methods to one dispatcher, which is looked at later to know the largest reply. */
int aq_replay_service_offer(aq_replay_service *service, aq_rpc_dispatcher *dispatcher) AQ_MUST_USE;

/* Begins a run with an empty store in memory; an earlier run must have been ended. AQ_E_INVALID or
 * AQ_E_TOO_BIG, in words, for settings that cannot work here. With `former`, the core of the same
 * run that is given up for other settings, its marks and counts go on. */
int aq_replay_service_begin(aq_replay_service *service, int64_t now_ns, const aq_shard_run *run,
                            const aq_replay_core *former, aq_error *error) AQ_MUST_USE;

/* A store with a log, between begin and the first message: what to hand the log's recovery, and
 * then the log itself, which is taken over on success: AQ_E_NOMEM. `folder`, for people, is
 * borrowed. */
aq_replay_log_recovery aq_replay_service_recovery(aq_replay_service *service, int64_t now_ns);
int aq_replay_service_attach(aq_replay_service *service, int64_t now_ns, aq_replay_log *log,
                             uint64_t last_number, uint64_t backlog_bytes,
                             const char *folder) AQ_MUST_USE;

/* Drops the store and closes its log; what is held is answered UNAVAILABLE with `reason`. Without a
 * run: nothing. */
void aq_replay_service_end(aq_replay_service *service, const char *reason);

/* The same, but the core is the caller's from here on. NULL without a run. */
aq_replay_core *aq_replay_service_release(aq_replay_service *service, const char *reason);

/* NULL while there is no run. */
const aq_replay_core *aq_replay_service_core(const aq_replay_service *service);

/* One message from PULL, which is lent. */
void aq_replay_service_experience(aq_replay_service *service, int64_t now_ns, aq_lease *message,
                                  const char *peer);

/* Gives the answers that are due and does the core's upkeep. To be called every
 * AQ_REPLAY_TICK_MS. */
void aq_replay_service_tick(aq_replay_service *service, int64_t now_ns);

/* For heartbeats. */
void aq_replay_service_statistics(const aq_replay_service *service, aq_replay_stats *ret_stats);

#endif

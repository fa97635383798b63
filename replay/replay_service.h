/*
 * Replay service: the shard's three RPC services (Flow, Sampling, Operations) and its intake of
 * experience, on top of the core. No sockets and no clock: it is offered to a dispatcher, is handed
 * frames, and is told the time. The daemon and the simulated cluster drive the same code.
 *
 * It starts without a run: everything but Stop is answered UNAVAILABLE until
 * aq_replay_service_begin. Answers that are held back (long polls, samples that the limiter
 * forbids) are given by aq_replay_service_tick, so that many small changes make one answer.
 *
 * One thread. Times are of one monotonic clock and never go back.
 */
#ifndef AQ_REPLAY_REPLAY_SERVICE_H
#define AQ_REPLAY_REPLAY_SERVICE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/net/rpc.h"
#include "common/rl/run_settings.h"
#include "proto/membership.pb-c.h"
#include "replay/replay_core.h"

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
    /* An experience message was refused and counted; for a rate-limited log line. */
    void (*rejected)(void *user, const char *peer, const aq_error *error);
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

/* Begins a run with an empty store; an earlier run must have been ended. `incarnation` names this
 * store to the actors. AQ_E_INVALID or AQ_E_TOO_BIG, in words, for settings that cannot work
 * here. */
int aq_replay_service_begin(aq_replay_service *service, int64_t now_ns,
                            const aq_run_settings *settings, uint64_t run_id, uint64_t incarnation,
                            uint64_t seed, aq_error *error) AQ_MUST_USE;

/* Drops the store; what is held is answered UNAVAILABLE with `reason`. Without a run: nothing. */
void aq_replay_service_end(aq_replay_service *service, const char *reason);

/* NULL while there is no run. */
const aq_replay_core *aq_replay_service_core(const aq_replay_service *service);

/* One message from PULL. */
void aq_replay_service_experience(aq_replay_service *service, int64_t now_ns, const uint8_t *bytes,
                                  size_t size, const char *peer);

/* Gives the answers that are due. To be called every AQ_REPLAY_TICK_MS. */
void aq_replay_service_tick(aq_replay_service *service, int64_t now_ns);

/* For heartbeats and Status; `waiting` points into the service until its next call. Zeroes without
 * a run. */
void aq_replay_service_statistics(aq_replay_service *service,
                                  Actorq__V1__ReplayStats *ret_statistics);

#endif

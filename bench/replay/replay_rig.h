/*
 * Rig: an actorq-replay process with everybody that it needs, but for actors and a trainer: this
 * process stands in for the learner, whose membership service is all that a shard asks for.
 *
 * Loop thread only.
 */
#ifndef AQ_BENCH_REPLAY_REPLAY_RIG_H
#define AQ_BENCH_REPLAY_REPLAY_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "common/base/error.h"
#include "common/config/run_settings.h"
#include "common/net/address/url.h"
#include "common/net/sockets/net.h"

typedef struct aq_replay_rig aq_replay_rig;

typedef struct aq_rig_config {
    const char *folder; /* for sockets, the log and the store; it is there, and empty */
    bool over_tcp;      /* else over Unix sockets */
    aq_run_settings settings;
} aq_rig_config;

/* Returns when the shard serves the run. When it doesn't, `error` quotes the end of its log. */
int aq_replay_rig_open(uv_loop_t *loop, const aq_rig_config *config, aq_replay_rig **ret_rig,
                       aq_error *error) AQ_MUST_USE;

/* Stops the shard and waits for it. NULL is fine. */
void aq_replay_rig_close(aq_replay_rig *rig);

/* Where the shard is, and whose. */
typedef struct aq_rig_place {
    uint64_t run_id;
    uint64_t store;
    int pid;
    char rpc_url[AQ_URL_MAX];
    char push_url[AQ_URL_MAX];
    aq_net_limits limits;
} aq_rig_place;

const aq_rig_place *aq_replay_rig_place(const aq_replay_rig *rig);
const aq_run_settings *aq_replay_rig_settings(const aq_replay_rig *rig);

/* What the shard says of itself. */
typedef struct aq_rig_status {
    uint64_t stored; /* transitions */
    uint64_t resident_bytes;
    uint64_t snapshots;
    uint64_t rejected; /* messages */
} aq_rig_status;

int aq_replay_rig_status(aq_replay_rig *rig, aq_rig_status *ret_status,
                         aq_error *error) AQ_MUST_USE;

/* Runs the loop until `done` says so: 0; or until time is up (AQ_E_TIMEOUT) or the shard has died.
 * `done` may be NULL: then the time being up is no failure. */
int aq_replay_rig_run(aq_replay_rig *rig, bool (*done)(void *user), void *user, int64_t time_ns,
                      aq_error *error) AQ_MUST_USE;

#endif

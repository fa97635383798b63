/*
 * The replay daemon: sockets, signals and timers around the replay service, and its membership in
 * the learner's run.
 */
#ifndef AQ_REPLAY_DAEMON_REPLAY_NET_H
#define AQ_REPLAY_DAEMON_REPLAY_NET_H

#include "common/base/error.h"
#include "common/sys/daemon.h"

typedef struct aq_replay_options {
    aq_daemon_options daemon;
    const char *learner_url;
    const char *listen_url; /* of RPC; experience is received on the next port, or any for port 0 */
    const char *data_dir;   /* where the store is kept; NULL: in memory only */
    const char *advertise_url; /* how others reach listen_url, port 0: its own; NULL: as it is */
} aq_replay_options;

/* Runs until the run has ended, a signal came or somebody asked for it: 0. Otherwise `error` says
 * in one sentence what was wrong. */
int aq_replay_run(const aq_replay_options *options, aq_error *error) AQ_MUST_USE;

#endif

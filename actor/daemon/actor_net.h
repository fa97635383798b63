/*
 * The shell of an actor or an evaluator: libuv's loop, NNG's sockets, the policy's thread, signals
 * and the clock, around a session that knows none of them.
 */
#ifndef AQ_ACTOR_DAEMON_ACTOR_NET_H
#define AQ_ACTOR_DAEMON_ACTOR_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/sys/daemon.h"
#include "rollout/gradient_maker.h"

typedef struct aq_actor_options {
    aq_daemon_options daemon;
    const char *learner_url;
    bool evaluate;                            /* be an evaluator */
    bool gradients;                           /* send gradients, in a run that wants them */
    uint64_t slot;                            /* that it asks for; 0: any */
    int64_t start_ns;                         /* when the process started (monotonic) */
    aq_gradient_maker_open_fn open_gradients; /* what computes them; NULL: nothing does */
} aq_actor_options;

/* Takes part in the learner's run until it ends, or SIGTERM, SIGINT or SIGHUP ask to stop. 0, and
 * `*ret_exit_code` is what the process should end with; or what kept it from starting, in words. */
int aq_actor_run(const aq_actor_options *options, int *ret_exit_code, aq_error *error) AQ_MUST_USE;

#endif

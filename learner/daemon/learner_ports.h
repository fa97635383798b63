/*
 * Learner ports: what the learner listens with: the socket of calls, and the one that policies are
 * broadcast through. Loop thread only, but for the publisher, which is the stage thread's.
 */
#ifndef AQ_LEARNER_DAEMON_LEARNER_PORTS_H
#define AQ_LEARNER_DAEMON_LEARNER_PORTS_H

#include <uv.h>

#include "common/net/address/url.h"
#include "common/net/daemon/daemon_security.h"
#include "common/net/rpc/rpc_server.h"
#include "common/net/sockets/pubsub.h"
#include "learner/run/run_plan.h"

typedef struct aq_learner_ports {
    aq_rpc_dispatcher *dispatcher;
    aq_rpc_server *server;
    aq_publisher *publisher;
    char policy_url[AQ_URL_MAX]; /* the publisher's */
} aq_learner_ports;

/* No call is answered before the loop runs: by then the services are offered through the
 * dispatcher. `ports` was zeroed, and is half open after a failure. */
int aq_learner_ports_open(uv_loop_t *loop, const char *listen_url, const aq_run_plan *plan,
                          const aq_net_spec *policy, aq_daemon_security *security,
                          aq_learner_ports *ports, aq_error *error) AQ_MUST_USE;

/* Nothing comes in or goes out any more; the loop must run before the rest is freed. */
void aq_learner_ports_close(aq_learner_ports *ports);
void aq_learner_ports_fini(aq_learner_ports *ports);

#endif

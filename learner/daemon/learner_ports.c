/*
 * Learner ports: see learner_ports.h.
 */
#include "learner/daemon/learner_ports.h"

#include <stdio.h>

enum { CALLS_MAX = 4096, DESCRIPTION_BYTES = 65536 };
enum { REQUEST_BYTES_MAX = 256 << 10 };      /* the longest is Join, with a schema */
#define REPLY_BYTES_MIN   ((size_t)16 << 20) /* room for the status of a run of thousands */
#define REPEATS_BYTES_MAX ((size_t)4 << 20)

/* The largest policy frame: fp32 tensors and a description. */
static size_t policy_bytes_max(const aq_net_spec *policy)
{
    return aq_net_spec_parameters(policy) * sizeof(float) + DESCRIPTION_BYTES;
}

static int open_publisher(const char *listen_url, const aq_net_limits *limits,
                          aq_learner_ports *ports, aq_error *error)
{
    char url[AQ_URL_MAX];
    int rc = aq_url_sibling(listen_url, "policy", url, sizeof(url));
    if (rc != 0) {
        return aq_fail(error, rc, "%s: no address beside it for the policy", listen_url);
    }
    rc = aq_publisher_create(url, limits, &ports->publisher, error);
    if (rc == 0) {
        (void)snprintf(ports->policy_url, sizeof(ports->policy_url), "%s",
                       aq_publisher_url(ports->publisher));
    }
    return rc;
}

int aq_learner_ports_open(uv_loop_t *loop, const char *listen_url, const aq_run_plan *plan,
                          const aq_net_spec *policy, aq_daemon_security *security,
                          aq_learner_ports *ports, aq_error *error)
{
    const size_t policy_bytes = policy_bytes_max(policy);
    const size_t reply_bytes = policy_bytes + DESCRIPTION_BYTES > REPLY_BYTES_MIN
                                   ? policy_bytes + DESCRIPTION_BYTES
                                   : REPLY_BYTES_MIN;
    aq_net_limits limits = {
        .message_bytes_max = REQUEST_BYTES_MAX,
        .reconnect_min_ms = (uint32_t)plan->config.net.reconnect_min_ms,
        .reconnect_max_ms = (uint32_t)plan->config.net.reconnect_max_ms,
        .security = security->security,
    };
    int rc =
        aq_rpc_dispatcher_create(CALLS_MAX, reply_bytes, REPEATS_BYTES_MAX, &ports->dispatcher);
    if (rc != 0) {
        return aq_fail(error, rc, "out of memory");
    }
    aq_daemon_security_watch(security, ports->dispatcher);
    aq_rpc_dispatcher_name(ports->dispatcher, AQ_ACCESS_LEARNER, 0);
    rc = aq_rpc_server_create(loop, listen_url, &limits, ports->dispatcher, &ports->server, error);
    if (rc != 0) {
        return rc;
    }
    limits.message_bytes_max = policy_bytes;
    return open_publisher(listen_url, &limits, ports, error);
}

void aq_learner_ports_close(aq_learner_ports *ports)
{
    aq_rpc_server_close(ports->server);
    aq_publisher_close(ports->publisher);
}

void aq_learner_ports_fini(aq_learner_ports *ports)
{
    aq_rpc_dispatcher_destroy(ports->dispatcher);
}

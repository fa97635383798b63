/*
 * What every daemon serves over HTTP where --http asks for it: /metrics for Prometheus
 * (docs/metrics.md), /healthz for whoever restarts what has died, /readyz for whoever sends work to
 * what is ready, and pages of its own. Part of the programs rather than of the library: it logs.
 * Loop thread only.
 */
#ifndef AQ_COMMON_NET_HTTP_DAEMON_HTTP_H
#define AQ_COMMON_NET_HTTP_DAEMON_HTTP_H

#include <stddef.h>
#include <uv.h>

#include "common/base/error.h"
#include "common/base/metrics_page.h"
#include "common/net/http/http_server.h"
#include "common/net/rpc/rpc.h"
#include "common/net/security/security.h"

typedef struct aq_daemon_pages {
    const char *role; /* "learner" */
    void *user;
    /* Adds the families of the role. Every family is added at any time, with or without samples. A
     * failure answers 500. */
    int (*metrics)(void *user, aq_metrics_page *page);
    /* Why it takes no part in a run yet, or any more; NULL: it does. */
    const char *(*not_ready)(void *user);
    const aq_rpc_dispatcher *dispatcher; /* whose calls are counted; NULL: it takes none */
    const aq_security *security;         /* whose certificate runs out; NULL: none */
    const aq_http_route *routes;         /* of its own; copied */
    size_t route_count;
} aq_daemon_pages;

typedef struct aq_daemon_http aq_daemon_http;

/* `listen` NULL: nothing is served, and `*ret_http` becomes NULL. Logs http_ready, and
 * http_open when others than this host can look. What `pages` points at must outlive it, but for
 * the routes. */
int aq_daemon_http_open(uv_loop_t *loop, const char *listen, const aq_daemon_pages *pages,
                        aq_daemon_http **ret_http, aq_error *error) AQ_MUST_USE;

/* "http://127.0.0.1:41234"; "" for NULL. */
const char *aq_daemon_http_url(const aq_daemon_http *http);

/* Once, before the loop's last turn; NULL is fine. */
void aq_daemon_http_close(aq_daemon_http *http);

#endif

/*
 * See daemon_http.h.
 */
#include "common/net/http/daemon_http.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/nng_mend/net_peers.h"
#include "common/sys/log.h"
#include "common/sys/machine.h"

enum { OWN_ROUTES = 3 };

struct aq_daemon_http {
    aq_daemon_pages pages;
    aq_http_server *server;
    int64_t started_ns; /* monotonic */
    int64_t started_wall_ns;
};

/* ---- metrics that all daemons have ---------------------------------------------------------- */

static void add_process(const aq_daemon_http *http, aq_metrics_page *page)
{
    const aq_metric_label build[] = {{"role", http->pages.role}, {"version", AQ_VERSION}};
    aq_page_family(page, AQ_METRIC_GAUGE, "build_info", "1, with what runs here.");
    aq_page_labelled(page, build, sizeof(build) / sizeof(build[0]), 1);
    aq_page_gauge(page, "ready", "1 while it takes part in a run, else 0; as /readyz.",
                  http->pages.not_ready(http->pages.user) == NULL);
    aq_page_gauge(page, "start_time_seconds", "When it began to serve, since 1970.",
                  aq_ns_to_s(http->started_wall_ns));
    aq_page_gauge(page, "uptime_seconds", "Since it began to serve.",
                  aq_ns_to_s(aq_clock_monotonic_ns() - http->started_ns));
    aq_page_counter(page, "cpu_seconds_total", "Processor time of this process.",
                    aq_ns_to_s(aq_clock_cpu_ns()));
    aq_page_gauge(page, "resident_memory_bytes", "Memory that this process has resident.",
                  (double)aq_machine_resident_bytes());
}

static void add_certificate(const aq_daemon_http *http, aq_metrics_page *page)
{
    const int64_t end_s = aq_security_expires_s(http->pages.security);
    aq_page_gauge(page, "certificate_end_time_seconds", "When its certificate expires, since 1970.",
                  end_s != 0 ? (double)end_s : (double)NAN);
}

static void add_peers(aq_metrics_page *page)
{
    const aq_net_peers peers = aq_net_peer_counters();
    aq_page_gauge(page, "connections", "Connections over TCP that came in and are open.",
                  (double)peers.connections);
    aq_page_counter(page, "connections_accepted_total", "Connections over TCP that came in.",
                    (double)peers.accepted);
    aq_page_family(page, AQ_METRIC_COUNTER, "connections_refused_total",
                   "Connections over TCP that were closed, by reason.");
    aq_page_sample(page, "reason", "stranger", (double)peers.strangers);
    aq_page_sample(page, "reason", "too_many", (double)peers.refused_connections);
    aq_page_sample(page, "reason", "slow", (double)peers.cut_slow);
    aq_page_sample(page, "reason", "full", (double)peers.cut_full);
}

static void add_calls(const aq_daemon_http *http, aq_metrics_page *page)
{
    aq_rpc_counters calls = {0};
    if (http->pages.dispatcher != NULL) {
        calls = aq_rpc_dispatcher_counters(http->pages.dispatcher);
    }
    aq_page_counter(page, "calls_total", "Calls that came in, repeats left out.",
                    (double)calls.calls);
    aq_page_counter(page, "calls_failed_total", "Calls answered with another status than OK.",
                    (double)calls.failures);
    aq_page_counter(page, "calls_repeated_total", "Calls that came again.", (double)calls.repeats);
    aq_page_family(page, AQ_METRIC_COUNTER, "calls_refused_total",
                   "Calls that were not carried out, by reason.");
    aq_page_sample(page, "reason", "not_allowed", (double)calls.turned_away);
    aq_page_sample(page, "reason", "malformed", (double)calls.refused_frames);
}

static void add_http(const aq_daemon_http *http, aq_metrics_page *page)
{
    const aq_http_counters counters = aq_http_server_counters(http->server);
    aq_page_counter(page, "http_requests_total", "HTTP requests that were answered.",
                    (double)counters.requests);
    aq_page_counter(page, "http_refused_total",
                    "HTTP connections closed: too many, too slow, too large, not HTTP.",
                    (double)counters.refused);
}

/* ---- pages ---------------------------------------------------------------------------------- */

static int get_metrics(void *user, aq_http_reply *reply)
{
    const aq_daemon_http *http = user;
    aq_metrics_page page;
    aq_metrics_page_begin(&page, reply->body);
    page.prefix = "actorq_";
    add_process(http, &page);
    add_certificate(http, &page);
    add_peers(&page);
    add_calls(http, &page);
    add_http(http, &page);
    int rc = http->pages.metrics(http->pages.user, &page);
    reply->content_type = AQ_METRICS_PAGE_TYPE;
    return rc != 0 ? rc : aq_metrics_page_end(&page);
}

static int say(aq_http_reply *reply, const char *text)
{
    return aq_buffer_append(reply->body, text, strlen(text));
}

/* The loop has come here: that is the answer. */
static int get_health(void *user, aq_http_reply *reply)
{
    (void)user;
    return say(reply, "ok\n");
}

static int get_readiness(void *user, aq_http_reply *reply)
{
    const aq_daemon_http *http = user;
    const char *why_not = http->pages.not_ready(http->pages.user);
    if (why_not == NULL) {
        return say(reply, "ready\n");
    }
    reply->status = 503;
    int rc = say(reply, "not ready: ");
    rc = rc != 0 ? rc : say(reply, why_not);
    return rc != 0 ? rc : say(reply, "\n");
}

/* ---- life ----------------------------------------------------------------------------------- */

static void say_where(const aq_daemon_http *http)
{
    aq_log(AQ_LOG_INFO, "http_ready", "", "url=%s", aq_http_server_url(http->server));
    if (!aq_http_server_is_local(http->server)) {
        aq_log(AQ_LOG_WARN, "http_open",
               "anybody who reaches this address can look at the run; they can change nothing",
               "url=%s", aq_http_server_url(http->server));
    }
}

int aq_daemon_http_open(uv_loop_t *loop, const char *listen, const aq_daemon_pages *pages,
                        aq_daemon_http **ret_http, aq_error *error)
{
    AQ_ASSERT(pages->route_count <= AQ_HTTP_ROUTES_MAX - OWN_ROUTES);
    if (listen == NULL) {
        *ret_http = NULL;
        return 0;
    }
    aq_daemon_http *http = aq_alloc(1, sizeof(*http));
    if (http == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    http->pages = *pages;
    http->started_ns = aq_clock_monotonic_ns();
    http->started_wall_ns = aq_clock_wall_ns();
    aq_http_route routes[AQ_HTTP_ROUTES_MAX] = {
        {.path = "/metrics", .get = get_metrics, .user = http},
        {.path = "/healthz", .get = get_health, .user = http, .is_vital = true},
        {.path = "/readyz", .get = get_readiness, .user = http, .is_vital = true},
    };
    for (size_t i = 0; i < pages->route_count; i++) {
        routes[OWN_ROUTES + i] = pages->routes[i];
    }
    int rc = aq_http_server_create(loop, listen, routes, OWN_ROUTES + pages->route_count,
                                   &http->server, error);
    if (rc != 0) {
        aq_free(http);
        return aq_fail_context(error, rc, "--http");
    }
    aq_http_server_name(http->server, getenv("ACTORQ_HTTP_NAMES"));
    say_where(http);
    *ret_http = http;
    return 0;
}

const char *aq_daemon_http_url(const aq_daemon_http *http)
{
    return http != NULL ? aq_http_server_url(http->server) : "";
}

void aq_daemon_http_close(aq_daemon_http *http)
{
    if (http == NULL) {
        return;
    }
    aq_http_server_close(http->server);
    aq_free(http); /* no page is asked for any more */
}

/*
 * Learner pages: see learner_pages.h.
 */
#include "learner/daemon/learner_pages.h"

#include <limits.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/address/url.h"
#include "common/net/http/daemon_http.h"
#include "common/sys/file.h"
#include "common/sys/log.h"
#include "learner/daemon/exported_stats.h"
#include "learner/daemon/learner_parts.h"
#include "learner/web/dashboard.h"

struct aq_learner_pages {
    const aq_learner_parts *parts;
    aq_dashboard *dashboard;
    aq_daemon_http *http;
    bool is_over;
};

int aq_pages_history(const aq_run_folder *folder, const aq_metric_list *metrics,
                     aq_run_history **ret_history)
{
    char path[PATH_MAX];
    aq_error error = {0};
    int rc = aq_run_history_create(metrics, ret_history);
    if (rc != 0 || !folder->resumed) {
        return rc;
    }
    rc = aq_path_in(path, sizeof(path), folder->path, "metrics.jsonl", &error);
    if (rc == 0) {
        rc = aq_run_history_read(*ret_history, path, &error);
    }
    if (rc != 0) {
        aq_log(AQ_LOG_WARN, "history_failed", "the dashboard begins with this process", "error=%s",
               AQ_LOG_QUOTED(error.text));
    }
    return 0;
}

static int64_t source_now_ns(void *user)
{
    (void)user;
    return aq_clock_monotonic_ns();
}

static struct json_t *source_time(void *user)
{
    const aq_learner_pages *pages = user;
    return aq_run_report_time(pages->parts->report);
}

static void export_status(const Actorq__V1__StatusReply *status, void *user)
{
    aq_learner_export(status, user);
}

static int add_metrics(void *user, aq_metrics_page *page)
{
    const aq_learner_pages *pages = user;
    return aq_learner_service_status(pages->parts->service, export_status, page);
}

static const char *not_ready(void *user)
{
    const aq_learner_pages *pages = user;
    if (pages->is_over) {
        return "the learner ends";
    }
    return aq_policy_shelf_newest(pages->parts->shelf) != NULL ? NULL
                                                               : "no policy is published yet";
}

static int create_dashboard(aq_learner_pages *pages)
{
    char network[128];
    const aq_dashboard_sources sources = {
        .service = pages->parts->service,
        .history = pages->parts->history,
        .plan = &pages->parts->live.now,
        .network = aq_net_spec_text(aq_agent_spec(pages->parts->agent), network, sizeof(network)),
        .now_ns = source_now_ns,
        .time = source_time,
        .user = pages,
    };
    return aq_dashboard_create(&sources, &pages->dashboard);
}

/* Below those that systems give to whoever asks for any. */
enum { OWN_PORT_FIRST = 20000, OWN_PORTS = 10000 };

/* Any port is the run's own, if nobody has it: a page that was left open finds a run that is
 * resumed, or a learner that was started again. */
static int open_http(const aq_learner_parts *parts, const aq_daemon_pages *served,
                     aq_daemon_http **ret_http, aq_error *error)
{
    char own[AQ_URL_MAX];
    const char *address = parts->options->daemon.http;
    const size_t size = strlen(address);
    const unsigned port = OWN_PORT_FIRST + (unsigned)(parts->folder.run_id % OWN_PORTS);
    const bool is_any = size > 2 && strcmp(address + size - 2, ":0") == 0;
    if (is_any && aq_text_format(own, sizeof(own), "%.*s%u", (int)size - 1, address, port) == 0 &&
        aq_daemon_http_open(parts->loop, own, served, ret_http, error) == 0) {
        return 0;
    }
    return aq_daemon_http_open(parts->loop, address, served, ret_http, error);
}

int aq_learner_pages_open(const aq_learner_parts *parts, aq_learner_pages **ret_pages,
                          aq_error *error)
{
    aq_learner_pages *pages = aq_alloc(1, sizeof(*pages));
    if (pages == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    *ret_pages = pages;
    pages->parts = parts;
    int rc = create_dashboard(pages);
    if (rc != 0) {
        return aq_fail(error, rc, "out of memory");
    }
    aq_http_route routes[AQ_DASHBOARD_ROUTES];
    const aq_daemon_pages served = {
        .role = "learner",
        .user = pages,
        .metrics = add_metrics,
        .not_ready = not_ready,
        .dispatcher = parts->ports.dispatcher,
        .security = parts->options->security->security,
        .routes = routes,
        .route_count = AQ_DASHBOARD_ROUTES,
    };
    aq_dashboard_routes(pages->dashboard, routes);
    return open_http(parts, &served, &pages->http, error);
}

void aq_learner_pages_close(aq_learner_pages *pages)
{
    if (pages != NULL) {
        aq_daemon_http_close(pages->http);
        pages->http = NULL;
    }
}

void aq_learner_pages_destroy(aq_learner_pages *pages)
{
    if (pages != NULL) {
        aq_dashboard_destroy(pages->dashboard);
        aq_free(pages);
    }
}

void aq_learner_pages_end(aq_learner_pages *pages)
{
    if (pages != NULL) {
        pages->is_over = true;
    }
}

const char *aq_learner_pages_url(const aq_learner_pages *pages)
{
    return aq_daemon_http_url(pages != NULL ? pages->http : NULL);
}

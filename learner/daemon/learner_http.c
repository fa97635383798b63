/*
 * The learner daemon: what it serves over HTTP, all of it to look at.
 */
#include "learner/daemon/exported_stats.h"
#include "learner/daemon/learner_net_priv.h"

static void export_status(void *user, const Actorq__V1__StatusReply *status)
{
    aq_learner_export(status, user);
}

static int add_metrics(void *user, aq_metrics_page *page)
{
    const aq_learner *learner = user;
    return aq_learner_service_status(learner->service, export_status, page);
}

static const char *not_ready(void *user)
{
    const aq_learner *learner = user;
    if (learner->ended) {
        return "the run has ended";
    }
    return aq_policy_shelf_newest(learner->shelf) ? NULL : "no policy is published yet";
}

int aq_learner_http_create(aq_learner *learner, aq_error *error)
{
    aq_http_route routes[AQ_DASHBOARD_ROUTES];
    aq_daemon_pages pages = {
        .role = "learner",
        .user = learner,
        .metrics = add_metrics,
        .not_ready = not_ready,
        .dispatcher = learner->dispatcher,
        .security = learner->security.security,
        .routes = routes,
        .route_count = AQ_DASHBOARD_ROUTES,
    };
    if (!learner->dashboard) {
        return 0;
    }
    aq_dashboard_routes(learner->dashboard, routes);
    return aq_daemon_http_open(&learner->loop, learner->options->daemon.http, &pages,
                               &learner->http, error);
}

/*
 * The learner daemon: what it serves over HTTP, all of it to look at.
 */
#include "common/net/http_server.h"

#include "learner/learner_net_priv.h"

int aq_learner_http_create(aq_learner *learner, aq_error *error)
{
    aq_http_route routes[AQ_DASHBOARD_ROUTES];
    if (!learner->options->daemon.http) {
        return 0;
    }
    aq_dashboard_routes(learner->dashboard, routes);
    int rc = aq_http_server_create(&learner->loop, learner->options->daemon.http, routes,
                                   AQ_DASHBOARD_ROUTES, &learner->http, error);
    if (!rc) {
        aq_log(AQ_LOG_INFO, "http_ready", "", "url=%s", aq_http_server_url(learner->http));
    }
    return rc;
}

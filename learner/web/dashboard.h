/*
 * Dashboard: one page, served by the learner, that shows how the run goes (docs/dashboard.md), and
 * the two kinds of JSON documents that it is drawn from: how things stand now, and how they went.
 *
 * It only looks. Documents are kept for a moment, so that many who look cost as much as one. Loop
 * thread only.
 */
#ifndef AQ_LEARNER_WEB_DASHBOARD_H
#define AQ_LEARNER_WEB_DASHBOARD_H

#include "common/base/error.h"
#include "common/net/http/http_server.h"
#include "learner/metrics/run_history.h"
#include "learner/run/run_plan.h"
#include "learner/service/learner_service.h"

/* "/", "/api/run", "/api/history", "/api/history/hour", "/api/history/minutes" */
enum { AQ_DASHBOARD_ROUTES = 5, AQ_DASHBOARD_MEMBERS_MAX = 200 };

struct json_t; /* jansson's */
typedef struct aq_dashboard aq_dashboard;

/* Where it looks; all lent. */
typedef struct aq_dashboard_sources {
    const aq_learner_service *service;
    const aq_run_history *history;
    const aq_run_plan *plan;
    const char *network; /* "4-64-64-2", copied */
    int64_t (*now_ns)(void *user);
    struct json_t *(*time)(void *user); /* where time went: a new reference, or NULL; may be NULL */
    void *user;
} aq_dashboard_sources;

int aq_dashboard_create(const aq_dashboard_sources *sources,
                        aq_dashboard **ret_dashboard) AQ_MUST_USE;
void aq_dashboard_destroy(aq_dashboard *dashboard); /* NULL is fine */

/* What it answers over HTTP; valid as long as the dashboard is. */
void aq_dashboard_routes(aq_dashboard *dashboard, aq_http_route routes[AQ_DASHBOARD_ROUTES]);

#endif

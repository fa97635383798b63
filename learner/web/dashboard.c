/*
 * Dashboard: see dashboard.h.
 */
#include "learner/web/dashboard.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/rpc/reflect.h"
#include "common/sys/print_json.h"
#include "learner/web/dashboard_page.h"
#include "learner/web/dashboard_stats.h"

enum { NETWORK_TEXT_MAX = 128 };
#define DOCUMENT_BYTES_MAX ((size_t)4 << 20)

/* How old a document may be. */
#define RUN_NS     (200 * AQ_NS_PER_MS)
#define HISTORY_NS (500 * AQ_NS_PER_MS)

enum { DOCUMENTS = 1 + AQ_HISTORY_SPANS };

/* Kept for those who ask soon after. */
typedef struct document {
    const char *path;
    int (*make)(const aq_dashboard *dashboard, enum aq_history_span span, aq_buffer *out);
    enum aq_history_span span; /* of a history */
    int64_t age_ns_max;
    const aq_dashboard *dashboard;
    aq_buffer text;
    int64_t made_ns;
} document;

struct aq_dashboard {
    aq_dashboard_sources sources;
    char network[NETWORK_TEXT_MAX];
    document documents[DOCUMENTS];
};

/* ---- how things stand ----------------------------------------------------------------------- */

typedef struct run_telling {
    const aq_dashboard *dashboard;
    json_t *document; /* NULL: it could not be made */
} run_telling;

/* Shards and evaluators first, then who has been silent for longest: what is beyond the maximum is
 * what there is least to say about. */
static int by_interest(const void *left, const void *right)
{
    const Actorq__V1__MemberStatus *a = *(Actorq__V1__MemberStatus *const *)left;
    const Actorq__V1__MemberStatus *b = *(Actorq__V1__MemberStatus *const *)right;
    if (a->role != b->role) {
        return a->role > b->role ? -1 : 1;
    }
    return a->heartbeat_ms == b->heartbeat_ms ? 0 : a->heartbeat_ms > b->heartbeat_ms ? -1 : 1;
}

static json_t *status_json(const Actorq__V1__StatusReply *status)
{
    Actorq__V1__StatusReply shown = *status;
    if (shown.n_members > AQ_DASHBOARD_MEMBERS_MAX) {
        qsort(shown.members, shown.n_members, sizeof(Actorq__V1__MemberStatus *), by_interest);
        shown.n_members = AQ_DASHBOARD_MEMBERS_MAX;
    }
    return aq_reflect_to_json(&shown.base);
}

static json_t *verdict_json(const aq_run_facts *facts)
{
    aq_verdict verdict;
    aq_verdict_of(facts, &verdict);
    json_t *notes = json_array();
    for (size_t i = 0; i < verdict.note_count; i++) {
        (void)json_array_append_new(
            notes, json_pack("{s:s, s:s}", "level", aq_verdict_level_name(verdict.notes[i].level),
                             "text", verdict.notes[i].text)); /* short of memory: left out */
    }
    return json_pack("{s:s, s:s, s:o}", "level", aq_verdict_level_name(verdict.level), "headline",
                     verdict.headline, "notes", notes);
}

/* What the run is to be, as far as the page shows it. */
static json_t *plan_json(const aq_dashboard *dashboard)
{
    const aq_run_plan *plan = dashboard->sources.plan;
    const aq_run_config *config = &plan->config;
    /* What shards say is stored is in their first table. */
    const uint64_t capacity = plan->settings.tables[0].capacity * config->replay.shards;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s}", "threshold",
        aq_json_number(aq_dashboard_threshold(plan)), "env_steps",
        aq_json_count(config->limits.env_steps), "learner_steps",
        aq_json_count(config->limits.learner_steps), "wall_s",
        aq_json_number(config->limits.wall_s), "actors", aq_json_count(config->actor.count), "envs",
        aq_json_count(config->actor.envs), "shards", aq_json_count(config->replay.shards),
        "capacity", aq_json_count(capacity), "samples_per_insert",
        aq_json_number(plan->table.samples_per_insert), "heartbeat_ms",
        aq_json_count(config->net.heartbeat_ms), "network", dashboard->network, "table",
        plan->table.name, "unit", config->actor.gradients ? "gradient" : "step");
}

static json_t *facts_json(const aq_run_facts *facts)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:i, s:i, s:i}", "env_rate",
                     aq_json_number(facts->env_steps_per_s), "learner_rate",
                     aq_json_number(facts->learner_steps_per_s), "learner_waits",
                     aq_json_number(facts->learner_waits), "actors_wait",
                     aq_json_number(facts->actors_wait), "actors", (int)facts->actors, "evaluators",
                     (int)facts->evaluators, "shards", (int)facts->shards);
}

static void tell_run(const Actorq__V1__StatusReply *status, void *user)
{
    run_telling *telling = user;
    const aq_dashboard_sources *sources = &telling->dashboard->sources;
    aq_run_facts facts;
    aq_dashboard_facts(status, sources->plan, sources->history, &facts);
    json_t *time = sources->time ? sources->time(sources->user) : NULL;
    char run_id[24]; /* in JSON, a number of 64 bits is no longer whole in a browser */
    (void)snprintf(run_id, sizeof(run_id), "%016" PRIx64, status->run_id);
    telling->document =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:o}", "run_id", run_id, "verdict",
                  verdict_json(&facts), "status", status_json(status), "plan",
                  plan_json(telling->dashboard), "lately", facts_json(&facts), "members_total",
                  (json_int_t)status->n_members, "time", time ? time : json_null());
}

static int make_run(const aq_dashboard *dashboard, enum aq_history_span span, aq_buffer *out)
{
    (void)span;
    run_telling telling = {.dashboard = dashboard};
    int rc = aq_learner_service_status(dashboard->sources.service, tell_run, &telling);
    char *text = telling.document
                     ? json_dumps(telling.document, JSON_COMPACT | JSON_REAL_PRECISION(8))
                     : NULL;
    json_decref(telling.document);
    rc = rc != 0 || text ? rc : AQ_E_NOMEM;
    rc = rc != 0 ? rc : aq_buffer_append(out, text, strlen(text));
    free(text);
    return rc;
}

static int make_history(const aq_dashboard *dashboard, enum aq_history_span span, aq_buffer *out)
{
    return aq_run_history_print(dashboard->sources.history, span, out);
}

/* ---- life ----------------------------------------------------------------------------------- */

static const document documents[DOCUMENTS] = {
    {.path = "/api/run", .make = make_run, .age_ns_max = RUN_NS},
    {.path = "/api/history/minutes",
     .make = make_history,
     .span = AQ_SPAN_MINUTES,
     .age_ns_max = HISTORY_NS},
    {.path = "/api/history/hour",
     .make = make_history,
     .span = AQ_SPAN_HOUR,
     .age_ns_max = HISTORY_NS},
    {.path = "/api/history", .make = make_history, .span = AQ_SPAN_RUN, .age_ns_max = HISTORY_NS},
};

int aq_dashboard_create(const aq_dashboard_sources *sources, aq_dashboard **ret_dashboard)
{
    aq_dashboard *dashboard = aq_alloc(1, sizeof(*dashboard));
    if (!dashboard) {
        return AQ_E_NOMEM;
    }
    dashboard->sources = *sources;
    (void)snprintf(dashboard->network, sizeof(dashboard->network), "%s", sources->network);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        dashboard->documents[i] = documents[i];
        dashboard->documents[i].dashboard = dashboard;
        aq_buffer_init(&dashboard->documents[i].text, DOCUMENT_BYTES_MAX);
    }
    *ret_dashboard = dashboard;
    return 0;
}

void aq_dashboard_destroy(aq_dashboard *dashboard)
{
    if (!dashboard) {
        return;
    }
    for (size_t i = 0; i < DOCUMENTS; i++) {
        aq_buffer_fini(&dashboard->documents[i].text);
    }
    aq_free(dashboard);
}

/* ---- routes --------------------------------------------------------------------------------- */

/* What was not made is not kept. */
static int get_document(void *user, aq_http_reply *reply)
{
    document *kept = user;
    const aq_dashboard_sources *sources = &kept->dashboard->sources;
    const int64_t now_ns = sources->now_ns(sources->user);
    if (kept->text.size == 0 || now_ns - kept->made_ns >= kept->age_ns_max) {
        aq_buffer_clear(&kept->text);
        int rc = kept->make(kept->dashboard, kept->span, &kept->text);
        if (rc != 0) {
            aq_buffer_clear(&kept->text);
            return rc;
        }
        kept->made_ns = now_ns;
    }
    reply->content_type = "application/json";
    return aq_buffer_append(reply->body, kept->text.data, kept->text.size);
}

static int get_page(void *user, aq_http_reply *reply)
{
    (void)user;
    reply->content_type = "text/html; charset=utf-8";
    return aq_buffer_append(reply->body, aq_dashboard_page, aq_dashboard_page_bytes);
}

void aq_dashboard_routes(aq_dashboard *dashboard, aq_http_route routes[AQ_DASHBOARD_ROUTES])
{
    _Static_assert(AQ_DASHBOARD_ROUTES == 1 + DOCUMENTS, "a route for each");
    routes[0] = (aq_http_route){.path = "/", .get = get_page};
    for (size_t i = 0; i < DOCUMENTS; i++) {
        document *kept = &dashboard->documents[i];
        routes[1 + i] = (aq_http_route){.path = kept->path, .get = get_document, .user = kept};
    }
}

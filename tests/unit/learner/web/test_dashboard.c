/*
 * The dashboard's documents and page, asked as the HTTP server does.
 */
#include <jansson.h>

#include "common/config/gradient_rows.h"
#include "learner/web/dashboard.h"
#include "learner/web/dashboard_stats.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"
#include "tests/unit/learner/service_desk.h"

enum { BODY_BYTES_MAX = 8 << 20 };

typedef struct dashboard_stand {
    service_desk desk;
    aq_run_plan plan;
    aq_run_history *history;
    aq_dashboard *dashboard;
    aq_http_route routes[AQ_DASHBOARD_ROUTES];
} dashboard_stand;

static int64_t stand_now(void *user)
{
    const dashboard_stand *stand = user;
    return stand->desk.now_ns;
}

static json_t *stand_time(void *user)
{
    (void)user;
    return json_pack("{s:{s:f}}", "learner", "training_s", 2.5);
}

static aq_dashboard_sources sources_of(dashboard_stand *stand)
{
    return (aq_dashboard_sources){
        .service = stand->desk.service,
        .history = stand->history,
        .plan = &stand->plan,
        .network = "4-64-64-2",
        .now_ns = stand_now,
        .time = stand_time,
        .user = stand,
    };
}

static void dashboard_stand_setup(dashboard_stand *stand)
{
    service_desk_setup(&stand->desk);
    aq_run_config config = config_defaults();
    assert_int_equal(aq_run_plan_make(&config, &stand->plan, NULL), 0);
    assert_int_equal(aq_run_history_create(&fixture_metrics, &stand->history), 0);
    const aq_dashboard_sources sources = sources_of(stand);
    assert_int_equal(aq_dashboard_create(&sources, &stand->dashboard), 0);
    aq_dashboard_routes(stand->dashboard, stand->routes);
}

static void dashboard_stand_teardown(dashboard_stand *stand)
{
    aq_dashboard_destroy(stand->dashboard);
    aq_run_history_destroy(stand->history);
    service_desk_teardown(&stand->desk);
}

/* Asks for a path; the body is the caller's to free. */
static int ask(dashboard_stand *stand, const char *path, aq_buffer *body, const char **ret_type)
{
    aq_buffer_init(body, BODY_BYTES_MAX);
    aq_http_reply reply = {.status = 200, .content_type = "text/plain", .body = body};
    for (size_t i = 0; i < AQ_DASHBOARD_ROUTES; i++) {
        if (strcmp(stand->routes[i].path, path) == 0) {
            int rc = stand->routes[i].get(stand->routes[i].user, &reply);
            *ret_type = reply.content_type;
            assert_int_equal(reply.status, 200);
            return rc;
        }
    }
    fail_msg("no route %s", path);
    return AQ_E_NOT_FOUND;
}

static json_t *document(dashboard_stand *stand, const char *path)
{
    aq_buffer body;
    const char *type;
    assert_int_equal(ask(stand, path, &body, &type), 0);
    assert_string_equal(type, "application/json");
    json_t *json = json_loadb((const char *)body.data, body.size, 0, NULL);
    assert_non_null(json);
    aq_buffer_fini(&body);
    return json;
}

static const char *text_in(const json_t *document, const char *part, const char *key)
{
    return json_string_value(json_object_get(json_object_get(document, part), key));
}

static void join_as(service_desk *desk, enum aq_role role, uint64_t incarnation, char *host)
{
    Actorq__V1__JoinRequest request = desk_join_request(role, incarnation);
    request.host = host;
    desk_join_as(desk, &request);
}

/* ---- how things stand ----------------------------------------------------------------------- */

TEST_IN(dashboard_stand, stand, a_run_document_says_who_where_and_how)
{
    desk_join(&stand->desk, AQ_ROLE_ACTOR, 71);
    json_t *run = document(stand, "/api/run");
    assert_string_equal(json_string_value(json_object_get(run, "run_id")), "1122334455667788");
    assert_string_equal(text_in(run, "status", "algorithm"), "dqn");
    assert_string_equal(text_in(run, "status", "run_dir"), "/runs/one");
    assert_string_equal(text_in(run, "plan", "network"), "4-64-64-2");
    assert_string_equal(text_in(run, "plan", "table"), stand->plan.table.name);
    assert_string_equal(text_in(run, "verdict", "headline"), "Waiting for a replay shard to join");
    assert_string_equal(text_in(run, "verdict", "level"), "bad");
    assert_int_equal(json_integer_value(json_object_get(run, "members_total")), 1);
    const json_t *members = json_object_get(json_object_get(run, "status"), "members");
    assert_int_equal(json_array_size(members), 1);
    const json_t *training =
        json_object_get(json_object_get(json_object_get(run, "time"), "learner"), "training_s");
    assert_true(json_number_value(training) == 2.5);
    json_decref(run);
}

TEST_IN(dashboard_stand, stand, a_host_name_that_is_markup_or_no_text_is_a_text)
{
    static char markup[] = "</script><img src=x onerror=alert(1)>\"'&\n";
    static char no_text[] = "\xff\xfe<b>";
    join_as(&stand->desk, AQ_ROLE_ACTOR, 71, markup);
    json_t *run = document(stand, "/api/run");
    const json_t *members = json_object_get(json_object_get(run, "status"), "members");
    assert_string_equal(json_string_value(json_object_get(json_array_get(members, 0), "host")),
                        markup);
    json_decref(run);

    stand->desk.now_ns += AQ_NS_PER_S;
    join_as(&stand->desk, AQ_ROLE_ACTOR, 72, no_text);
    run = document(stand, "/api/run");
    assert_int_equal(json_integer_value(json_object_get(run, "members_total")), 2);
    json_decref(run);
}

TEST_IN(dashboard_stand, stand, of_a_crowd_shards_evaluators_and_the_silent_are_told)
{
    enum { CROWD = 300 };
    for (uint64_t i = 0; i < CROWD; i++) {
        desk_join(&stand->desk, AQ_ROLE_ACTOR, 1000 + i);
        stand->desk.now_ns += AQ_NS_PER_MS;
    }
    desk_join(&stand->desk, AQ_ROLE_EVALUATOR, 71);
    desk_join(&stand->desk, AQ_ROLE_REPLAY, 72);
    json_t *run = document(stand, "/api/run");
    const json_t *members = json_object_get(json_object_get(run, "status"), "members");
    assert_int_equal(json_integer_value(json_object_get(run, "members_total")), CROWD + 2);
    assert_int_equal(json_array_size(members), AQ_DASHBOARD_MEMBERS_MAX);
    assert_string_equal(json_string_value(json_object_get(json_array_get(members, 0), "role")),
                        "ROLE_REPLAY");
    assert_string_equal(json_string_value(json_object_get(json_array_get(members, 1), "role")),
                        "ROLE_EVALUATOR");
    const json_t *last = json_array_get(members, AQ_DASHBOARD_MEMBERS_MAX - 1);
    assert_true(json_integer_value(json_object_get(last, "heartbeat_ms")) >=
                CROWD - AQ_DASHBOARD_MEMBERS_MAX);
    json_decref(run);
}

TEST_IN(dashboard_stand, stand, many_who_look_cost_as_much_as_one)
{
    json_decref(document(stand, "/api/run"));
    const unsigned asked = stand->desk.statuses;
    json_decref(document(stand, "/api/run"));
    assert_int_equal(stand->desk.statuses, asked);
    stand->desk.now_ns += AQ_NS_PER_S;
    json_decref(document(stand, "/api/run"));
    assert_int_equal(stand->desk.statuses, asked + 1);
}

TEST_IN(dashboard_stand, stand, a_document_without_memory_is_no_document)
{
    aq_buffer body;
    const char *type;
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        stand->desk.now_ns += AQ_NS_PER_S;
        rc = ask(stand, "/api/run", &body, &type);
        assert_true(rc == 0 || body.size == 0);
        aq_buffer_fini(&body);
    }
}

TEST_IN(dashboard_stand, stand, the_tables_in_use_are_told)
{
    stand->plan.config.replay.shards = 2;
    stand->plan.config.actor.gradients = true;
    stand->plan.settings.tables[0] = aq_gradient_rows_table(&stand->plan.config);
    stand->plan.settings.tables[0].capacity = 9;
    stand->plan.table = stand->plan.settings.tables[0];
    json_t *run = document(stand, "/api/run");
    const json_t *plan = json_object_get(run, "plan");
    assert_int_equal(json_integer_value(json_object_get(plan, "capacity")), 18);
    assert_true(json_number_value(json_object_get(plan, "samples_per_insert")) == 0);
    assert_string_equal(text_in(run, "plan", "unit"), "gradient");
    json_decref(run);
}

/* ---- how they went -------------------------------------------------------------------------- */

TEST_IN(dashboard_stand, stand, each_span_has_its_document)
{
    static const char *const paths[] = {"/api/history", "/api/history/hour",
                                        "/api/history/minutes"};
    json_t *line = json_pack("{s:s, s:f, s:f}", "event", "progress", "wall_s", 3.0, "loss", 0.5);
    aq_run_history_line(stand->history, line);
    json_decref(line);
    for (size_t i = 0; i < 3; i++) {
        json_t *history = document(stand, paths[i]);
        const json_t *losses = json_object_get(json_object_get(history, "progress"), "loss");
        assert_int_equal(json_array_size(losses), 1);
        json_decref(history);
    }
}

/* ---- facts ---------------------------------------------------------------------------------- */

static void screen(aq_run_history *history, double wall_s, double mean)
{
    json_t *line = json_pack("{s:s, s:f, s:f, s:b}", "event", "evaluation", "wall_s", wall_s,
                             "return_mean", mean, "confirmed", 0);
    aq_run_history_line(history, line);
    json_decref(line);
}

static enum aq_return_trend trend_of(const aq_run_history *history)
{
    return aq_dashboard_trend(aq_run_history_series(history, AQ_SPAN_RUN, AQ_HISTORY_SCREENED));
}

TEST_IN(dashboard_stand, stand, returns_rise_fall_or_stay)
{
    double at = 0;
    assert_int_equal(trend_of(stand->history), AQ_TREND_UNKNOWN);
    for (; at < 20; at++) {
        screen(stand->history, at, 10 * at);
    }
    assert_int_equal(trend_of(stand->history), AQ_TREND_RISING);
    for (; at < 60; at++) {
        screen(stand->history, at, 200);
    }
    assert_int_equal(trend_of(stand->history), AQ_TREND_LEVEL);
    for (; at < 80; at++) {
        screen(stand->history, at, 50);
    }
    assert_int_equal(trend_of(stand->history), AQ_TREND_FALLING);
}

TEST_IN(dashboard_stand, stand, a_threshold_out_of_reach_is_none)
{
    stand->plan.threshold = -110;
    assert_true(aq_dashboard_threshold(&stand->plan) == -110);
    stand->plan.threshold = 1e300;
    assert_true(isnan(aq_dashboard_threshold(&stand->plan)));
    json_t *run = document(stand, "/api/run");
    assert_true(json_is_null(json_object_get(json_object_get(run, "plan"), "threshold")));
    json_decref(run);
}

static void take_facts(const Actorq__V1__StatusReply *status, void *user)
{
    dashboard_stand *stand = user;
    aq_run_facts facts;
    aq_dashboard_facts(status, &stand->plan, stand->history, &facts);
    assert_int_equal(facts.actors, 1);
    assert_int_equal(facts.evaluators, 0);
    assert_int_equal(facts.shards, 1);
    assert_int_equal(facts.silent, 1); /* all but the shard, which came just now */
    assert_int_equal(facts.learner_steps, 1234);
    assert_near(facts.learner_waits, 0.5, 1e-12);
    assert_near(facts.actors_wait, 0.25, 1e-12);
    assert_int_equal(facts.waits_for, AQ_VERDICT_WAITS_FOR_ANSWERS);
    assert_null(facts.trouble);

    static char full[] = "no space";
    Actorq__V1__StatusReply stuck = *status;
    Actorq__V1__LearnerStatus learner = *status->learner;
    stuck.learner = &learner;
    learner.trouble = full;
    aq_dashboard_facts(&stuck, &stand->plan, stand->history, &facts);
    assert_string_equal(facts.trouble, "no space");
}

static aq_run_facts facts_of(dashboard_stand *stand, const aq_run_config *config)
{
    Actorq__V1__LearnerStatus learner = ACTORQ__V1__LEARNER_STATUS__INIT;
    Actorq__V1__StatusReply status = ACTORQ__V1__STATUS_REPLY__INIT;
    aq_run_facts facts;
    assert_int_equal(aq_run_plan_make(config, &stand->plan, NULL), 0);
    status.learner = &learner;
    aq_dashboard_facts(&status, &stand->plan, stand->history, &facts);
    return facts;
}

TEST_IN(dashboard_stand, stand, what_draws_stored_steps_for_ever_needs_no_actors)
{
    aq_run_config config = config_defaults();
    config.replay.shards = 2;
    assert_false(facts_of(stand, &config).offline);
    assert_false(facts_of(stand, &config).queue);
    assert_int_equal(facts_of(stand, &config).needed, 1000);
    config.replay.samples_per_insert = 0;
    assert_true(facts_of(stand, &config).offline);
    config_set(&config, "learner.algorithm=ppo");
    config_set(&config, "replay.selector=queue");
    config_set(&config, "replay.sequence_length=16");
    config_set(&config, "replay.sequence_period=16");
    config_set(&config, "actor.random_first=false");
    assert_false(facts_of(stand, &config).offline);
    assert_true(facts_of(stand, &config).queue);
    assert_int_equal(facts_of(stand, &config).needed, 2); /* each shard has one to give */
}

TEST_IN(dashboard_stand, stand, facts_are_of_the_members_and_of_the_last_minute)
{
    desk_join(&stand->desk, AQ_ROLE_ACTOR, 71);
    stand->desk.now_ns += 2900 * AQ_NS_PER_MS;
    desk_join(&stand->desk, AQ_ROLE_REPLAY, 72);
    for (int second = 0; second < 120; second++) {
        /* A second actor joins meanwhile: sums jump. */
        const double more = second < 100 ? 0 : 1000;
        /* For the minute before, the learner waited for actors. */
        json_t *line = json_pack(
            "{s:s, s:f, s:f, s:{s:{s:f, s:f}}, s:{s:f, s:f}}", "event", "progress", "wall_s",
            (double)second, "batch_wait_share", second < 60 ? 1.0 : 0.5, "time", "actors",
            "waiting_s", 0.25 * second + 2 * more, "running_s", second + more, "replay_use",
            "waited_limiter_s", fmin(second, 59), "waited_answer_s", 0.5 * fmax(0, second - 59));
        aq_run_history_line(stand->history, line);
        json_decref(line);
    }
    assert_int_equal(aq_learner_service_status(stand->desk.service, take_facts, stand), 0);
}

/* ---- the page ------------------------------------------------------------------------------- */

static bool page_has(const aq_buffer *page, const char *text)
{
    const size_t size = strlen(text);
    for (size_t at = 0; at + size <= page->size; at++) {
        if (memcmp(page->data + at, text, size) == 0) {
            return true;
        }
    }
    return false;
}

TEST_IN(dashboard_stand, stand, the_page_is_whole_and_asks_nobody_else)
{
    aq_buffer page;
    const char *type;
    assert_int_equal(ask(stand, "/", &page, &type), 0);
    assert_string_equal(type, "text/html; charset=utf-8");
    assert_memory_equal(page.data, "<!DOCTYPE html>", 15);
    assert_true(page_has(&page, "</html>"));
    assert_true(page_has(&page, "default-src 'none'; script-src 'sha256-"));
    assert_true(page_has(&page, "connect-src 'self'"));
    assert_false(page_has(&page, "@SCRIPT@"));
    assert_false(page_has(&page, "src=\"http"));
    assert_false(page_has(&page, "href=\"http"));
    assert_false(page_has(&page, "sourceMappingURL"));
    assert_true(page.size < 250000);
    aq_buffer_fini(&page);
}

TEST_IN(dashboard_stand, stand, every_failed_allocation_is_reported)
{
    const aq_dashboard_sources sources = sources_of(stand);
    aq_dashboard *dashboard = NULL;
    assert_fails_without_memory(aq_dashboard_create(&sources, &dashboard));
    assert_null(dashboard);
    aq_dashboard_destroy(NULL);
}

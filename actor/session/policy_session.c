/*
 * Noticing that the broadcast is behind, and fetching. One fetch is out at a time; when fetching
 * does not help, the pauses grow.
 */
#include "actor/session/policy_session.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/address/url.h"
#include "common/sys/log.h"
#include "proto/policy.pb-c.h"

/* How long the broadcast may be behind before a fetch (less in a paced run, which may have to wait
 * for nothing but this), and the pauses between fetches that did not help.
 * Where the network is slow a version takes long to come, and fetching it would only take the way
 * from the broadcast: so that may be behind for twice as long as last time. An outage looks like a
 * slow network: who can do nothing meanwhile does not wait for minutes. */
#define BEHIND_NS      AQ_NS_PER_S
#define BEHIND_NS_MAX  (300 * AQ_NS_PER_S)
#define AWAITED_NS     (100 * AQ_NS_PER_MS)
#define AWAITED_NS_MAX (30 * AQ_NS_PER_S)
#define PAUSE_NS_MIN   AQ_NS_PER_S
#define PAUSE_NS_MAX   (30 * AQ_NS_PER_S)

struct aq_policy_session {
    aq_rpc_stub stub;
    aq_policy_listener listener;
    aq_policy_feed *feed; /* NULL: no run yet */
    uint64_t run_id;

    char url[AQ_URL_MAX];
    bool listening;
    int64_t retry_ns;
    int64_t listen_at_ns; /* when it is tried (again) */

    bool fetching;
    uint64_t fetch_run_id;   /* the run that the fetch under way is for */
    uint64_t fetch_version;  /* of the feed when it began */
    bool urgent;             /* fetch without waiting for the broadcast */
    int64_t behind_since_ns; /* INT64_MAX: it is not */
    int64_t patience_ns;     /* for how long it may be */
    int64_t patience_ns_min, patience_ns_max;
    int64_t late_since_ns;  /* there is a newer version since then; INT64_MAX: there is none */
    int64_t fetched_ns;     /* when the last fetch began */
    bool passed;            /* what it brought, which may be the next version to be seen: the
                               broadcast has brought none meanwhile */
    int64_t fetch_from_ns;  /* not before */
    int64_t pause_ns;       /* after the next fetch */
    uint64_t version_seen;  /* of the feed, at the last tick */
    uint64_t rejected_seen; /* likewise */
    uint64_t gaps_seen;     /* likewise */
    int64_t next_ns;
    int64_t now_ns; /* of the last tick */
    aq_log_limit failed_limit;
    aq_log_limit deaf_limit;
};

int aq_policy_session_create(aq_rpc_channel *learner, const aq_policy_listener *listener,
                             aq_policy_session **ret_session)
{
    aq_policy_session *session = aq_alloc(1, sizeof(*session));
    if (session == NULL) {
        return AQ_E_NOMEM;
    }
    session->listener = *listener;
    session->next_ns = INT64_MAX;
    aq_rpc_stub_init(&session->stub, learner, &actorq__v1__policy__descriptor, 1);
    *ret_session = session;
    return 0;
}

static void stop_listening(aq_policy_session *session)
{
    if (session->listening) {
        session->listener.unlisten(session->listener.user);
        session->listening = false;
    }
}

void aq_policy_session_destroy(aq_policy_session *session)
{
    if (session == NULL) {
        return;
    }
    stop_listening(session);
    aq_policy_feed_destroy(session->feed);
    aq_free(session);
}

int aq_policy_session_start(aq_policy_session *session, const aq_member_view *view,
                            const aq_policy_feed_config *config, bool is_awaited, aq_error *error)
{
    const aq_run_config *run = &view->settings.config;
    aq_policy_feed *feed;
    int rc = aq_policy_feed_create(config, &feed);
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for policies");
    }
    rc = aq_text_set(session->url, sizeof(session->url), view->policy_url);
    AQ_ASSERT(rc == 0); /* urls are checked when they come in */
    stop_listening(session);
    aq_policy_feed_destroy(session->feed);
    session->feed = feed;
    session->run_id = view->run_id;
    session->stub.timeout_ms = (uint32_t)run->net.rpc_timeout_ms;
    session->retry_ns = (uint32_t)run->net.reconnect_max_ms * AQ_NS_PER_MS;
    session->listen_at_ns = INT64_MIN;
    session->urgent = false;
    session->behind_since_ns = INT64_MAX;
    session->patience_ns = 0; /* what was out before is not broadcast again */
    session->patience_ns_min = is_awaited ? AWAITED_NS : BEHIND_NS;
    session->patience_ns_max = is_awaited ? AWAITED_NS_MAX : BEHIND_NS_MAX;
    session->late_since_ns = INT64_MAX;
    session->passed = false;
    session->fetch_from_ns = INT64_MIN;
    session->pause_ns = PAUSE_NS_MIN;
    session->version_seen = 0;
    session->rejected_seen = 0;
    session->gaps_seen = 0;
    return 0;
}

void aq_policy_session_moved(aq_policy_session *session, const char *url)
{
    if (strcmp(session->url, url) == 0) {
        return;
    }
    int rc = aq_text_set(session->url, sizeof(session->url), url);
    AQ_ASSERT(rc == 0);
    stop_listening(session);
    session->listen_at_ns = INT64_MIN;
}

static void try_listening(aq_policy_session *session)
{
    aq_error error = {0};
    int rc = session->listener.listen(session->listener.user, session->url, session->feed, &error);
    if (rc == 0) {
        session->listening = true;
        return;
    }
    session->listen_at_ns = session->now_ns + session->retry_ns;
    aq_log_limited(&session->deaf_limit, session->now_ns, AQ_LOG_WARN, "policy_deaf",
                   "the broadcast cannot be heard; trying again", "url=%s reason=%s", session->url,
                   AQ_LOG_QUOTED(error.text));
}

/* ---- fetching ------------------------------------------------------------------------------- */

static void fetch_failed(aq_policy_session *session)
{
    const aq_rpc_status *status = aq_rpc_stub_status(&session->stub);
    aq_log_limited(&session->failed_limit, session->now_ns, AQ_LOG_DEBUG, "policy_fetch_failed",
                   "asking again in a while", "code=%s reason=%s", aq_rpc_code_name(status->code),
                   AQ_LOG_QUOTED(status->message));
}

static void on_fetched(const Actorq__V1__FetchPolicyReply *reply, void *user)
{
    aq_policy_session *session = user;
    session->fetching = false;
    if (session->fetch_run_id != session->run_id) {
        return; /* another run has begun since */
    }
    if (reply == NULL) {
        fetch_failed(session);
    } else if (session->listening) {
        aq_log(AQ_LOG_DEBUG, "policy_fetched", "", "bytes=%zu", reply->frame.len);
        session->passed = aq_policy_feed_news(session->feed).version == session->fetch_version;
        session->listener.pass(session->listener.user, reply->frame.data, reply->frame.len);
    }
}

static void fetch(aq_policy_session *session)
{
    Actorq__V1__FetchPolicyRequest request;
    actorq__v1__fetch_policy_request__init(&request);
    request.run_id = session->run_id;
    session->fetching = true;
    session->fetched_ns = session->now_ns;
    session->fetch_run_id = session->run_id;
    session->fetch_version = session->version_seen;
    session->fetch_from_ns = session->now_ns + session->pause_ns;
    session->pause_ns = session->pause_ns < PAUSE_NS_MAX / 2 ? session->pause_ns * 2 : PAUSE_NS_MAX;
    actorq__v1__policy__fetch(&session->stub.base, &request, on_fetched, session);
}

/* A version has come. One that was fetched tells nothing of how late the broadcast is, but how long
 * a version takes. */
static void learn_patience(aq_policy_session *session)
{
    const int64_t since_ns = session->passed ? session->fetched_ns : session->late_since_ns;
    int64_t patience_ns = session->patience_ns_min;
    if (since_ns < session->now_ns) {
        const int64_t took_ns = session->now_ns - since_ns;
        patience_ns =
            took_ns < session->patience_ns_max / 2 ? 2 * took_ns : session->patience_ns_max;
    }
    session->patience_ns =
        patience_ns > session->patience_ns_min ? patience_ns : session->patience_ns_min;
    session->late_since_ns = INT64_MAX;
    session->passed = false;
}

/* Takes in what the feed and the learner say. */
static void look(aq_policy_session *session, uint64_t newest)
{
    const aq_policy_news news = aq_policy_feed_news(session->feed);
    if (news.version != session->version_seen) {
        session->version_seen = news.version;
        learn_patience(session);
        session->pause_ns = PAUSE_NS_MIN;
        session->urgent = false;
        session->behind_since_ns = INT64_MAX;
    }
    if (news.rejected != session->rejected_seen || news.gaps != session->gaps_seen) {
        session->rejected_seen = news.rejected;
        session->gaps_seen = news.gaps;
        session->urgent = true; /* what was missed will not come by itself */
    }
    if (newest <= news.version && news.heard <= news.version) {
        session->behind_since_ns = INT64_MAX;
        session->late_since_ns = INT64_MAX;
    } else if (session->behind_since_ns == INT64_MAX) {
        session->behind_since_ns = session->now_ns;
    }
    if (session->behind_since_ns < session->late_since_ns) {
        session->late_since_ns = session->behind_since_ns;
    }
}

/* INT64_MAX: there is no need. */
static int64_t fetch_due_ns(const aq_policy_session *session)
{
    int64_t due_ns = INT64_MAX;
    if (session->urgent) {
        due_ns = session->fetch_from_ns;
    } else if (session->behind_since_ns != INT64_MAX) {
        due_ns = session->behind_since_ns + session->patience_ns;
        due_ns = due_ns > session->fetch_from_ns ? due_ns : session->fetch_from_ns;
    }
    return due_ns;
}

void aq_policy_session_tick(aq_policy_session *session, int64_t now_ns, uint64_t newest)
{
    session->now_ns = now_ns;
    session->next_ns = INT64_MAX;
    if (session->feed == NULL) {
        return;
    }
    if (!session->listening && now_ns >= session->listen_at_ns) {
        try_listening(session);
    }
    if (!session->listening) {
        session->next_ns = session->listen_at_ns;
        return;
    }
    look(session, newest);
    if (!session->fetching && fetch_due_ns(session) <= now_ns) {
        session->urgent = false;
        session->behind_since_ns = INT64_MAX;
        fetch(session);
    }
    session->next_ns = session->fetching ? INT64_MAX : fetch_due_ns(session);
}

int64_t aq_policy_session_next_ns(const aq_policy_session *session)
{
    return session->next_ns;
}

/* ---- engines -------------------------------------------------------------------------------- */

aq_engine *aq_policy_session_take(aq_policy_session *session)
{
    aq_engine *engine = session->feed != NULL ? aq_policy_feed_take(session->feed) : NULL;
    if (engine != NULL) {
        aq_log(AQ_LOG_DEBUG, "policy_adopted", "", "version=%" PRIu64 " rung=%s",
               aq_engine_snapshot(engine)->version, aq_engine_rung(engine));
    }
    return engine;
}

void aq_policy_session_give_back(aq_policy_session *session, aq_engine *engine)
{
    if (engine != NULL) {
        aq_policy_feed_give_back(session->feed, engine);
    }
}

aq_policy_news aq_policy_session_news(const aq_policy_session *session)
{
    return session->feed != NULL ? aq_policy_feed_news(session->feed) : (aq_policy_news){0};
}

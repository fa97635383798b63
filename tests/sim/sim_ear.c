/*
 * On one thread; that a feed may be fed from another is for its own tests.
 */
#include "tests/sim/sim_ear.h"

#include <string.h>

#include "common/base/assert.h"
#include "tests/unit/actor/feed_give.h"

static void on_heard(void *user, const uint8_t *frame, size_t size)
{
    sim_ear *ear = user;
    enum aq_policy_verdict verdict =
        feed_give(ear->feed, sim_now_ns(&ear->site->world), frame, size);
    if (verdict == AQ_POLICY_REJECTED) {
        sim_broken(&ear->site->world, SIM_REFUSED, "host %u rejects a policy of its run",
                   ear->host);
    }
    if (verdict == AQ_POLICY_NEW) {
        sim_ledger_received(&ear->site->ledger, aq_policy_feed_newest(ear->feed));
    }
    ear->site->ledger.policy_gaps += verdict == AQ_POLICY_GAP;
    sim_trace(&ear->site->world, "policy heard", ear->host, verdict);
    sim_pump_wake(ear->pump);
}

static int listen_at(void *user, const char *url, aq_policy_feed *feed, aq_error *error)
{
    sim_ear *ear = user;
    (void)error;
    AQ_ASSERT(ear->subscriber == NULL);
    AQ_ASSERT(strcmp(url, SIM_POLICY_URL) == 0);
    ear->feed = feed;
    ear->subscriber = sim_subscribe(&ear->site->broadcast, ear->host, on_heard, ear);
    return 0;
}

static void unlisten(void *user)
{
    sim_ear *ear = user;
    sim_unsubscribe(ear->subscriber);
    ear->subscriber = NULL;
    ear->feed = NULL;
}

static void pass(void *user, const uint8_t *frame, size_t size)
{
    on_heard(user, frame, size);
}

bool sim_ear_has(const sim_ear *ear, uint64_t version)
{
    const aq_snapshot *newest = ear->feed != NULL ? aq_policy_feed_newest(ear->feed) : NULL;
    return newest != NULL && newest->version >= version;
}

aq_policy_listener sim_ear_listener(sim_ear *ear)
{
    return (aq_policy_listener){
        .user = ear, .listen = listen_at, .unlisten = unlisten, .pass = pass};
}

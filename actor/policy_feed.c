/*
 * From frames to engines.
 */
#include "actor/policy_feed.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "actor/policy_slot.h"
#include "common/base/memory.h"
#include "common/net/frame.h"
#include "common/sys/log.h"
#include "common/wire/wire_policy.h"

enum { QUOTED_MAX = 2 * AQ_ERROR_TEXT_MAX };

struct aq_policy_feed {
    aq_policy_feed_config config;
    aq_policy_slot slot;
    _Atomic uint64_t version;
    _Atomic uint64_t announced;
    _Atomic uint64_t rejected;
    aq_log_limit rejected_limit; /* the feeder's */
};

int aq_policy_feed_create(const aq_policy_feed_config *config, aq_policy_feed **ret_feed)
{
    aq_policy_feed *feed = aq_alloc(1, sizeof(*feed));
    if (feed == NULL) {
        return AQ_E_NOMEM;
    }
    feed->config = *config;
    *ret_feed = feed;
    return 0;
}

static void free_retired(aq_policy_feed *feed)
{
    for (;;) {
        aq_engine *engine = aq_policy_slot_collect(&feed->slot);
        if (engine == NULL) {
            return;
        }
        aq_engine_destroy(engine);
    }
}

void aq_policy_feed_destroy(aq_policy_feed *feed)
{
    if (feed == NULL) {
        return;
    }
    aq_engine_destroy(aq_policy_slot_take(&feed->slot));
    free_retired(feed);
    aq_free(feed);
}

static void reject(aq_policy_feed *feed, int64_t now_ns, const aq_error *error)
{
    char quoted[QUOTED_MAX];
    uint64_t suppressed;
    atomic_fetch_add_explicit(&feed->rejected, 1, memory_order_relaxed);
    if (aq_log_allowed(&feed->rejected_limit, now_ns, &suppressed)) {
        aq_log(AQ_LOG_WARN, "policy_rejected", "the policy in use stays; the newest is fetched",
               "reason=%s suppressed=%" PRIu64, aq_log_quote(quoted, sizeof(quoted), error->text),
               suppressed);
    }
}

static int check_snapshot(const aq_policy_feed *feed, const aq_snapshot *snapshot, aq_error *error)
{
    if (snapshot->run_id != feed->config.run_id) {
        return aq_fail(error, AQ_E_INVALID,
                       "a policy of run %016" PRIx64 "; this is run %016" PRIx64, snapshot->run_id,
                       feed->config.run_id);
    }
    return aq_env_task_check_policy(&feed->config.task, snapshot, error);
}

/* Takes the reference. */
static int adopt(aq_policy_feed *feed, aq_snapshot *snapshot, aq_error *error)
{
    aq_engine *engine;
    const uint64_t version = snapshot->version;
    int rc =
        aq_engine_create(snapshot, feed->config.rows_max, feed->config.cpu_flags, &engine, error);
    aq_snapshot_unref(snapshot); /* the engine has its own */
    if (rc != 0) {
        return rc;
    }
    free_retired(feed);
    aq_engine_destroy(aq_policy_slot_put(&feed->slot, engine));
    atomic_store_explicit(&feed->version, version, memory_order_relaxed);
    return 0;
}

static enum aq_policy_verdict give_policy(aq_policy_feed *feed, int64_t now_ns,
                                          const uint8_t *frame, size_t size)
{
    aq_error error = {0};
    aq_snapshot *snapshot;
    int rc = aq_wire_policy_unpack(frame, size, &snapshot, &error);
    if (rc == 0) {
        rc = check_snapshot(feed, snapshot, &error);
        if (rc == 0 &&
            snapshot->version <= atomic_load_explicit(&feed->version, memory_order_relaxed)) {
            aq_snapshot_unref(snapshot);
            return AQ_POLICY_OLD;
        }
        if (rc == 0) {
            rc = adopt(feed, snapshot, &error);
        } else {
            aq_snapshot_unref(snapshot);
        }
    }
    if (rc != 0) {
        reject(feed, now_ns, &error);
        return AQ_POLICY_REJECTED;
    }
    return AQ_POLICY_NEW;
}

static enum aq_policy_verdict give_announcement(aq_policy_feed *feed, int64_t now_ns,
                                                const uint8_t *frame, size_t size)
{
    aq_error error = {0};
    uint64_t run_id, version;
    if (aq_wire_announce_unpack(frame, size, &run_id, &version, &error) != 0) {
        reject(feed, now_ns, &error);
        return AQ_POLICY_REJECTED;
    }
    if (run_id == feed->config.run_id &&
        version > atomic_load_explicit(&feed->announced, memory_order_relaxed)) {
        atomic_store_explicit(&feed->announced, version, memory_order_relaxed);
    }
    return AQ_POLICY_OLD;
}

enum aq_policy_verdict aq_policy_feed_give(aq_policy_feed *feed, int64_t now_ns,
                                           const uint8_t *frame, size_t size)
{
    aq_error error = {0};
    uint32_t kind = 0;
    const uint8_t *payload;
    size_t payload_size;
    free_retired(feed);
    int rc = aq_frame_check(frame, size, 0, &kind, &payload, &payload_size, &error);
    if (rc == 0 && kind == AQ_FRAME_POLICY) {
        return give_policy(feed, now_ns, frame, size);
    }
    if (rc == 0 && kind == AQ_FRAME_ANNOUNCE) {
        return give_announcement(feed, now_ns, frame, size);
    }
    if (rc == 0) {
        (void)aq_fail(&error, AQ_E_INVALID, "a frame of kind %" PRIu32 " in the broadcast", kind);
    }
    reject(feed, now_ns, &error);
    return AQ_POLICY_REJECTED;
}

aq_engine *aq_policy_feed_take(aq_policy_feed *feed)
{
    return aq_policy_slot_take(&feed->slot);
}

void aq_policy_feed_give_back(aq_policy_feed *feed, aq_engine *engine)
{
    aq_policy_slot_retire(&feed->slot, engine);
}

aq_policy_news aq_policy_feed_news(const aq_policy_feed *feed)
{
    return (aq_policy_news){
        .version = atomic_load_explicit(&feed->version, memory_order_relaxed),
        .announced = atomic_load_explicit(&feed->announced, memory_order_relaxed),
        .rejected = atomic_load_explicit(&feed->rejected, memory_order_relaxed),
    };
}

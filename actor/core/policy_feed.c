/*
 * From frames to engines.
 */
#include "actor/core/policy_feed.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "actor/core/policy_chain.h"
#include "actor/core/policy_slot.h"
#include "common/base/memory.h"
#include "common/net/rpc/frame.h"
#include "common/sys/log.h"
#include "common/wire/wire_policy.h"

struct aq_policy_feed {
    aq_policy_feed_config config;
    aq_policy_slot slot;
    aq_policy_chain chain; /* the feeder's, like what follows but for the counts */
    bool has_gap;
    _Atomic uint64_t version;
    _Atomic uint64_t heard;
    _Atomic uint64_t rejected;
    _Atomic uint64_t gaps;
    aq_log_limit rejected_limit;
    aq_log_limit gap_limit;
};

int aq_policy_feed_create(const aq_policy_feed_config *config, aq_policy_feed **ret_feed)
{
    aq_policy_feed *feed = aq_alloc(1, sizeof(*feed));
    if (feed == NULL) {
        return AQ_E_NOMEM;
    }
    feed->config = *config;
    feed->config.task = aq_env_task_copy(&config->task);
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
    aq_policy_chain_fini(&feed->chain);
    aq_env_task_fini(&feed->config.task);
    aq_free(feed);
}

static void reject(aq_policy_feed *feed, int64_t now_ns, const aq_error *error)
{
    atomic_fetch_add_explicit(&feed->rejected, 1, memory_order_relaxed);
    aq_log_limited(&feed->rejected_limit, now_ns, AQ_LOG_WARN, "policy_rejected",
                   "the policy in use stays; the newest is fetched", "reason=%s",
                   AQ_LOG_QUOTED(error->text));
}

static int fail_run(const aq_policy_feed *feed, uint64_t run_id, aq_error *error)
{
    return aq_fail(error, AQ_E_INVALID, "a policy of run %016" PRIx64 "; this is run %016" PRIx64,
                   run_id, feed->config.run_id);
}

static int check_snapshot(const aq_policy_feed *feed, const aq_snapshot *snapshot, aq_error *error)
{
    if (snapshot->run_id != feed->config.run_id) {
        return fail_run(feed, snapshot->run_id, error);
    }
    return aq_env_task_check_policy(&feed->config.task, snapshot, error);
}

static uint64_t newest_version(const aq_policy_feed *feed)
{
    return feed->chain.newest != NULL ? feed->chain.newest->version : 0;
}

/* What the chain says of a frame, for the session. */
static enum aq_policy_verdict conclude(aq_policy_feed *feed, int64_t now_ns, int rc,
                                       const aq_error *error)
{
    switch (rc) {
    case 0:
        feed->has_gap = feed->has_gap && feed->chain.waiting_count > 0;
        return AQ_POLICY_NEW;
    case AQ_E_EXISTS:
        return AQ_POLICY_OLD;
    case AQ_E_AGAIN:
        return AQ_POLICY_GAP;
    default:
        reject(feed, now_ns, error);
        return AQ_POLICY_REJECTED;
    }
}

static enum aq_policy_verdict hear_policy(aq_policy_feed *feed, int64_t now_ns,
                                          const uint8_t *frame, size_t size)
{
    aq_error error = {0};
    aq_snapshot *snapshot;
    int rc = aq_wire_policy_unpack_of(frame, size, feed->config.network_hash, &snapshot, &error);
    if (rc == 0) {
        rc = check_snapshot(feed, snapshot, &error);
        if (rc != 0) {
            aq_snapshot_unref(snapshot);
        } else if (snapshot->version <=
                   atomic_load_explicit(&feed->version, memory_order_relaxed)) {
            aq_snapshot_unref(snapshot);
            rc = AQ_E_EXISTS;
        } else {
            rc = aq_policy_chain_add(&feed->chain, snapshot, &error);
        }
    }
    return conclude(feed, now_ns, rc, &error);
}

/* Versions were missed: said and counted once, until it is caught up with. A participant that has
 * no policy yet misses nothing. */
static void note_gap(aq_policy_feed *feed, int64_t now_ns, const aq_delta_head *head)
{
    const uint64_t newest = newest_version(feed);
    if (head->version > atomic_load_explicit(&feed->heard, memory_order_relaxed)) {
        atomic_store_explicit(&feed->heard, head->version, memory_order_relaxed);
    }
    if (newest == 0 || feed->has_gap) {
        return;
    }
    feed->has_gap = true;
    atomic_fetch_add_explicit(&feed->gaps, 1, memory_order_relaxed);
    aq_log_limited(&feed->gap_limit, now_ns, AQ_LOG_DEBUG, "policy_gap",
                   "the policy in use stays; a full one is fetched",
                   "version=%" PRIu64 " heard=%" PRIu64 " base=%" PRIu64, newest, head->version,
                   head->base_version);
}

static enum aq_policy_verdict hear_delta(aq_policy_feed *feed, int64_t now_ns, const uint8_t *frame,
                                         size_t size)
{
    aq_error error = {0};
    aq_wire_delta *delta;
    int rc = aq_wire_delta_open(frame, size, &delta, &error);
    if (rc != 0) {
        return conclude(feed, now_ns, rc, &error);
    }
    const aq_delta_head head = *aq_wire_delta_head(delta);
    if (head.run_id != feed->config.run_id) {
        aq_wire_delta_close(delta);
        rc = fail_run(feed, head.run_id, &error);
    } else {
        rc = aq_policy_chain_add_delta(&feed->chain, delta, &error);
    }
    if (rc == AQ_E_AGAIN) {
        note_gap(feed, now_ns, &head);
    }
    return conclude(feed, now_ns, rc, &error);
}

enum aq_policy_verdict aq_policy_feed_settle(aq_policy_feed *feed, int64_t now_ns)
{
    aq_error error = {0};
    aq_engine *engine;
    const uint64_t version = newest_version(feed);
    if (version <= atomic_load_explicit(&feed->version, memory_order_relaxed)) {
        return AQ_POLICY_OLD;
    }
    int rc = aq_engine_create(feed->chain.newest, feed->config.rows_max, feed->config.cpu_flags,
                              &engine, &error);
    if (rc != 0) {
        aq_policy_chain_forget(&feed->chain);
        reject(feed, now_ns, &error);
        return AQ_POLICY_REJECTED;
    }
    free_retired(feed);
    aq_engine_destroy(aq_policy_slot_put(&feed->slot, engine));
    atomic_store_explicit(&feed->version, version, memory_order_relaxed);
    return AQ_POLICY_NEW;
}

enum aq_policy_verdict aq_policy_feed_hear(aq_policy_feed *feed, int64_t now_ns,
                                           const uint8_t *frame, size_t size)
{
    aq_error error = {0};
    const uint8_t *payload;
    size_t payload_size;
    free_retired(feed);
    int rc = aq_frame_check(frame, size, 0, &payload, &payload_size, &error);
    const uint32_t kind = rc == 0 ? aq_frame_kind(frame) : 0;
    if (rc == 0 && kind == AQ_FRAME_POLICY) {
        return hear_policy(feed, now_ns, frame, size);
    }
    if (rc == 0 && kind == AQ_FRAME_POLICY_DELTA) {
        return hear_delta(feed, now_ns, frame, size);
    }
    if (rc == 0) {
        (void)aq_fail(&error, AQ_E_INVALID, "a frame of kind %" PRIu32 " in the broadcast", kind);
    }
    reject(feed, now_ns, &error);
    return AQ_POLICY_REJECTED;
}

const aq_snapshot *aq_policy_feed_newest(const aq_policy_feed *feed)
{
    return feed->chain.newest;
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
        .heard = atomic_load_explicit(&feed->heard, memory_order_relaxed),
        .rejected = atomic_load_explicit(&feed->rejected, memory_order_relaxed),
        .gaps = atomic_load_explicit(&feed->gaps, memory_order_relaxed),
    };
}

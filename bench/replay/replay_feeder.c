/*
 * See replay_feeder.h. Everything but the atomics belongs to the feeder's thread, which ticks when
 * anything happened, and every millisecond.
 */
#include "bench/replay/replay_feeder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "actor/core/outbox.h"
#include "actor/session/credit_session.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/security/security.h"
#include "common/net/sockets/push.h"

enum { ACTOR = 2, TICK_MS = 1, CALLS_MAX = 4, BURST_CHUNKS = 64, SEED = 1 };
#define INCARNATION UINT64_C(0xfeed)
#define RESEND_NS   (2 * AQ_NS_PER_S)
#define HOLD_NS     AQ_NS_PER_MS

struct aq_replay_feeder {
    const aq_replay_load *load;
    aq_run_settings settings;
    aq_rig_place place;
    pthread_t thread;
    bool has_thread;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_prepare_t after_events; /* the tick before the loop sleeps */
    uv_async_t woken;
    aq_push *push;
    aq_rpc_client *client;
    aq_credit_session session;
    aq_outbox *outbox;
    uint64_t granted, put_steps;
    uint32_t next_chunk;
    bool must_wait; /* the socket has no room */
    atomic_bool must_end;
    _Atomic uint64_t goal, acknowledged, bytes, messages;
};

/* ---- sending --------------------------------------------------------------------------------- */

static void take_answer(aq_replay_feeder *feeder, int64_t now_ns)
{
    aq_credit_answer answer;
    if (!aq_credit_session_take(&feeder->session, now_ns, &answer)) {
        return;
    }
    aq_outbox_acknowledge(feeder->outbox, now_ns, &answer.mark);
    feeder->granted = answer.granted;
    atomic_store(&feeder->acknowledged, aq_outbox_count(feeder->outbox).acknowledged_steps);
}

/* True when there may be more to put. */
static bool fill(aq_replay_feeder *feeder, int64_t now_ns)
{
    const aq_replay_load *load = feeder->load;
    const uint64_t goal = atomic_load(&feeder->goal);
    const uint64_t limit = goal < feeder->granted ? goal : feeder->granted;
    if (!aq_outbox_room(feeder->outbox, AQ_OUTBOX_BYTES_MAX)) {
        return false;
    }
    for (int i = 0; i < BURST_CHUNKS; i++) {
        if (feeder->put_steps >= limit) {
            return false;
        }
        aq_outbox_put(feeder->outbox, aq_chunk_ref(load->chunks[feeder->next_chunk]), now_ns);
        feeder->put_steps += load->fresh;
        feeder->next_chunk = (feeder->next_chunk + 1) % load->shape.chunk_count;
    }
    return true;
}

/* True when a message went out. */
static bool send_one(aq_replay_feeder *feeder, int64_t now_ns)
{
    const bool urgent = feeder->put_steps >= atomic_load(&feeder->goal);
    const uint8_t *frame;
    size_t size;
    if (feeder->must_wait || !aq_outbox_next(feeder->outbox, now_ns, urgent, &frame, &size)) {
        return false;
    }
    if (aq_push_send(feeder->push, frame, size) != 0) {
        feeder->must_wait = true;
        return false;
    }
    aq_outbox_sent(feeder->outbox, now_ns);
    atomic_fetch_add(&feeder->bytes, size);
    atomic_fetch_add(&feeder->messages, 1);
    return true;
}

static void tick(aq_replay_feeder *feeder)
{
    const int64_t now_ns = aq_clock_monotonic_ns();
    take_answer(feeder, now_ns);
    bool more = true;
    while (more) {
        while (fill(feeder, now_ns)) {
        }
        more = send_one(feeder, now_ns);
    }
    const aq_outbox_counters counters = aq_outbox_count(feeder->outbox);
    const aq_credit_known known = {
        .store = feeder->place.store,
        .acknowledged = counters.acknowledged,
        .granted = feeder->granted,
        .acknowledged_steps = counters.acknowledged_steps,
    };
    aq_credit_session_ask(&feeder->session, &known);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void on_after_events(uv_prepare_t *prepare)
{
    tick(prepare->data);
}

static void on_timer(uv_timer_t *timer)
{
    (void)timer;
}

static void on_connected(void *user)
{
    aq_replay_feeder *feeder = user;
    feeder->must_wait = false;
    aq_outbox_resend(feeder->outbox, aq_clock_monotonic_ns());
}

static void on_writable(void *user)
{
    aq_replay_feeder *feeder = user;
    feeder->must_wait = false;
}

static void on_woken(uv_async_t *async)
{
    aq_replay_feeder *feeder = async->data;
    if (!atomic_load(&feeder->must_end)) {
        return;
    }
    aq_credit_session_close(&feeder->session);
    aq_rpc_client_close(feeder->client);
    aq_push_close(feeder->push);
    uv_close((uv_handle_t *)&feeder->timer, NULL);
    uv_close((uv_handle_t *)&feeder->after_events, NULL);
    uv_close((uv_handle_t *)&feeder->woken, NULL);
}

static void *run(void *user)
{
    aq_replay_feeder *feeder = user;
    (void)uv_run(&feeder->loop, UV_RUN_DEFAULT);
    return NULL;
}

/* ---- create ---------------------------------------------------------------------------------- */

static void watch_time(aq_replay_feeder *feeder)
{
    int rc = uv_timer_init(&feeder->loop, &feeder->timer);
    AQ_ASSERT(rc == 0);
    rc = uv_timer_start(&feeder->timer, on_timer, TICK_MS, TICK_MS);
    AQ_ASSERT(rc == 0);
    rc = uv_prepare_init(&feeder->loop, &feeder->after_events);
    AQ_ASSERT(rc == 0);
    feeder->after_events.data = feeder;
    rc = uv_prepare_start(&feeder->after_events, on_after_events);
    AQ_ASSERT(rc == 0);
}

static int connect_shard(aq_replay_feeder *feeder, aq_error *error)
{
    const aq_push_events events = {
        .connected = on_connected, .writable = on_writable, .user = feeder};
    const aq_credit_asker asker = {
        .run_id = feeder->place.run_id,
        .actor = ACTOR,
        .incarnation = INCARNATION,
        .rpc_timeout_ms = feeder->settings.config.net.rpc_timeout_ms,
        .pause_ms_min = feeder->settings.config.net.reconnect_min_ms,
        .pause_ms_max = feeder->settings.config.net.reconnect_max_ms,
    };
    int rc = aq_push_create(&feeder->loop, feeder->place.push_url, &feeder->place.limits, &events,
                            &feeder->push, error);
    if (rc == 0) {
        rc = aq_rpc_client_create(&feeder->loop, feeder->place.rpc_url, &feeder->place.limits,
                                  CALLS_MAX, &feeder->client, error);
    }
    if (rc == 0) {
        aq_credit_session_open(&feeder->session, &asker, aq_rpc_client_channel(feeder->client));
    }
    return rc;
}

static int open_outbox(aq_replay_feeder *feeder, aq_error *error)
{
    const aq_outbox_config config = {
        .run_id = feeder->place.run_id,
        .actor = ACTOR,
        .incarnation = INCARNATION,
        .store = feeder->place.store,
        .layout = feeder->load->layout,
        .message_bytes = feeder->settings.config.net.message_bytes,
        .burst_chunks = BURST_CHUNKS,
        .hold_ns = HOLD_NS,
        .resend_ns = RESEND_NS,
        .is_sealed = aq_security_token(feeder->place.limits.security) != NULL,
    };
    int rc = aq_outbox_check(&config, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_outbox_create(&config, &feeder->outbox);
    return rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
}

static int start(aq_replay_feeder *feeder, aq_error *error)
{
    int rc = open_outbox(feeder, error);
    if (rc == 0) {
        rc = connect_shard(feeder, error);
    }
    if (rc != 0) {
        return rc;
    }
    rc = pthread_create(&feeder->thread, NULL, run, feeder);
    if (rc != 0) {
        return aq_fail(error, aq_error_from_errno(rc), "the feeder's thread can't be started");
    }
    feeder->has_thread = true;
    return 0;
}

int aq_replay_feeder_create(const aq_replay_rig *rig, const aq_replay_load *load,
                            aq_replay_feeder **ret_feeder, aq_error *error)
{
    aq_replay_feeder *feeder = aq_alloc(1, sizeof(*feeder));
    if (feeder == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    feeder->load = load;
    feeder->settings = *aq_replay_rig_settings(rig);
    feeder->place = *aq_replay_rig_place(rig);
    int rc = uv_loop_init(&feeder->loop);
    AQ_ASSERT(rc == 0);
    rc = uv_async_init(&feeder->loop, &feeder->woken, on_woken);
    AQ_ASSERT(rc == 0);
    feeder->woken.data = feeder;
    watch_time(feeder);
    aq_credit_session_init(&feeder->session, SEED, 0);
    rc = start(feeder, error);
    if (rc != 0) {
        aq_replay_feeder_destroy(feeder);
        return rc;
    }
    *ret_feeder = feeder;
    return 0;
}

void aq_replay_feeder_destroy(aq_replay_feeder *feeder)
{
    if (feeder == NULL) {
        return;
    }
    atomic_store(&feeder->must_end, true);
    (void)uv_async_send(&feeder->woken);
    int rc = 0;
    if (feeder->has_thread) {
        rc = pthread_join(feeder->thread, NULL);
    } else {
        (void)run(feeder); /* closes what was opened */
    }
    AQ_ASSERT(rc == 0);
    rc = uv_loop_close(&feeder->loop);
    AQ_ASSERT(rc == 0);
    aq_outbox_destroy(feeder->outbox);
    aq_free(feeder);
}

/* ---- use ------------------------------------------------------------------------------------- */

void aq_replay_feeder_send_until(aq_replay_feeder *feeder, uint64_t transitions)
{
    atomic_store(&feeder->goal, transitions);
    (void)uv_async_send(&feeder->woken);
}

uint64_t aq_replay_feeder_acknowledged(const aq_replay_feeder *feeder)
{
    return atomic_load(&feeder->acknowledged);
}

uint64_t aq_replay_feeder_bytes(const aq_replay_feeder *feeder)
{
    return atomic_load(&feeder->bytes);
}

uint64_t aq_replay_feeder_messages(const aq_replay_feeder *feeder)
{
    return atomic_load(&feeder->messages);
}

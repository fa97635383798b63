/*
 * Run watch: see run_watch.h.
 */
#include "cli/run/run_watch.h"

#include "common/base/memory.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/security/security.h"

/* A run that is watched for long is asked less often: its end is known after a hundredth of what it
 * took, and each question takes processor time of the learner. */
enum { PATIENCE_SHARE = 100, PATIENCE_MS_MAX = 250 };

enum { ANSWER_BYTES_MAX = 16 << 20, TIMEOUT_MS = 1000 };

struct aq_run_watch {
    aq_rpc_client *client;
    aq_security *security;
    aq_rpc_stub operations;
    uv_timer_t timer;
    uint64_t period_ms, begun_ms;
    bool asking;
    bool closing;
    aq_run_watch_fn changed;
    void *user;
    Actorq__V1__StatusReply *status;
    aq_rpc_status outcome;
};

/* protobuf-c copies a message by packing it and reading it back. */
static Actorq__V1__StatusReply *copy(const Actorq__V1__StatusReply *status)
{
    size_t size = actorq__v1__status_reply__get_packed_size(status);
    uint8_t *bytes = aq_alloc(size, 1);
    if (!bytes) {
        return NULL;
    }
    (void)actorq__v1__status_reply__pack(status, bytes);
    Actorq__V1__StatusReply *made = actorq__v1__status_reply__unpack(NULL, size, bytes);
    aq_free(bytes);
    return made;
}

static void on_status(const Actorq__V1__StatusReply *status, void *user)
{
    aq_run_watch *watch = user;
    watch->asking = false;
    if (watch->closing) {
        return;
    }
    watch->outcome = *aq_rpc_stub_status(&watch->operations);
    if (!status) {
        return;
    }
    Actorq__V1__StatusReply *kept = copy(status);
    if (!kept) {
        return;
    }
    actorq__v1__status_reply__free_unpacked(watch->status, NULL);
    watch->status = kept;
    watch->changed(watch->user, kept);
}

static void on_due(uv_timer_t *timer)
{
    aq_run_watch *watch = timer->data;
    const uint64_t share_ms = (uv_now(timer->loop) - watch->begun_ms) / PATIENCE_SHARE;
    const uint64_t patience_ms = share_ms < PATIENCE_MS_MAX ? share_ms : PATIENCE_MS_MAX;
    uv_timer_set_repeat(timer, patience_ms > watch->period_ms ? patience_ms : watch->period_ms);
    if (watch->asking) {
        return;
    }
    watch->asking = true;
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    actorq__v1__operations__status(&watch->operations.base, &request, on_status, watch);
}

int aq_run_watch_create(uv_loop_t *loop, const char *url, unsigned period_ms,
                        aq_run_watch_fn changed, void *user, aq_run_watch **ret_watch,
                        aq_error *error)
{
    aq_run_watch *watch = aq_alloc(1, sizeof(*watch));
    if (!watch) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    int rc = aq_security_from_environment(&watch->security, error);
    aq_net_limits limits = {
        .message_bytes_max = ANSWER_BYTES_MAX,
        .reconnect_min_ms = 5,
        .reconnect_max_ms = 500,
        .security = watch->security,
    };
    if (rc == 0) {
        rc = aq_rpc_client_create(loop, url, &limits, 1, &watch->client, error);
    }
    if (rc != 0) {
        aq_security_destroy(watch->security);
        aq_free(watch);
        return rc;
    }
    watch->changed = changed;
    watch->user = user;
    aq_rpc_stub_init(&watch->operations, aq_rpc_client_channel(watch->client),
                     &actorq__v1__operations__descriptor, TIMEOUT_MS);
    uv_timer_init(loop, &watch->timer);
    watch->timer.data = watch;
    watch->period_ms = period_ms;
    watch->begun_ms = uv_now(loop);
    uv_timer_start(&watch->timer, on_due, 0, period_ms);
    *ret_watch = watch;
    return 0;
}

Actorq__V1__StatusReply *aq_run_watch_take(aq_run_watch *watch)
{
    Actorq__V1__StatusReply *status = watch->status;
    watch->status = NULL;
    return status;
}

const aq_rpc_status *aq_run_watch_outcome(const aq_run_watch *watch)
{
    return &watch->outcome;
}

void aq_run_watch_unreached(const aq_run_watch *watch, char *ret_text, size_t size)
{
    const aq_rpc_channel *channel = watch->operations.channel;
    channel->write_unreached(channel, ret_text, size);
}

static void on_timer_closed(uv_handle_t *handle)
{
    aq_run_watch *watch = handle->data;
    actorq__v1__status_reply__free_unpacked(watch->status, NULL);
    aq_security_destroy(watch->security);
    aq_free(watch);
}

void aq_run_watch_close(aq_run_watch *watch)
{
    if (!watch) {
        return;
    }
    watch->closing = true;
    aq_rpc_client_close(watch->client);
    uv_close((uv_handle_t *)&watch->timer, on_timer_closed);
}

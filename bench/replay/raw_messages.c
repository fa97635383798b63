/*
 * See raw_messages.h. The same PUSH and PULL that experience goes through.
 */
#include "bench/replay/raw_messages.h"

#include <limits.h>
#include <unistd.h>

#include "cli/launch/supervisor.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/address/url.h"
#include "common/net/sockets/pull.h"
#include "common/net/sockets/push.h"
#include "common/sys/file.h"
#include "common/sys/process.h"

enum {
    PORT_MIN = 20000,
    PORT_COUNT = 10000,
    MESSAGE_BYTES_MAX = 16 << 20,
    ALARM_MS = 20,
    PATIENCE_MS = 10000,
};

static const aq_net_limits limits = {
    .message_bytes_max = MESSAGE_BYTES_MAX, .reconnect_min_ms = 10, .reconnect_max_ms = 50};

struct aq_raw_messages {
    uv_loop_t *loop;
    uv_timer_t alarm;
    aq_supervisor *supervisor;
    aq_push *push;
    uint8_t *message;
    size_t size;                  /* 0: nothing is to be sent */
    uint64_t bytes, bytes_before; /* sent in all, and when this slice began */
    bool has_died;
};

/* ---- the process that takes ------------------------------------------------------------------ */

static void drop(void *user, aq_lease *message, const char *peer)
{
    (void)user;
    (void)message;
    (void)peer;
}

int aq_raw_messages_take(const char *url, aq_error *error)
{
    uv_loop_t loop;
    aq_pull *pull;
    int rc = aq_process_follow_parent(getppid(), error);
    if (rc == 0 && uv_loop_init(&loop) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    if (rc == 0) {
        rc = aq_pull_create(&loop, url, &limits, drop, NULL, &pull, error);
    }
    if (rc == 0) {
        (void)uv_run(&loop, UV_RUN_DEFAULT); /* until SIGTERM */
    }
    return rc;
}

/* ---- the process that sends ------------------------------------------------------------------ */

static void pump(void *user)
{
    aq_raw_messages *raw = user;
    while (raw->size > 0 && aq_push_send(raw->push, raw->message, raw->size) == 0) {
        raw->bytes += raw->size;
    }
}

static void on_alarm(uv_timer_t *timer)
{
    (void)timer;
}

static void on_restarting(void *user, const char *name, const char *how, int delay_ms)
{
    aq_raw_messages *raw = user;
    (void)name;
    (void)how;
    (void)delay_ms;
    raw->has_died = true;
}

static void on_finished(void *user, const char *name)
{
    on_restarting(user, name, NULL, 0);
}

static void on_gave_up(void *user, const aq_child_end *end)
{
    on_restarting(user, end->name, end->how, 0);
}

/* `done` false when the time is up. */
static int run_until(aq_raw_messages *raw, bool (*done)(const aq_raw_messages *raw),
                     int64_t time_ns, aq_error *error)
{
    const int64_t end_ns = aq_clock_monotonic_ns() + time_ns;
    while (aq_clock_monotonic_ns() < end_ns && (done == NULL || !done(raw))) {
        (void)uv_run(raw->loop, UV_RUN_ONCE);
        if (raw->has_died) {
            return aq_fail(error, AQ_E_CLOSED, "the process that takes raw messages has ended");
        }
    }
    return done != NULL && !done(raw)
               ? aq_fail(error, AQ_E_TIMEOUT, "the process that takes raw messages is not there")
               : 0;
}

static bool is_connected(const aq_raw_messages *raw)
{
    return aq_push_connected(raw->push);
}

static int start_taker(aq_raw_messages *raw, const char *folder, const char *url, aq_error *error)
{
    const aq_supervisor_owner owner = {
        .user = raw, .restarting = on_restarting, .finished = on_finished, .gave_up = on_gave_up};
    char log_path[PATH_MAX];
    int rc = aq_path_in(log_path, sizeof(log_path), folder, "raw.log", error);
    if (rc != 0) {
        return rc;
    }
    const aq_child_spec child = {.name = "raw-messages",
                                 .program = "/proc/self/exe",
                                 .log_path = log_path,
                                 .args = {AQ_RAW_MESSAGES_ROLE, url}};
    rc = aq_supervisor_create(raw->loop, &owner, &raw->supervisor);
    return rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc))
                   : aq_supervisor_start(raw->supervisor, &child, error);
}

static int prepare(aq_raw_messages *raw, uv_loop_t *loop)
{
    int rc = uv_timer_init(loop, &raw->alarm);
    AQ_ASSERT(rc == 0);
    raw->loop = loop;
    raw->alarm.data = raw;
    rc = uv_timer_start(&raw->alarm, on_alarm, ALARM_MS, ALARM_MS);
    AQ_ASSERT(rc == 0);
    raw->message = aq_alloc(1, MESSAGE_BYTES_MAX);
    return raw->message != NULL ? 0 : AQ_E_NOMEM;
}

static int connect_taker(aq_raw_messages *raw, const char *folder, bool over_tcp, aq_error *error)
{
    const aq_push_events events = {.connected = pump, .writable = pump, .user = raw};
    char url[AQ_URL_MAX];
    int rc = over_tcp ? aq_text_format(url, sizeof(url), "tcp://127.0.0.1:%d",
                                       PORT_MIN + (int)(getpid() % PORT_COUNT))
                      : aq_text_format(url, sizeof(url), "ipc://%s/raw", folder);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: the path is too long", folder);
    }
    rc = start_taker(raw, folder, url, error);
    if (rc == 0) {
        rc = aq_push_create(raw->loop, url, &limits, &events, &raw->push, error);
    }
    return rc != 0 ? rc : run_until(raw, is_connected, PATIENCE_MS * AQ_NS_PER_MS, error);
}

int aq_raw_messages_open(uv_loop_t *loop, const char *folder, bool over_tcp,
                         aq_raw_messages **ret_raw, aq_error *error)
{
    aq_raw_messages *raw = aq_alloc(1, sizeof(*raw));
    if (raw == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    int rc = prepare(raw, loop);
    rc = rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc))
                 : connect_taker(raw, folder, over_tcp, error);
    if (rc != 0) {
        aq_raw_messages_close(raw);
        return rc;
    }
    *ret_raw = raw;
    return 0;
}

static void on_alarm_closed(uv_handle_t *handle)
{
    aq_raw_messages *raw = handle->data;
    aq_free(raw->message);
    aq_free(raw);
}

void aq_raw_messages_close(aq_raw_messages *raw)
{
    if (raw == NULL) {
        return;
    }
    aq_push_close(raw->push);
    if (raw->supervisor != NULL) {
        aq_supervisor_stop(raw->supervisor, "", PATIENCE_MS);
        while (aq_supervisor_alive(raw->supervisor, "") > 0) {
            (void)uv_run(raw->loop, UV_RUN_ONCE);
        }
        aq_supervisor_close(raw->supervisor);
    }
    uv_close((uv_handle_t *)&raw->alarm, on_alarm_closed);
}

static bool has_sent(const aq_raw_messages *raw)
{
    return raw->bytes > raw->bytes_before;
}

int aq_raw_messages_run(aq_raw_messages *raw, size_t size, int64_t time_ns, double *ret_bytes_per_s,
                        aq_error *error)
{
    AQ_ASSERT(size > 0 && size <= MESSAGE_BYTES_MAX);
    const int64_t start_ns = aq_clock_monotonic_ns();
    raw->bytes_before = raw->bytes;
    raw->size = size;
    pump(raw);
    int rc = run_until(raw, NULL, time_ns, error);
    if (rc == 0) { /* a slice without a message tells nothing */
        rc = run_until(raw, has_sent, PATIENCE_MS * AQ_NS_PER_MS, error);
    }
    raw->size = 0;
    if (rc != 0) {
        return rc;
    }
    *ret_bytes_per_s = (double)(raw->bytes - raw->bytes_before) * (double)AQ_NS_PER_S /
                       (double)(aq_clock_monotonic_ns() - start_ns);
    return 0;
}

/*
 * Fetch line: see fetch_line.h.
 */
#include "actor/daemon/fetch_line.h"

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/security/security.h"
#include "common/sys/loop.h"

/* A policy, and the fp32 form of another. */
enum { CALLS_MAX = 2 };

/* How long a call may take at least, and how long after its deadline the line closes: so nothing is
 * in flight then. */
enum { CALL_MS_MIN = 120000, IDLE_MS = 10000 };

struct aq_fetch_line {
    aq_rpc_channel channel; /* first: the channel is the line */
    uv_loop_t *loop;
    uv_timer_t idle; /* since the deadline of the last call */
    const char *url;
    aq_net_limits limits;
    aq_rpc_client *client; /* NULL: not connected */
};

static void hang_up(aq_fetch_line *line)
{
    aq_rpc_client_close(line->client);
    line->client = NULL;
}

static void on_overdue(uv_timer_t *timer)
{
    hang_up(timer->data);
}

static void on_idle(uv_timer_t *timer)
{
    aq_loop_look_first(timer, on_overdue); /* an answer may be there */
}

static int send_call(aq_rpc_channel *channel, const uint8_t *frame, size_t size,
                     uint32_t timeout_ms, aq_rpc_answer_fn answer, void *user)
{
    aq_fetch_line *line = (aq_fetch_line *)channel;
    int rc = 0;
    if (line->client == NULL) {
        rc = aq_rpc_client_create(line->loop, line->url, &line->limits, CALLS_MAX, &line->client,
                                  NULL);
    }
    if (rc != 0) {
        return rc;
    }
    /* One that is signed again has what is left of its time; the other may have more. */
    const uint32_t longest_ms = timeout_ms > CALL_MS_MIN ? timeout_ms : CALL_MS_MIN;
    uv_update_time(line->loop); /* which stood still while environments were stepped */
    (void)uv_timer_start(&line->idle, on_idle, (uint64_t)longest_ms + IDLE_MS, 0);
    aq_rpc_channel *inner = aq_rpc_client_channel(line->client);
    return inner->send(inner, frame, size, timeout_ms, answer, user);
}

static void write_unreached(const aq_rpc_channel *channel, char *ret_text, size_t size)
{
    const aq_fetch_line *line = (const aq_fetch_line *)channel;
    ret_text[0] = '\0';
    if (line->client != NULL) {
        const aq_rpc_channel *inner = aq_rpc_client_channel(line->client);
        inner->write_unreached(inner, ret_text, size);
    }
}

int aq_fetch_line_create(uv_loop_t *loop, const char *url, const aq_net_limits *limits,
                         aq_fetch_line **ret_line)
{
    aq_fetch_line *line = aq_alloc(1, sizeof(*line));
    if (line == NULL) {
        return AQ_E_NOMEM;
    }
    line->loop = loop;
    line->url = url;
    line->limits = *limits;
    aq_rpc_channel_init(&line->channel, limits->message_bytes_max, aq_rng_system_seed());
    line->channel.token = aq_security_token(limits->security);
    line->channel.timeout_ms_min = CALL_MS_MIN;
    line->channel.send = send_call;
    line->channel.write_unreached = write_unreached;
    int rc = uv_timer_init(loop, &line->idle);
    AQ_ASSERT(rc == 0);
    line->idle.data = line;
    *ret_line = line;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    aq_free(handle->data);
}

void aq_fetch_line_close(aq_fetch_line *line)
{
    if (line == NULL) {
        return;
    }
    hang_up(line);
    uv_close((uv_handle_t *)&line->idle, on_closed);
}

aq_rpc_channel *aq_fetch_line_channel(aq_fetch_line *line)
{
    return &line->channel;
}

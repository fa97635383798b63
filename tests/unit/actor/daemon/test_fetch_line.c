/*
 * Fetch line: when it hangs up.
 */
#include <poll.h>

#include "actor/daemon/fetch_line.h"
#include "tests/support/test.h"

/* A line stays for ten seconds more than a call has. */
enum { CALL_MS = 120000, STOOD_STILL_MS = 131000, PATIENCE_MS = 120000 };

typedef struct fixture {
    uv_loop_t loop;
    aq_fetch_line *line;
    unsigned answers;
    int error; /* of the last one */
} fixture;

/* To nobody. */
static void open_line(fixture *f)
{
    static const aq_net_limits limits = {
        .message_bytes_max = 1 << 20, .reconnect_min_ms = 10, .reconnect_max_ms = 100};
    *f = (fixture){.line = NULL};
    assert_int_equal(uv_loop_init(&f->loop), 0);
    assert_int_equal(aq_fetch_line_create(&f->loop, "ipc:///tmp/aq-nobody", &limits, &f->line), 0);
}

static void close_line(fixture *f)
{
    aq_fetch_line_close(f->line);
    assert_int_equal(uv_run(&f->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&f->loop), 0);
}

static void on_answer(void *user, int error, const uint8_t *frame, size_t size)
{
    fixture *f = user;
    (void)frame;
    assert_int_equal(size, 0);
    f->answers++;
    f->error = error;
}

static void call(fixture *f, uint32_t timeout_ms)
{
    static const uint8_t frame[1];
    aq_rpc_channel *channel = aq_fetch_line_channel(f->line);
    assert_int_equal(channel->send(channel, frame, sizeof(frame), timeout_ms, on_answer, f), 0);
}

/* As during a long step of an environment. */
TEST(a_call_after_the_loop_stood_still_has_its_time)
{
    fixture f;
    open_line(&f);
    f.loop.time -= STOOD_STILL_MS;
    call(&f, CALL_MS);
    (void)uv_run(&f.loop, UV_RUN_NOWAIT);
    assert_int_equal(f.answers, 0);
    close_line(&f);
    assert_int_equal(f.answers, 1);
    assert_int_equal(f.error, AQ_E_CLOSED);
}

static void make_due(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (uv_is_active(handle) && handle->type == UV_TIMER) {
        ((uv_timer_t *)handle)->timeout = 0;
    }
}

/* What became of a call is heard before the line closes. */
TEST(what_came_while_the_loop_stood_still_counts)
{
    fixture f;
    open_line(&f);
    call(&f, 1);
    while (f.answers == 0) { /* until then the loop's descriptors are not watched yet */
        (void)uv_run(&f.loop, UV_RUN_ONCE);
    }
    call(&f, 1);
    struct pollfd waker = {.fd = uv_backend_fd(&f.loop), .events = POLLIN};
    assert_int_equal(poll(&waker, 1, PATIENCE_MS), 1);
    uv_walk(&f.loop, make_due, NULL);
    (void)uv_run(&f.loop, UV_RUN_NOWAIT);
    assert_int_equal(f.answers, 2);
    assert_int_equal(f.error, AQ_E_TIMEOUT);
    close_line(&f);
}

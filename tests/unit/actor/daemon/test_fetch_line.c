/*
 * Fetch line: when it hangs up.
 */
#include "actor/daemon/fetch_line.h"
#include "tests/support/test.h"

/* A line stays for ten seconds more than a call has. */
enum { CALL_MS = 120000, STOOD_STILL_MS = 131000 };

static void on_answer(void *user, int error, const uint8_t *frame, size_t size)
{
    unsigned *answers = user;
    (void)frame;
    assert_int_equal(error, AQ_E_CLOSED); /* nobody is there */
    assert_int_equal(size, 0);
    (*answers)++;
}

/* As during a long step of an environment. */
TEST(a_call_after_the_loop_stood_still_has_its_time)
{
    static const aq_net_limits limits = {
        .message_bytes_max = 1 << 20, .reconnect_min_ms = 10, .reconnect_max_ms = 100};
    static const uint8_t frame[1];
    uv_loop_t loop;
    aq_fetch_line *line;
    unsigned answers = 0;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(aq_fetch_line_create(&loop, "ipc:///tmp/aq-nobody", &limits, &line), 0);
    aq_rpc_channel *channel = aq_fetch_line_channel(line);
    loop.time -= STOOD_STILL_MS;
    assert_int_equal(channel->send(channel, frame, sizeof(frame), CALL_MS, on_answer, &answers), 0);
    (void)uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(answers, 0);
    aq_fetch_line_close(line);
    assert_int_equal(answers, 1);
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
}

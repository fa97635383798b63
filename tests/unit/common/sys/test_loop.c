/*
 * Which signals end a program in good order.
 */
#include <signal.h>

#include "common/sys/loop.h"
#include "tests/support/test.h"

typedef struct ear {
    int heard; /* the signal; 0: none */
    int times;
} ear;

static void on_signal(uv_signal_t *handle, int number)
{
    ear *listener = handle->data;
    listener->heard = number;
    listener->times++;
}

static void on_patience_over(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static void wait_a_moment(uv_loop_t *loop, uv_timer_t *patience)
{
    uv_timer_start(patience, on_patience_over, 100, 0);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_run(loop, UV_RUN_NOWAIT); /* a moment may be over before the loop has looked at all */
}

/* What is heard of it when it comes that often. */
static ear hear(int number, int times)
{
    uv_loop_t loop;
    uv_timer_t patience;
    aq_end_signals signals;
    ear listener = {0};
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_succeeds(aq_loop_watch_signals(&loop, &signals, on_signal, &listener, NULL));
    uv_timer_init(&loop, &patience);
    for (int i = 0; i < times; i++) {
        assert_int_equal(raise(number), 0);
        wait_a_moment(&loop, &patience);
    }
    assert_true(aq_loop_close(&loop));
    return listener;
}

TEST(who_asks_for_the_end_is_heard)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    assert_true(signal(SIGHUP, SIG_DFL) != SIG_ERR);
    EACH_ROW(i, numbers) {
        assert_int_equal(hear(numbers[i], 1).heard, numbers[i]);
    }
}

/* A terminal that closes says so more than once, and who asks twice is in haste. */
TEST(a_hangup_is_heard_once)
{
    assert_true(signal(SIGHUP, SIG_DFL) != SIG_ERR);
    assert_int_equal(hear(SIGHUP, 2).times, 1);
    assert_int_equal(raise(SIGHUP), 0); /* also when its loop is closed */
    assert_int_equal(hear(SIGTERM, 2).times, 2);
}

TEST(a_program_that_has_nothing_left_to_end_exits_by_itself)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    uv_loop_t loop;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_true(aq_loop_close_last(&loop));
    EACH_ROW(i, numbers) {
        assert_int_equal(raise(numbers[i]), 0);
        assert_true(signal(numbers[i], SIG_DFL) == SIG_IGN);
    }
}

/* As nohup has it. */
TEST(a_hangup_that_is_ignored_stays_so)
{
    assert_true(signal(SIGHUP, SIG_IGN) != SIG_ERR);
    assert_int_equal(hear(SIGHUP, 1).times, 0);
    assert_true(signal(SIGHUP, SIG_DFL) != SIG_ERR);
}

/*
 * Loop: see loop.h.
 */
#include "common/sys/loop.h"

#include <signal.h>
#include <stddef.h>

#include "common/base/assert.h"

/* nohup, and whoever else starts a program that is to outlive its terminal, ignore it. */
static bool is_ignored(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* The next one is not to kill either, also not once the loop is gone. The handle stays as it is:
 * who stops one has the default for a moment. */
static void on_hangup(uv_signal_t *handle, int number)
{
    const uv_signal_t *first = handle - (AQ_END_SIGNALS - 1);
    const aq_end_signals *signals = (const aq_end_signals *)(const void *)first;
    (void)signal(number, SIG_IGN);
    signals->on_signal(handle, number);
}

int aq_loop_watch_signals(uv_loop_t *loop, aq_end_signals *signals, uv_signal_cb on_signal,
                          void *data, aq_error *error)
{
    signals->on_signal = on_signal;
    for (int i = 0; i < AQ_END_SIGNALS; i++) {
        (void)uv_signal_init(loop, &signals->handles[i]); /* it does not fail */
        signals->handles[i].data = data;
    }
    int problem = uv_signal_start(&signals->handles[0], on_signal, SIGTERM);
    if (problem == 0) {
        problem = uv_signal_start(&signals->handles[1], on_signal, SIGINT);
    }
    if (problem == 0 && !is_ignored(SIGHUP)) {
        problem = uv_signal_start(&signals->handles[AQ_END_SIGNALS - 1], on_hangup, SIGHUP);
    }
    return problem != 0 ? aq_fail(error, AQ_E_UNSUPPORTED, "signals cannot be watched: %s",
                                  uv_strerror(problem))
                        : 0;
}

void aq_loop_look_first(uv_timer_t *timer, uv_timer_cb callback)
{
    const int rc = uv_timer_start(timer, callback, 1, 0);
    AQ_ASSERT(rc == 0);
}

static void close_handle(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

bool aq_loop_close(uv_loop_t *loop)
{
    const bool is_over = is_ignored(SIGHUP);
    uv_walk(loop, close_handle, NULL);
    if (is_over) {
        (void)signal(SIGHUP, SIG_IGN);
    }
    (void)uv_run(loop, UV_RUN_DEFAULT);
    return uv_loop_close(loop) == 0;
}

bool aq_loop_close_last(uv_loop_t *loop)
{
    uv_walk(loop, close_handle, NULL); /* from here on signals would end it */
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    return aq_loop_close(loop);
}

/*
 * Loop: see loop.h.
 */
#include "common/sys/loop.h"

#include <signal.h>
#include <stddef.h>

int aq_loop_watch_signals(uv_loop_t *loop, uv_signal_t signals[2], uv_signal_cb on_signal,
                          void *data, aq_error *error)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    int problem = 0;
    for (int i = 0; i < 2; i++) {
        (void)uv_signal_init(loop, &signals[i]); /* it does not fail */
        signals[i].data = data;
    }
    for (int i = 0; problem == 0 && i < 2; i++) {
        problem = uv_signal_start(&signals[i], on_signal, numbers[i]);
    }
    return problem != 0 ? aq_fail(error, AQ_E_UNSUPPORTED, "signals cannot be watched: %s",
                                  uv_strerror(problem))
                        : 0;
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
    uv_walk(loop, close_handle, NULL);
    (void)uv_run(loop, UV_RUN_DEFAULT);
    return uv_loop_close(loop) == 0;
}

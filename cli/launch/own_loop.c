/*
 * Own loop: see own_loop.h.
 */
#include "cli/launch/own_loop.h"

#include "common/sys/loop.h"

static void on_signal(uv_signal_t *signal_handle, int number)
{
    const aq_own_loop *loop = signal_handle->data;
    loop->signalled(loop->user, number);
}

int aq_own_loop_init(aq_own_loop *loop, aq_own_loop_signalled signalled, void *user,
                     aq_error *error)
{
    loop->signalled = signalled;
    loop->user = user;
    if (uv_loop_init(&loop->uv) != 0) {
        return aq_fail(error, AQ_E_NOMEM, "the event loop could not be made");
    }
    int rc = aq_loop_watch_signals(&loop->uv, &loop->signals, on_signal, loop, error);
    if (rc != 0) {
        aq_own_loop_fini(loop);
    }
    return rc;
}

void aq_own_loop_fini(aq_own_loop *loop)
{
    (void)aq_loop_close(&loop->uv);
}

/*
 * Loop: see loop.h.
 */
#include "common/sys/loop.h"

#include <stddef.h>

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

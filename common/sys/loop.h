/*
 * Loop: the signals that end a program, and the end of its event loop, whoever still has handles on
 * it. The loop's thread only.
 */
#ifndef AQ_COMMON_SYS_LOOP_H
#define AQ_COMMON_SYS_LOOP_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/error.h"

/* Has `on_signal` called at SIGTERM and SIGINT, by handles with this data. They are the caller's to
 * close, after a failure too. */
int aq_loop_watch_signals(uv_loop_t *loop, uv_signal_t signals[2], uv_signal_cb on_signal,
                          void *data, aq_error *error) AQ_MUST_USE;

/* Closes all handles that are left, waits until they are, and closes the loop. False: something
 * still works on it. */
bool aq_loop_close(uv_loop_t *loop);

#endif

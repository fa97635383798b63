/*
 * Loop: the signals that end a program, deadlines of what comes over descriptors, and the end of a
 * program's event loop, whoever still has handles on it. The loop's thread only.
 */
#ifndef AQ_COMMON_SYS_LOOP_H
#define AQ_COMMON_SYS_LOOP_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/error.h"

enum { AQ_END_SIGNALS = 3 };

typedef struct aq_end_signals {
    uv_signal_t handles[AQ_END_SIGNALS]; /* that of SIGHUP is the last */
    uv_signal_cb on_signal;
} aq_end_signals;

/* Has `on_signal` called at SIGTERM, SIGINT and, unless it is ignored by then, SIGHUP, by handles
 * with this data. They are the caller's to close, after a failure too. SIGHUP is heard once, and
 * ignored from then on: when a terminal closes, its shell and the system both send it, while a
 * second signal means haste. */
int aq_loop_watch_signals(uv_loop_t *loop, aq_end_signals *signals, uv_signal_cb on_signal,
                          void *data, aq_error *error) AQ_MUST_USE;

/* For the callback of a timer that is a deadline: `callback` follows once the loop has looked at
 * its descriptors, unless what is found there stops the timer or starts it anew. libuv before 1.45
 * runs timers first, so that after a standstill what has come in time would be late. */
void aq_loop_look_first(uv_timer_t *timer, uv_timer_cb callback);

/* Closes all handles that are left, waits until they are, and closes the loop. False: something
 * still works on it. */
bool aq_loop_close(uv_loop_t *loop);

/* The same where nothing is left but to give back what the program holds: it ignores from then on
 * what ends programs, so that its exit status is its own. */
bool aq_loop_close_last(uv_loop_t *loop);

#endif

/*
 * Notify: tells the service manager that started this process how it is, by systemd's protocol: a
 * datagram of lines to the socket that NOTIFY_SOCKET names. Without that variable everything here
 * does nothing.
 *
 * A timer of the loop says that the process is alive, as often as WATCHDOG_USEC asks for; so what
 * is told is that the loop turns, and a process whose loop hangs is killed and started again. What
 * holds the loop up and is at work says so itself.
 */
#ifndef AQ_COMMON_SYS_NOTIFY_H
#define AQ_COMMON_SYS_NOTIFY_H

#include <uv.h>

#include "common/base/error.h"

typedef struct aq_notify aq_notify;

/* Says READY and begins to say that the loop turns. `*ret_notify` is NULL where nobody wants to
 * hear. AQ_E_INVALID for a NOTIFY_SOCKET that is no address, AQ_E_NOMEM, or AQ_E_IO. */
int aq_notify_create(uv_loop_t *loop, aq_notify **ret_notify, aq_error *error) AQ_MUST_USE;

/* Says that the process is alive, if that was asked for and it is time to: may be called often. On
 * the loop's thread; NULL is fine. */
void aq_notify_alive(aq_notify *notify);

/* Says STOPPING: what is left to do may take a while. NULL is fine. */
void aq_notify_stopping(aq_notify *notify);

/* On the loop's thread; NULL is fine. The memory goes when the loop runs its close callbacks. */
void aq_notify_close(aq_notify *notify);

#endif

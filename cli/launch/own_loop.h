/*
 * Own loop: the event loop of a command that waits for children (own_child.h), and hears SIGINT,
 * SIGTERM and SIGHUP meanwhile. Loop thread only.
 */
#ifndef AQ_CLI_LAUNCH_OWN_LOOP_H
#define AQ_CLI_LAUNCH_OWN_LOOP_H

#include <uv.h>

#include "common/base/error.h"
#include "common/sys/loop.h"

typedef void (*aq_own_loop_signalled)(void *user, int number);

typedef struct aq_own_loop {
    uv_loop_t uv;
    aq_end_signals signals;
    aq_own_loop_signalled signalled;
    void *user;
} aq_own_loop;

/* After a failure there is nothing to fini. */
int aq_own_loop_init(aq_own_loop *loop, aq_own_loop_signalled signalled, void *user,
                     aq_error *error) AQ_MUST_USE;

/* Closes whatever handles are open in it. */
void aq_own_loop_fini(aq_own_loop *loop);

#endif

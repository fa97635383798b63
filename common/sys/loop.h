/*
 * Loop: the end of an event loop, whoever still has handles on it. The loop's thread only.
 */
#ifndef AQ_COMMON_SYS_LOOP_H
#define AQ_COMMON_SYS_LOOP_H

#include <stdbool.h>
#include <uv.h>

/* Closes all handles that are left, waits until they are, and closes the loop. False: something
 * still works on it. */
bool aq_loop_close(uv_loop_t *loop);

#endif

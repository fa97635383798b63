/*
 * Sweep lease: how workers of a sweep know of each other whether they live. Each holds a lock on
 * DIR/workers/NAME, which its runs inherit, and counts there while it lives.
 *
 * A claim's lease is over when nobody holds that lock any more: the worker and all processes of its
 * run are gone, however they ended. Where a whole host is gone or stands still, and its lock with
 * it, it is over when the count has not changed for the lease's time by the clock of who looks; no
 * two hosts' clocks are compared. One owner.
 */
#ifndef AQ_CLI_SWEEP_JOURNAL_SWEEP_LEASE_H
#define AQ_CLI_SWEEP_JOURNAL_SWEEP_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct aq_sweep_presence aq_sweep_presence;

/* Makes the file of a worker of that name, which nobody else has, and holds its lock. */
int aq_sweep_presence_create(const char *dir, const char *worker, aq_sweep_presence **ret_presence,
                             aq_error *error) AQ_MUST_USE;
void aq_sweep_presence_destroy(aq_sweep_presence *presence); /* NULL is fine; removes the file */

/* Counts one up. A file system that can't be written to now may be able to at the next beat. */
void aq_sweep_presence_beat(aq_sweep_presence *presence);

/* The open file, for processes that are to hold the lock as well. */
int aq_sweep_presence_file(const aq_sweep_presence *presence) AQ_MUST_USE;

typedef struct aq_sweep_watch aq_sweep_watch;

/* `lease_ns` is how long a worker may be silent. */
int aq_sweep_watch_create(const char *dir, int64_t lease_ns,
                          aq_sweep_watch **ret_watch) AQ_MUST_USE;
void aq_sweep_watch_destroy(aq_sweep_watch *watch); /* NULL is fine */

/* Whether the lease of that worker is over. What can't be told, isn't. */
bool aq_sweep_watch_is_over(aq_sweep_watch *watch, const char *worker, int64_t now_ns);

#endif

/*
 * Daemon: what every program of ours does first, in one place. Part of the programs rather than of
 * the library: it logs.
 */
#ifndef AQ_COMMON_SYS_DAEMON_H
#define AQ_COMMON_SYS_DAEMON_H

#include <stdint.h>

#include "common/base/error.h"

/* Names the process in the log, turns writes to closed pipes into errors, and warns of values of
 * ACTORQ_LOG and ACTORQ_CPU that nobody understands. */
void aq_daemon_begin(const char *role, int64_t id);

/* `--parent PID`: see aq_process_follow_parent. */
int aq_daemon_follow(const char *parent, aq_error *error) AQ_MUST_USE;

/* `--log-level LEVEL`. */
int aq_daemon_log_level(const char *level, aq_error *error) AQ_MUST_USE;

#endif

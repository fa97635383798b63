/*
 * Raw messages: what the transport itself can do between two processes, with nobody behind it who
 * looks at what comes. No shard can take more, and no answer can come faster.
 */
#ifndef AQ_BENCH_REPLAY_RAW_MESSAGES_H
#define AQ_BENCH_REPLAY_RAW_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/base/error.h"

typedef struct aq_raw_messages aq_raw_messages;

/* Starts this program anew as a process that takes messages and drops them. `folder` is for its
 * socket. */
int aq_raw_messages_open(uv_loop_t *loop, const char *folder, bool over_tcp,
                         aq_raw_messages **ret_raw, aq_error *error) AQ_MUST_USE;
void aq_raw_messages_close(aq_raw_messages *raw); /* NULL is fine */

/* Sends messages of `size` bytes for so long. */
int aq_raw_messages_run(aq_raw_messages *raw, size_t size, int64_t time_ns, double *ret_bytes_per_s,
                        aq_error *error) AQ_MUST_USE;

/* The other process's main: takes messages at `url`, until its parent ends it. */
#define AQ_RAW_MESSAGES_ROLE "take-raw-messages"
int aq_raw_messages_take(const char *url, aq_error *error) AQ_MUST_USE;

#endif

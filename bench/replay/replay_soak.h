/*
 * Soak: a shard at full rate for a long time, in which its memory may not grow past what the steps
 * that it holds are allowed: 1.15 times (observation + action + 16 bytes) a step.
 */
#ifndef AQ_BENCH_REPLAY_REPLAY_SOAK_H
#define AQ_BENCH_REPLAY_REPLAY_SOAK_H

#include <uv.h>

#include "bench/replay/replay_bench_plan.h"

/* Prints a line every 10 s. AQ_E_TOO_BIG, in words, when the process takes more. */
int aq_replay_soak_run(uv_loop_t *loop, const aq_replay_bench_plan *plan, const char *folder,
                       aq_error *error) AQ_MUST_USE;

#endif

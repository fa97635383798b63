/*
 * Replay scenarios: the measurements of the replay bench, one after the other, each with a shard of
 * its own.
 */
#ifndef AQ_BENCH_REPLAY_REPLAY_SCENARIOS_H
#define AQ_BENCH_REPLAY_REPLAY_SCENARIOS_H

#include <uv.h>

#include "bench/replay/replay_bench_plan.h"
#include "bench/replay/replay_figures.h"

/* `folder` is there, and empty; what is left in it is the caller's to remove. `progress` is told
 * what is measured next. */
int aq_replay_scenarios_run(uv_loop_t *loop, const aq_replay_bench_plan *plan, const char *folder,
                            void (*progress)(const char *what), aq_replay_figures *ret_figures,
                            aq_error *error) AQ_MUST_USE;

#endif

/*
 * Replay figures: what the replay bench has measured, for people and for programs.
 */
#ifndef AQ_BENCH_REPLAY_REPLAY_FIGURES_H
#define AQ_BENCH_REPLAY_REPLAY_FIGURES_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/replay/replay_bench_plan.h"

typedef struct aq_replay_figures {
    double insert_steps_per_s;
    double insert_bytes_per_s;
    double sample_batches_per_s;
    double prioritized_batches_per_s;
    double sample_p99_ms;
    double inprocess_batches_per_s;
    double inprocess_prioritized_batches_per_s;
    double bytes_per_step;

    double sample_p50_ms;
    double busy_insert_steps_per_s; /* while sample_p99_ms was measured */
    uint64_t busy_snapshots;        /* written meanwhile */
    uint32_t step_bytes;            /* of an observation and an action */

    /* Of small and large messages and of answers: their size, what the shard moved of them, and
     * what raw ones reach. */
    struct aq_raw_figure {
        double size, bytes_per_s, raw_bytes_per_s;
    } small_messages, large_messages, answers;
    double row_copy_batches_per_s;
    double load[2]; /* processes that ran or wanted to, over the last minute: before and after */
} aq_replay_figures;

/* NULL when out of memory. */
json_t *aq_replay_figures_json(const aq_replay_bench_plan *plan, const aq_replay_figures *figures);

void aq_replay_figures_print(FILE *out, const aq_replay_bench_plan *plan,
                             const aq_replay_figures *figures);

#endif

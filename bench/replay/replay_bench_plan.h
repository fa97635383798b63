/*
 * Replay bench plan: what is measured, how much of it and for how long.
 */
#ifndef AQ_BENCH_REPLAY_REPLAY_BENCH_PLAN_H
#define AQ_BENCH_REPLAY_REPLAY_BENCH_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/replay/replay_load.h"
#include "common/config/run_settings.h"
#include "common/sys/options.h"

enum {
    AQ_REPLAY_BATCH_ROWS = 256,
    AQ_REPLAY_BATCHES = 8, /* of one request */
    AQ_REPLAY_CALLS = 4,   /* under way at once */
    AQ_REPLAY_SLICES = 5,
};

#define AQ_REPLAY_DISCOUNT 0.99f

typedef struct aq_replay_bench_plan {
    aq_json_form json;
    bool quick, over_tcp;
    const char *folder;         /* in which a folder is made */
    uint64_t transitions;       /* that are held */
    uint64_t large_transitions; /* the same, of 8 KiB */
    uint64_t local_transitions; /* in process */
    int64_t slice_ns;
    uint64_t soak_s; /* not 0: nothing but replay_soak.h, for so long */
} aq_replay_bench_plan;

/* For aq_command_begin. */
const aq_options *aq_replay_bench_options(void);

void aq_replay_bench_plan_init(aq_replay_bench_plan *plan);
void aq_replay_bench_plan_finish(aq_replay_bench_plan *plan); /* after the options */

/* Steps of 17 and 6 numbers, and of 8 KiB. */
aq_load_shape aq_replay_bench_small(void);
aq_load_shape aq_replay_bench_large(void);

/* One table that holds `capacity` transitions and lets everybody go as fast as they can. */
aq_run_settings aq_replay_bench_settings(const aq_replay_load *load, uint32_t selector,
                                         uint64_t capacity, bool is_durable);

#endif

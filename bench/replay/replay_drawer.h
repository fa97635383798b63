/*
 * Drawer: a learner's receiving half. It keeps a number of Sample calls under way, copies what they
 * bring into a batch as a trainer would get it, and, if it is told to, sends a new priority for
 * every row back.
 *
 * On the rig's loop; loop thread only.
 */
#ifndef AQ_BENCH_REPLAY_REPLAY_DRAWER_H
#define AQ_BENCH_REPLAY_REPLAY_DRAWER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bench/replay/replay_load.h"
#include "bench/replay/replay_rig.h"

enum { AQ_DRAWER_CALLS_MAX = 16 };

typedef struct aq_replay_drawer aq_replay_drawer;

typedef struct aq_drawer_config {
    uint32_t batch_rows;
    uint32_t batches; /* of one call */
    uint32_t calls;   /* under way at once, 1 to AQ_DRAWER_CALLS_MAX */
    float discount;
    bool prioritizes;
} aq_drawer_config;

/* Nothing is asked for yet. */
int aq_replay_drawer_create(uv_loop_t *loop, const aq_replay_rig *rig, aq_replay_load *load,
                            const aq_drawer_config *config, aq_replay_drawer **ret_drawer,
                            aq_error *error) AQ_MUST_USE;
void aq_replay_drawer_destroy(aq_replay_drawer *drawer); /* NULL is fine */

/* Draws batches for so long, and until those on their way have come (runs the rig's loop). The
 * first answer is checked number by number. */
int aq_replay_drawer_run(aq_replay_drawer *drawer, aq_replay_rig *rig, int64_t time_ns,
                         double *ret_batches_per_s, aq_error *error) AQ_MUST_USE;

uint64_t aq_replay_drawer_batches(const aq_replay_drawer *drawer); /* that have come so far */

/* Milliseconds from a call to its answer, over all runs so far. NaN before the first. */
double aq_replay_drawer_latency_ms(aq_replay_drawer *drawer, double quantile);

/* Bytes of one answer's columns. */
size_t aq_replay_drawer_answer_bytes(const aq_replay_drawer *drawer);

#endif

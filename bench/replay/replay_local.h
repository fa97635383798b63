/*
 * Local: a shard's core in this process, without sockets and without a log: what sampling costs by
 * itself. One thread.
 */
#ifndef AQ_BENCH_REPLAY_REPLAY_LOCAL_H
#define AQ_BENCH_REPLAY_REPLAY_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/replay/replay_load.h"
#include "common/config/run_settings.h"

typedef struct aq_replay_local aq_replay_local;

/* Holds at least so many transitions when it returns. `load` must outlive it. */
int aq_replay_local_create(const aq_run_settings *settings, aq_replay_load *load,
                           uint64_t transitions, aq_replay_local **ret_local,
                           aq_error *error) AQ_MUST_USE;
void aq_replay_local_destroy(aq_replay_local *local); /* NULL is fine */

/* Draws batches for so long and, if it is told to, gives every row of each a new priority. The
 * first batch is checked number by number. */
int aq_replay_local_run(aq_replay_local *local, uint32_t batch_rows, float discount,
                        bool prioritizes, int64_t time_ns, double *ret_batches_per_s,
                        aq_error *error) AQ_MUST_USE;

#endif

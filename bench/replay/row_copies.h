/*
 * Row copies: the least that drawing a batch can cost: its rows are copied from random places of a
 * memory as large as the store. In processor time; one thread.
 */
#ifndef AQ_BENCH_REPLAY_ROW_COPIES_H
#define AQ_BENCH_REPLAY_ROW_COPIES_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/chunk.h"

/* Of an observation, the next one (n_step rows on) and an action a row. AQ_E_NOMEM. */
int aq_row_copies_measure(const aq_layout *layout, uint64_t transitions, uint32_t batch_rows,
                          int64_t time_ns, double *ret_batches_per_s) AQ_MUST_USE;

#endif

/*
 * See row_copies.h.
 */
#include "bench/replay/row_copies.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"

enum { BATCHES_BETWEEN_LOOKS = 64, SEED = 5 };

typedef struct row_store {
    size_t row_bytes, obs_bytes, action_bytes, next_bytes;
    uint8_t *rows;
    uint8_t *batch;
    uint64_t row_count;
    aq_rng rng;
} row_store;

static void copy_batch(row_store *store, uint32_t batch_rows)
{
    uint8_t *to = store->batch;
    for (uint32_t i = 0; i < batch_rows; i++) {
        const uint8_t *row =
            store->rows + (size_t)aq_rng_below(&store->rng, store->row_count) * store->row_bytes;
        memcpy(to, row, store->obs_bytes);
        memcpy(to + store->obs_bytes, row + store->next_bytes, store->obs_bytes);
        memcpy(to + 2 * store->obs_bytes, row + store->obs_bytes, store->action_bytes);
        to += 2 * store->obs_bytes + store->action_bytes;
    }
}

int aq_row_copies_measure(const aq_layout *layout, uint64_t transitions, uint32_t batch_rows,
                          int64_t time_ns, double *ret_batches_per_s)
{
    row_store store = {
        .obs_bytes = layout->columns[AQ_COLUMN_OBS].bytes,
        .action_bytes = layout->columns[AQ_COLUMN_ACTION].bytes,
        .row_count = transitions,
    };
    store.row_bytes = store.obs_bytes + store.action_bytes;
    store.next_bytes = layout->n_step * store.row_bytes;
    store.rows = aq_alloc(transitions + layout->n_step, store.row_bytes);
    store.batch = aq_alloc(batch_rows, store.row_bytes + store.obs_bytes);
    int rc = store.rows == NULL || store.batch == NULL ? AQ_E_NOMEM : 0;
    if (rc == 0) {
        aq_rng_init(&store.rng, SEED, 0);
        const int64_t start_ns = aq_clock_cpu_ns();
        int64_t passed_ns = 0;
        uint64_t batches = 0;
        for (; passed_ns < time_ns; passed_ns = aq_clock_cpu_ns() - start_ns) {
            for (int i = 0; i < BATCHES_BETWEEN_LOOKS; i++) {
                copy_batch(&store, batch_rows);
            }
            batches += BATCHES_BETWEEN_LOOKS;
        }
        *ret_batches_per_s = (double)batches * (double)AQ_NS_PER_S / (double)passed_ns;
    }
    aq_free(store.rows);
    aq_free(store.batch);
    return rc;
}

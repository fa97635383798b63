/*
 * How fast a table gives batches, in process: 100,000 steps of obs 17 f32 and action 6 f32 in
 * chunks of 32, batches of 256 items over 5 steps; prioritized, with 256 new priorities a batch.
 *
 *   bench_replay_table [repetitions]
 *
 * The last column is what copying the same rows takes when all that is known beforehand: where
 * every row lies, and nothing to fold. In processor time: waiting for a processor that others use
 * does not count. The pace of memory changes from one moment to the next, so the three take turns
 * and the median of each counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "replay/table/replay_table.h"
#include "tests/support/chunks.h"

enum {
    LENGTH = 32,
    CHUNKS = 8,
    SPAN = 5,
    BATCH_ROWS = 256,
    REPETITIONS_MAX = 101,
    OBS = 17,
    ACT = 6
};
#define ROUND_NS (AQ_NS_PER_S / 50)

typedef struct bench {
    aq_layout layout;
    aq_message_store *store;
    aq_replay_table *table;
    aq_batch *batch;
    aq_rng rng;
} bench;

static void must(int rc)
{
    AQ_ASSERT(rc == 0);
}

static aq_arrival *make_arrival(bench *self)
{
    size_t chunk = aq_layout_bytes(&self->layout, LENGTH);
    uint8_t *bytes;
    aq_lease *frame;
    aq_arrival *arrival;
    must(aq_lease_create(CHUNKS * (chunk + 21) + 64, &bytes, &frame));
    must(aq_arrival_create(CHUNKS, frame, &arrival));
    memset(bytes, 0, frame->size);
    uint8_t *at = bytes + 57;
    for (uint32_t i = 0; i < CHUNKS; i++, at += chunk + 21) {
        arrival->chunks[i] = (aq_chunk_view){.length = LENGTH, .first = 100, .overlap = SPAN - 1};
        aq_chunk_view_lay(&arrival->chunks[i], &self->layout, at);
    }
    return arrival;
}

static void bench_open(bench *self, uint32_t selector, uint64_t capacity)
{
    aq_table_spec spec = {
        .selector = selector, .priority_exponent = 0.6, .capacity = capacity, .n_step = SPAN};
    self->layout =
        chunk_layout_of(chunk_box(AQ_DTYPE_F32, OBS), chunk_box(AQ_DTYPE_F32, ACT), SPAN, LENGTH);
    aq_rng_init(&self->rng, 1, 2);
    must(aq_message_store_create(0, &self->store));
    must(aq_replay_table_create(&spec, &self->layout, self->store, 3, &self->table));
    must(aq_batch_create(&self->layout, 0, BATCH_ROWS, &self->batch));
    for (uint64_t number = 1; number <= capacity / 200; number++) {
        aq_stored_message *message;
        aq_arrival *arrival = make_arrival(self);
        must(aq_replay_table_reserve(self->table, arrival));
        must(aq_message_store_add(self->store, arrival, number, 0, &message));
        for (uint32_t i = 0; i < CHUNKS; i++) {
            aq_replay_table_insert(self->table, message, i);
        }
    }
}

static void bench_close(bench *self)
{
    aq_batch_destroy(self->batch);
    aq_replay_table_destroy(self->table);
    aq_message_store_destroy(self->store);
}

static void one_batch(bench *self, bool prioritize)
{
    must(aq_replay_table_sample(self->table, BATCH_ROWS, 0.99f, self->batch));
    if (prioritize) {
        uint32_t applied;
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {
            self->batch->priority[i] = (float)aq_rng_uniform(&self->rng) + 0.01f;
        }
        aq_replay_table_prioritize(self->table, self->batch->item, self->batch->priority,
                                   BATCH_ROWS, &applied);
        AQ_ASSERT(applied == BATCH_ROWS);
    }
}

static double rate(bench *self, bool prioritize)
{
    uint64_t batches = 0;
    int64_t start_ns = aq_clock_cpu_ns();
    while (aq_clock_cpu_ns() - start_ns < ROUND_NS) {
        for (int i = 0; i < 16; i++) {
            one_batch(self, prioritize);
        }
        batches += 16;
    }
    return (double)batches * 1e9 / (double)(aq_clock_cpu_ns() - start_ns);
}

typedef struct plain_store {
    uint8_t *rows;
    size_t row_bytes;
    uint64_t count;
    uint8_t *batch;
    uint32_t *at;
} plain_store;

/* Rows of the same sizes: two observations, an action, five rewards, a version. */
static double copy_rate(plain_store *plain, aq_rng *rng)
{
    uint64_t batches = 0;
    int64_t start_ns = aq_clock_cpu_ns();
    while (aq_clock_cpu_ns() - start_ns < ROUND_NS) {
        for (int n = 0; n < 16; n++) {
            for (int i = 0; i < BATCH_ROWS; i++) {
                plain->at[i] = (uint32_t)aq_rng_below(rng, plain->count - SPAN);
                const uint8_t *row = plain->rows + plain->at[i] * plain->row_bytes;
                for (size_t line = 0; line < plain->row_bytes; line += 64) {
                    __builtin_prefetch(row + line);
                    __builtin_prefetch(row + SPAN * plain->row_bytes + line);
                }
            }
            for (int i = 0; i < BATCH_ROWS; i++) {
                uint8_t *to = plain->batch + (size_t)i * 192;
                const uint8_t *row = plain->rows + plain->at[i] * plain->row_bytes;
                memcpy(to, row, 100);
                memcpy(to + 100, row + SPAN * plain->row_bytes, 68);
            }
        }
        batches += 16;
    }
    return (double)batches * 1e9 / (double)(aq_clock_cpu_ns() - start_ns);
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void print_median(const char *what, double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), by_value);
    (void)printf("  %-36s %10.0f /s (best %.0f, worst %.0f)\n", what, values[count / 2],
                 values[count - 1], values[0]);
}

int main(int argc, char **argv)
{
    static const uint64_t capacities[] = {100000, 1000000};
    int repetitions = argc > 1 ? atoi(argv[1]) : 31;
    repetitions = repetitions < 1 || repetitions > REPETITIONS_MAX ? 31 : repetitions;
    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
        double uniform[REPETITIONS_MAX], prioritized[REPETITIONS_MAX], copied[REPETITIONS_MAX];
        bench of_uniform, of_prioritized;
        bench_open(&of_uniform, AQ_SELECTOR_UNIFORM, capacities[i]);
        bench_open(&of_prioritized, AQ_SELECTOR_PRIORITIZED, capacities[i]);
        plain_store plain = {.row_bytes = 100, .count = capacities[i]};
        plain.rows = aq_alloc(plain.count, plain.row_bytes);
        plain.batch = aq_alloc(BATCH_ROWS, 192);
        plain.at = aq_alloc(BATCH_ROWS, sizeof(uint32_t));
        AQ_ASSERT(plain.rows != NULL && plain.batch != NULL && plain.at != NULL);
        for (int n = 0; n < repetitions; n++) {
            uniform[n] = rate(&of_uniform, false);
            prioritized[n] = rate(&of_prioritized, true);
            copied[n] = copy_rate(&plain, &of_uniform.rng);
        }
        aq_replay_holdings held = aq_replay_table_holdings(of_prioritized.table);
        (void)printf("%llu steps, %.1f bytes each in the prioritized table\n",
                     (unsigned long long)held.transitions,
                     (double)held.bytes / (double)held.transitions);
        print_median("batches of 256, uniform", uniform, repetitions);
        print_median("batches of 256, prioritized + updates", prioritized, repetitions);
        print_median("the same rows copied", copied, repetitions);
        aq_free(plain.rows);
        aq_free(plain.batch);
        aq_free(plain.at);
        bench_close(&of_uniform);
        bench_close(&of_prioritized);
    }
    return 0;
}

/*
 * Stacks of frames, gathered from chunks that hold each frame once, against chunks of whole values
 * that were stacked one number at a time.
 */
#include "replay/table/chunk_items.h"
#include "replay/table/replay_gather.h"
#include "tests/support/stacked_chunks.h"
#include "tests/support/test.h"

enum { CHUNKS = 9, LENGTH_MAX = 12, ROWS = 40, SEQUENCE = 4 };

typedef struct side {
    aq_layout layout;
    aq_chunk *chunks[CHUNKS];
    aq_chunk_ring ring;
    aq_batch *batch;
} side;

static void side_begin(side *it, uint32_t sequence_length)
{
    assert_int_equal(aq_chunk_ring_init(&it->ring), 0);
    assert_int_equal(aq_batch_create(&it->layout, sequence_length, ROWS, &it->batch), 0);
}

static uint32_t side_add(side *it, const aq_table_spec *spec, uint32_t index, aq_chunk *chunk)
{
    const uint32_t items = aq_chunk_items_count(spec, &it->layout, &chunk->view);
    it->chunks[index] = chunk;
    assert_int_equal(aq_chunk_ring_reserve(&it->ring, 1, items), 0);
    if (items > 0) {
        aq_chunk_ring_append(&it->ring, NULL, &chunk->view, items);
    }
    return items;
}

static void side_gather(side *it, const aq_table_spec *spec, const uint64_t *items)
{
    it->batch->rows = ROWS;
    memcpy(it->batch->item, items, ROWS * sizeof(*items));
    aq_replay_gather(spec, &it->ring, 0.97f, (aq_reward_shape){.scale = 1.0f}, it->batch);
}

static void side_end(side *it)
{
    for (uint32_t i = 0; i < CHUNKS; i++) {
        aq_chunk_unref(it->chunks[i]);
    }
    aq_batch_destroy(it->batch);
    aq_chunk_ring_fini(&it->ring);
}

static void check(const aq_space *obs, uint32_t n_step, uint32_t sequence_length, aq_rng *rng)
{
    const aq_table_spec spec = {
        .n_step = n_step, .sequence_length = sequence_length, .sequence_period = 1};
    side stacked = {.layout = stacked_layout(obs, n_step, LENGTH_MAX)};
    side whole = {.layout = whole_layout(obs, n_step, LENGTH_MAX)};
    uint64_t items[ROWS], count = 0;
    side_begin(&stacked, sequence_length);
    side_begin(&whole, sequence_length);
    for (uint32_t i = 0; i < CHUNKS; i++) {
        aq_chunk *chunk = stacked_chunk(&stacked.layout, LENGTH_MAX - i % 5, i % 3, rng);
        count += side_add(&stacked, &spec, i, chunk);
        (void)side_add(&whole, &spec, i, whole_chunk(&stacked.layout, &whole.layout, chunk));
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        items[i] = aq_rng_below(rng, count);
    }
    side_gather(&stacked, &spec, items);
    side_gather(&whole, &spec, items);
    for (uint32_t i = 0; i < stacked.batch->column_count; i++) {
        const aq_batch_column *column = &stacked.batch->columns[i];
        assert_int_equal(column->values, whole.batch->columns[i].values);
        if (column->values > 0 && i != AQ_BATCH_PRIORITY && i != AQ_BATCH_WEIGHT) {
            assert_memory_equal(column->bytes, whole.batch->columns[i].bytes,
                                ROWS * aq_batch_column_bytes(column));
        }
    }
    side_end(&stacked);
    side_end(&whole);
}

TEST(stacks_are_those_of_whole_values)
{
    static const aq_space spaces[] = {STACKED_PICTURE, STACKED_CHANNELS, STACKED_NUMBERS};
    aq_rng rng = rng_of(test_seed(), 1);
    EACH_ROW(i, spaces) {
        for (uint32_t n_step = 1; n_step <= 5; n_step += 2) {
            check(&spaces[i], n_step, 0, &rng);
        }
        check(&spaces[i], SEQUENCE, SEQUENCE, &rng);
    }
}

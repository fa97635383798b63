/*
 * Every kind of table against a plain list of chunks, under random inserts, draws, priorities and
 * forgets. The list does everything by going through all of it.
 */
#include "replay/table/chunk_items.h"
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

enum { CHUNKS_MAX = 20000, ITEMS_MAX = 8, CAPACITY = 120, STEPS = 1500, DRAW_MAX = 24 };

typedef struct model_chunk {
    uint64_t message, first_item, step;
    uint32_t items, fresh;
    bool is_there;
    uint32_t drawn[ITEMS_MAX];
    float priority[ITEMS_MAX];
} model_chunk;

typedef struct model {
    aq_table_spec spec;
    uint32_t draws_max;
    model_chunk *chunks;
    size_t count;
    uint64_t next_item;
    uint32_t passed; /* steps of chunks without items, which leave with the next one */
    float greatest;
    table_kit kit;
    aq_rng rng;
} model;

static model_chunk storage[CHUNKS_MAX];

static uint64_t live_transitions(const model *m, size_t *ret_chunks)
{
    uint64_t sum = m->passed;
    *ret_chunks = 0;
    for (size_t i = 0; i < m->count; i++) {
        sum += m->chunks[i].is_there ? m->chunks[i].fresh : 0;
        *ret_chunks += m->chunks[i].is_there;
    }
    return sum;
}

static bool can_be_drawn(const model *m, const model_chunk *chunk, uint32_t i)
{
    return chunk->is_there && (m->draws_max == 0 || chunk->drawn[i] < m->draws_max);
}

static model_chunk *chunk_of(const model *m, uint64_t item, uint32_t *ret_index)
{
    for (size_t i = 0; i < m->count; i++) {
        model_chunk *chunk = &m->chunks[i];
        if (item >= chunk->first_item && item - chunk->first_item < chunk->items) {
            *ret_index = (uint32_t)(item - chunk->first_item);
            return chunk;
        }
    }
    return NULL;
}

static float mean_priority(const model_chunk *chunk)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < chunk->items; i++) {
        sum += (double)chunk->priority[i];
    }
    return (float)(sum / chunk->items);
}

/* The newest is the last one. */
static void evict(model *m)
{
    size_t live;
    while (m->spec.selector != AQ_SELECTOR_QUEUE && live_transitions(m, &live) > CAPACITY &&
           live > 1) {
        model_chunk *worst = NULL;
        for (size_t i = 0; i + 1 < m->count; i++) {
            model_chunk *chunk = &m->chunks[i];
            if (!chunk->is_there) {
                continue;
            }
            bool by_priority = m->spec.remover == AQ_REMOVER_LOWEST_PRIORITY;
            if (worst == NULL || (by_priority && mean_priority(chunk) < mean_priority(worst))) {
                worst = chunk;
            }
        }
        worst->is_there = false;
    }
    uint64_t window = 4 * (CAPACITY + TABLE_KIT_CHUNK_LENGTH);
    for (size_t i = 0; m->spec.selector != AQ_SELECTOR_QUEUE && i + 1 < m->count; i++) {
        if (m->next_item - m->chunks[i].first_item > window) {
            m->chunks[i].is_there = false;
        }
    }
}

static table_kit_piece random_piece(model *m)
{
    uint64_t end = aq_rng_below(&m->rng, 3);
    uint32_t least = end == 0 ? TABLE_KIT_SPAN : 1;
    table_kit_piece piece = {
        .length = least + (uint32_t)aq_rng_below(&m->rng, TABLE_KIT_CHUNK_LENGTH + 1 - least),
        .first = (uint32_t)aq_rng_below(&m->rng, 20),
        .terminated = end == 1,
        .truncated = end == 2,
    };
    if (piece.first > 0 && piece.length > 1 && aq_rng_below(&m->rng, 2) == 0) {
        piece.overlap = 1;
    }
    return piece;
}

static void step_insert(model *m)
{
    table_kit_piece piece = random_piece(m);
    (void)table_kit_insert_pieces(&m->kit, &piece, 1);
    const aq_chunk_view view = {.first = piece.first,
                                .length = piece.length,
                                .overlap = piece.overlap,
                                .terminated = piece.terminated,
                                .truncated = piece.truncated};
    uint32_t items = aq_chunk_items_count(&m->spec, &m->kit.layout, &view);
    m->passed += piece.length - piece.overlap;
    if (items == 0) {
        return;
    }
    assert_true(m->count < CHUNKS_MAX);
    model_chunk *chunk = &m->chunks[m->count++];
    *chunk = (model_chunk){.message = m->kit.number,
                           .first_item = m->next_item,
                           .step = piece.step + aq_chunk_items_row(&m->spec, &view, 0),
                           .items = items,
                           .fresh = m->passed,
                           .is_there = true};
    m->passed = 0;
    for (uint32_t i = 0; i < items; i++) {
        chunk->priority[i] = m->greatest;
    }
    m->next_item += items;
    evict(m);
}

static uint64_t draws_left(const model *m, uint64_t *ret_items)
{
    uint64_t draws = 0;
    *ret_items = 0;
    for (size_t i = 0; i < m->count; i++) {
        const model_chunk *chunk = &m->chunks[i];
        for (uint32_t n = 0; n < chunk->items; n++) {
            if (can_be_drawn(m, chunk, n)) {
                *ret_items += 1;
                draws += m->draws_max > 0 ? m->draws_max - chunk->drawn[n] : DRAW_MAX;
            }
        }
    }
    return draws;
}

/* The `row`-th oldest or newest item that can be drawn. */
static uint64_t nth_in_order(const model *m, uint32_t row)
{
    for (size_t i = 0; i < m->count; i++) {
        bool newest = m->spec.selector == AQ_SELECTOR_LIFO;
        const model_chunk *chunk = &m->chunks[newest ? m->count - 1 - i : i];
        for (uint32_t n = 0; n < chunk->items; n++) {
            uint32_t at = newest ? chunk->items - 1 - n : n;
            if (can_be_drawn(m, chunk, at) && row-- == 0) {
                return chunk->first_item + at;
            }
        }
    }
    fail();
    return 0;
}

static void step_sample(model *m)
{
    uint32_t rows = 1 + (uint32_t)aq_rng_below(&m->rng, DRAW_MAX);
    aq_batch *batch;
    uint64_t items;
    uint64_t draws = draws_left(m, &items);
    bool in_order = m->spec.selector >= AQ_SELECTOR_FIFO;
    bool possible = items > 0 && draws >= rows && (!in_order || items >= rows);
    uint64_t expected[DRAW_MAX];
    for (uint32_t row = 0; possible && in_order && row < rows; row++) {
        expected[row] = nth_in_order(m, row);
    }
    assert_int_equal(aq_batch_create(&m->kit.layout, m->spec.sequence_length, rows, &batch), 0);
    int rc = aq_replay_table_sample(m->kit.table, rows, 0.5f, batch);
    assert_int_equal(rc, possible ? 0 : AQ_E_AGAIN);
    uint32_t stride = m->spec.sequence_length > 0 ? m->spec.sequence_period : 1;
    for (uint32_t row = 0; possible && row < rows; row++) {
        uint32_t at;
        model_chunk *chunk = chunk_of(m, batch->item[row], &at);
        assert_non_null(chunk);
        assert_true(can_be_drawn(m, chunk, at));
        assert_int_equal(table_kit_step(batch, row), chunk->step + (uint64_t)at * stride);
        if (in_order) {
            assert_int_equal(batch->item[row], expected[row]);
        }
        chunk->drawn[at]++;
    }
    for (size_t i = 0; possible && i < m->count; i++) {
        bool any = false;
        for (uint32_t n = 0; n < m->chunks[i].items; n++) {
            any = any || can_be_drawn(m, &m->chunks[i], n);
        }
        m->chunks[i].is_there = any;
    }
    aq_batch_destroy(batch);
}

static void step_prioritize(model *m)
{
    enum { COUNT = 10 };
    uint64_t items[COUNT];
    float priorities[COUNT];
    uint32_t applied, expected = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        items[i] = aq_rng_below(&m->rng, m->next_item + 3);
        if (aq_rng_below(&m->rng, 4) != 0 && m->next_item > 100) {
            items[i] = m->next_item - 1 - aq_rng_below(&m->rng, 100);
        }
        priorities[i] = (float)aq_rng_below(&m->rng, 8) * 0.25f;
        uint32_t at;
        model_chunk *chunk = chunk_of(m, items[i], &at);
        if (chunk != NULL && can_be_drawn(m, chunk, at)) {
            chunk->priority[at] = priorities[i];
            m->greatest = fmaxf(m->greatest, priorities[i]);
            expected++;
        }
    }
    aq_replay_table_prioritize(m->kit.table, items, priorities, COUNT, &applied);
    assert_int_equal(applied, expected);
}

static void step_forget(model *m)
{
    const aq_stored_message *oldest = aq_message_store_oldest(m->kit.store);
    if (oldest == NULL) {
        return;
    }
    uint64_t number = oldest->number;
    aq_replay_table_forget(m->kit.table, oldest);
    for (size_t i = 0; i < m->count; i++) {
        if (m->chunks[i].message <= number) {
            m->chunks[i].is_there = false;
        }
    }
}

static void assert_same(const model *m)
{
    aq_replay_holdings holdings = aq_replay_table_holdings(m->kit.table);
    size_t chunks;
    uint64_t items;
    (void)draws_left(m, &items);
    assert_int_equal(holdings.transitions, live_transitions(m, &chunks));
    assert_int_equal(holdings.chunks, chunks);
    assert_int_equal(holdings.items, items);
    assert_int_equal(holdings.next_item, m->next_item);
    assert_int_equal(aq_message_store_counts_of(m->kit.store).messages, chunks);
    double mass = 0.0;
    for (size_t i = 0; i < m->count; i++) {
        for (uint32_t n = 0; n < m->chunks[i].items; n++) {
            if (can_be_drawn(m, &m->chunks[i], n)) {
                bool weighs = m->spec.selector == AQ_SELECTOR_PRIORITIZED;
                mass += weighs ? fmax(1e-20, (double)m->chunks[i].priority[n]) : 1.0;
            }
        }
    }
    assert_true(fabs(holdings.mass - mass) <= 1e-5 * mass + 1e-12);
}

/* Chunks before the oldest that is there are of no use to anybody. */
static void tidy(model *m)
{
    size_t dead = 0;
    while (dead < m->count && !m->chunks[dead].is_there) {
        dead++;
    }
    if (dead > 100) {
        m->count -= dead;
        memmove(m->chunks, m->chunks + dead, m->count * sizeof(*m->chunks));
    }
}

static void walk(const aq_table_spec *spec, uint64_t seed)
{
    model m = {.spec = *spec, .chunks = storage, .greatest = 1.0f};
    m.draws_max = spec->selector == AQ_SELECTOR_QUEUE ? 1 : spec->times_sampled_max;
    aq_rng_init(&m.rng, seed, 1);
    table_kit_open(&m.kit, spec, seed);
    for (int step = 0; step < STEPS; step++) {
        uint64_t what = aq_rng_below(&m.rng, 40);
        if (what < 16) {
            if (spec->selector != AQ_SELECTOR_QUEUE ||
                aq_replay_table_holdings(m.kit.table).transitions < CAPACITY) {
                step_insert(&m);
            }
        } else if (what < 28) {
            step_sample(&m);
        } else if (what < 39) {
            step_prioritize(&m);
        } else {
            step_forget(&m);
        }
        assert_same(&m);
        tidy(&m);
    }
    table_kit_close(&m.kit);
}

static void walk_all(uint32_t selector)
{
    uint64_t seed = test_seed();
    for (uint32_t n = 0; n < 2 * 3 * 2; n++) {
        aq_table_spec spec = table_kit_spec();
        spec.selector = selector;
        spec.capacity = CAPACITY;
        spec.remover = n % 2;
        spec.times_sampled_max = n / 2 % 3;
        spec.sequence_length = n / 6 == 1 ? TABLE_KIT_SPAN : 0;
        spec.sequence_period = 2;
        if (selector == AQ_SELECTOR_QUEUE) {
            spec.remover = AQ_REMOVER_FIFO;
        }
        walk(&spec, seed + n);
    }
}

TEST(uniform_tables_agree_with_a_plain_list)
{
    walk_all(AQ_SELECTOR_UNIFORM);
}

TEST(prioritized_tables_agree_with_a_plain_list)
{
    walk_all(AQ_SELECTOR_PRIORITIZED);
}

TEST(fifo_tables_agree_with_a_plain_list)
{
    walk_all(AQ_SELECTOR_FIFO);
}

TEST(lifo_tables_agree_with_a_plain_list)
{
    walk_all(AQ_SELECTOR_LIFO);
}

TEST(queues_agree_with_a_plain_list)
{
    walk_all(AQ_SELECTOR_QUEUE);
}

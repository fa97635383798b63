/*
 * Saving and loading: the same table, one that holds only some of the chunks and newer ones, other
 * settings, and bytes that lie.
 */
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

enum { SAVED_BYTES_MAX = 1 << 20 };

/* All portions. */
static void free_buffer(void *buffer)
{
    aq_buffer_fini(buffer);
    free(buffer);
}

static aq_buffer *buffer_of(size_t bytes_max)
{
    aq_buffer *buffer = malloc(sizeof(*buffer));
    aq_buffer_init(buffer, bytes_max);
    at_end(free_buffer, buffer);
    return buffer;
}

static aq_buffer *save(const table_kit *kit, uint32_t chunks_max)
{
    aq_buffer *out = buffer_of(SAVED_BYTES_MAX);
    uint64_t position = 0;
    while (position != UINT64_MAX) {
        assert_int_equal(aq_replay_table_save(kit->table, &position, chunks_max, out), 0);
    }
    return out;
}

static void load(table_kit *kit, const aq_buffer *saved)
{
    assert_int_equal(aq_replay_table_load(kit->table, saved->data, saved->size, NULL), 0);
}

static void prioritize(table_kit *kit, uint64_t item, float priority)
{
    uint32_t applied;
    aq_replay_table_prioritize(kit->table, &item, &priority, 1, &applied);
    assert_int_equal(applied, 1);
}

static aq_table_spec prioritized_spec(void)
{
    aq_table_spec spec = table_kit_spec();
    spec.selector = AQ_SELECTOR_PRIORITIZED;
    spec.priority_exponent = 0.5;
    return spec;
}

/* Messages 1 to 8 of two chunks of 4 steps each; or, as after a restart, from `first` on. */
static void fill_from(table_kit *kit, uint64_t first, uint64_t last)
{
    kit->number = first - 1;
    kit->step = (first - 1) * 8;
    while (kit->number < last) {
        table_kit_piece pieces[] = {{.length = 4, .terminated = true},
                                    {.length = 4, .truncated = true}};
        table_kit_insert_pieces(kit, pieces, 2);
    }
}

/* The mass of every item, found by drawing until each has come. */
static void masses_of(table_kit *kit, float *masses, uint32_t count)
{
    aq_batch *batch = table_kit_batch(kit, 256);
    double mass = aq_replay_table_holdings(kit->table).mass;
    memset(masses, 0, count * sizeof(*masses));
    for (int round = 0; round < 400; round++) {
        assert_int_equal(aq_replay_table_sample(kit->table, 256, 0.5f, batch), 0);
        for (uint32_t row = 0; row < 256; row++) {
            assert_true(batch->item[row] < count);
            masses[batch->item[row]] = (float)((double)batch->weight[row] * mass);
        }
    }
}

TEST(priorities_come_back)
{
    for (uint32_t portion = 1; portion <= 100; portion *= 10) {
        const aq_table_spec spec = prioritized_spec();
        float saved_masses[64], masses[64];
        table_kit *before = table_kit_of(&spec, 1);
        table_kit *after = table_kit_of(&spec, 2);
        fill_from(before, 1, 8);
        for (uint64_t i = 0; i < 64; i++) {
            prioritize(before, i, 1.0f + (float)(i % 13));
        }
        masses_of(before, saved_masses, 64);
        aq_buffer *saved = save(before, portion);
        fill_from(after, 1, 8);
        load(after, saved);
        masses_of(after, masses, 64);
        for (int i = 0; i < 64; i++) {
            assert_true(fabsf(masses[i] - saved_masses[i]) <= 1e-5f * saved_masses[i]);
        }
        double greatest = sqrt(13.0);
        double mass = aq_replay_table_holdings(after->table).mass;
        table_kit_insert(after, 1); /* knows the greatest one */
        double more = aq_replay_table_holdings(after->table).mass - mass;
        assert_near(more, greatest, 1e-3);
    }
}

TEST(what_is_said_of_other_chunks_is_passed_over)
{
    const aq_table_spec spec = prioritized_spec();
    float masses[64];
    table_kit *before = table_kit_of(&spec, 1);
    table_kit *after = table_kit_of(&spec, 2);
    fill_from(before, 1, 6);
    for (uint64_t i = 0; i < 48; i++) {
        prioritize(before, i, i == 0 ? 9.0f : 4.0f);
    }
    aq_buffer *saved = save(before, 3);
    fill_from(after, 4, 9); /* 1 to 3 had left; 7 to 9 came later, with the greatest priority */
    load(after, saved);
    masses_of(after, masses, 48);
    for (int i = 0; i < 48; i++) {
        assert_true(fabsf(masses[i] - (i < 24 ? 2.0f : 3.0f)) < 1e-5f);
    }
}

TEST(another_exponent_weighs_the_same_priorities_anew)
{
    aq_table_spec spec = prioritized_spec();
    table_kit *before = table_kit_of(&spec, 1);
    spec.priority_exponent = 1.0;
    table_kit *after = table_kit_of(&spec, 2);
    fill_from(before, 1, 2);
    fill_from(after, 1, 2);
    for (uint64_t i = 0; i < 16; i++) {
        prioritize(before, i, 9.0f);
    }
    aq_buffer *saved = save(before, 100);
    load(after, saved);
    assert_near(aq_replay_table_holdings(after->table).mass, 16 * 9.0, 1e-3);
}

TEST(what_is_removed_first_comes_back)
{
    aq_table_spec spec = table_kit_spec();
    spec.remover = AQ_REMOVER_LOWEST_PRIORITY;
    spec.capacity = 32;
    table_kit *before = table_kit_of(&spec, 1);
    table_kit *after = table_kit_of(&spec, 2);
    fill_from(before, 1, 4);
    for (uint64_t i = 0; i < 32; i++) {
        prioritize(before, i, i / 4 == 5 ? 0.5f : 2.0f);
    }
    aq_buffer *saved = save(before, 100);
    fill_from(after, 1, 4);
    load(after, saved);
    table_kit_insert(after, 4);
    uint64_t item = 5 * 4;
    uint32_t applied;
    aq_replay_table_prioritize(after->table, &item, &(float){1.0f}, 1, &applied);
    assert_int_equal(applied, 0);
    prioritize(after, 0, 1.0f);
}

TEST(a_queue_gives_nothing_twice_after_a_restart)
{
    aq_table_spec spec = table_kit_spec();
    spec.selector = AQ_SELECTOR_QUEUE;
    spec.capacity = 16;
    for (uint32_t drawn = 0; drawn <= 64; drawn++) {
        table_kit *before = table_kit_of(&spec, 1);
        table_kit *after = table_kit_of(&spec, 2);
        fill_from(before, 1, 8);
        aq_batch *batch = table_kit_batch(before, 72);
        assert_true(drawn == 0 || aq_replay_table_sample(before->table, drawn, 0.5f, batch) == 0);
        aq_buffer *saved = save(before, 3);
        aq_replay_table_restoring(after->table, true);
        fill_from(after, 1, 9); /* another table keeps what had left this one; 9 is newer */
        load(after, saved);
        aq_replay_table_restoring(after->table, false);
        uint32_t left = 72 - drawn;
        assert_int_equal(aq_replay_table_holdings(after->table).items, left);
        assert_int_equal(aq_replay_table_sample(after->table, left, 0.5f, batch), 0);
        for (uint32_t row = 0; row < left; row++) {
            assert_int_equal(table_kit_step(batch, row), drawn + row);
        }
    }
}

TEST(old_chunks_of_great_priority_survive_a_restart)
{
    aq_table_spec spec = table_kit_spec();
    spec.remover = AQ_REMOVER_LOWEST_PRIORITY;
    spec.capacity = 32;
    uint32_t applied;
    table_kit *before = table_kit_of(&spec, 1);
    table_kit *after = table_kit_of(&spec, 2);
    for (uint64_t number = 1; number <= 8; number++) {
        fill_from(before, number, number);
        for (uint64_t i = 0; i < 8; i++) {
            prioritize(before, 8 * (number - 1) + i, number == 2 ? 1.0f : 0.1f * (float)number);
        }
    }
    aq_buffer *saved = save(before, 100);
    aq_replay_table_restoring(after->table, true);
    fill_from(after, 1, 9);
    assert_int_equal(aq_replay_table_holdings(after->table).transitions, 72);
    load(after, saved);
    aq_replay_table_restoring(after->table, false);
    assert_true(aq_replay_table_holdings(after->table).transitions <= 32);
    assert_int_equal(aq_replay_table_holdings(after->table).items_left, 0); /* in this life */
    for (uint64_t message = 0; message < 9; message++) {                    /* 2, 7, 8 and 9 */
        uint64_t item = 8 * message;
        aq_replay_table_prioritize(after->table, &item, &(float){1.0f}, 1, &applied);
        assert_int_equal(applied, message == 1 || message >= 6);
    }
}

TEST(under_other_settings_nothing_leaves_unspoken_of)
{
    aq_table_spec spec = table_kit_spec();
    spec.selector = AQ_SELECTOR_QUEUE;
    table_kit *before = table_kit_of(&spec, 1);
    spec = prioritized_spec();
    table_kit *after = table_kit_of(&spec, 2);
    fill_from(before, 1, 8);
    aq_batch *batch = table_kit_batch(before, 60);
    assert_int_equal(aq_replay_table_sample(before->table, 60, 0.5f, batch), 0);
    aq_buffer *saved = save(before, 100);
    fill_from(after, 1, 8);
    load(after, saved);
    assert_int_equal(aq_replay_table_holdings(after->table).items, 64);
}

/* Under another period other chunks have items. */
TEST(of_another_period_nothing_leaves_unspoken_of)
{
    aq_table_spec spec = table_kit_spec();
    spec.remover = AQ_REMOVER_LOWEST_PRIORITY;
    spec.sequence_length = spec.sequence_period = 2;
    table_kit *before = table_kit_of(&spec, 1);
    spec.sequence_period = 1;
    table_kit *after = table_kit_of(&spec, 2);
    fill_from(before, 8, 8); /* and those before it have left */
    aq_buffer *saved = save(before, 100);
    fill_from(after, 1, 8);
    load(after, saved);
    assert_int_equal(aq_replay_table_holdings(after->table).chunks, 16);
}

TEST(times_drawn_come_back)
{
    aq_table_spec spec = table_kit_spec();
    spec.times_sampled_max = 3;
    table_kit *before = table_kit_of(&spec, 1);
    table_kit *after = table_kit_of(&spec, 2);
    fill_from(before, 1, 8);
    fill_from(after, 1, 8);
    aq_batch *batch = table_kit_batch(before, 180);
    uint32_t times[64] = {0};
    for (int from = 0; from < 2; from++) {
        table_kit *kit = from == 0 ? before : after;
        uint32_t rows = from == 0 ? 100 : 64 * 3 - 100;
        assert_int_equal(aq_replay_table_sample(kit->table, rows, 0.5f, batch), 0);
        for (uint32_t row = 0; row < rows; row++) {
            times[batch->item[row]]++;
        }
        const aq_replay_holdings holdings = aq_replay_table_holdings(kit->table);
        assert_int_equal(holdings.times_sampled, from == 0 ? 0 : 64 * 3); /* of chunks that left */
        if (from == 0) {
            bool none_left_yet = aq_replay_table_holdings(before->table).chunks == 16;
            assert_true(none_left_yet);
            aq_buffer *saved = save(before, 5);
            load(after, saved);
        }
    }
    for (int i = 0; i < 64; i++) {
        assert_int_equal(times[i], 3);
    }
    assert_int_equal(aq_replay_table_holdings(after->table).chunks, 0);
}

TEST(chunks_may_come_and_leave_between_portions)
{
    aq_table_spec spec = prioritized_spec();
    spec.capacity = 64;
    uint64_t position = 0;
    table_kit *before = table_kit_of(&spec, 1);
    table_kit *after = table_kit_of(&spec, 2);
    fill_from(before, 1, 8);
    aq_buffer *out = buffer_of(SAVED_BYTES_MAX);
    for (int i = 0; position != UINT64_MAX; i++) {
        assert_int_equal(aq_replay_table_save(before->table, &position, 2, out), 0);
        if (i < 10) {
            fill_from(before, before->number + 1, before->number + 3);
        }
        assert_true(i < 100);
    }
    fill_from(after, before->number - 7, before->number);
    load(after, out);
    assert_int_equal(aq_replay_table_holdings(after->table).items, 64);
}

TEST(an_empty_table_is_saved_too)
{
    const aq_table_spec spec = prioritized_spec();
    table_kit *kit = table_kit_of(&spec, 1);
    aq_buffer *saved = save(kit, 10);
    load(kit, saved);
    assert_int_equal(aq_replay_table_load(kit->table, NULL, 0, NULL), 0);
}

TEST(a_buffer_that_is_full_leaves_the_position)
{
    const aq_table_spec spec = prioritized_spec();
    uint64_t position = 0;
    table_kit *kit = table_kit_of(&spec, 1);
    fill_from(kit, 1, 8);
    aq_buffer *out = buffer_of(200);
    assert_int_equal(aq_replay_table_save(kit->table, &position, 100, out), AQ_E_TOO_BIG);
    assert_int_equal(position, 0);
    assert_int_equal(out->size, 0);
    assert_int_equal(aq_replay_table_save(kit->table, &position, 2, out), 0);
    assert_true(position != 0 && position != UINT64_MAX);
}

/* ---- bytes that lie ------------------------------------------------------------------------ */

TEST(every_cut_is_refused_and_changes_nothing)
{
    const aq_table_spec spec = prioritized_spec();
    table_kit *before = table_kit_of(&spec, 1);
    table_kit *after = table_kit_of(&spec, 2);
    fill_from(before, 1, 2);
    fill_from(after, 1, 2);
    for (uint64_t i = 0; i < 16; i++) {
        prioritize(before, i, 9.0f);
    }
    aq_buffer *saved = save(before, 2);
    size_t whole = 0; /* portions that end there */
    for (size_t size = 1; size < saved->size; size++) {
        int rc = aq_replay_table_load(after->table, saved->data, size, &refusal);
        if (rc == 0) {
            whole++;
            continue;
        }
        assert_int_equal(rc, AQ_E_CORRUPT);
        assert_true(whole > 0 || aq_replay_table_holdings(after->table).mass == 16.0);
    }
    assert_int_equal(whole, 1);
}

TEST(random_damage_never_does_harm)
{
    aq_rng rng = rng_of(test_seed(), 3);
    for (uint32_t selector = 0; selector <= AQ_SELECTOR_QUEUE; selector++) {
        aq_table_spec spec = prioritized_spec();
        spec.selector = selector;
        spec.times_sampled_max = selector == AQ_SELECTOR_QUEUE ? 0 : 2;
        table_kit before;
        table_kit_open(&before, &spec, 1);
        fill_from(&before, 1, 8);
        const aq_buffer *whole = save(&before, 3);
        aq_buffer *saved = buffer_of(SAVED_BYTES_MAX);
        int taken = 0;
        for (int round = 0; round < 300; round++) {
            table_kit after;
            aq_buffer_clear(saved);
            assert_int_equal(aq_buffer_append(saved, whole->data, whole->size), 0);
            table_kit_open(&after, &spec, 2);
            fill_from(&after, 1, 8);
            for (int n = 0; n < 3; n++) {
                saved->data[aq_rng_below(&rng, saved->size)] ^=
                    (uint8_t)(1 + aq_rng_below(&rng, 255));
            }
            int rc = aq_replay_table_load(after.table, saved->data, saved->size, &refusal);
            assert_true(rc == 0 || rc == AQ_E_CORRUPT);
            if (aq_replay_table_holdings(after.table).items > 0) {
                aq_batch *batch = table_kit_batch(&after, 1);
                assert_int_equal(aq_replay_table_sample(after.table, 1, 0.5f, batch), 0);
            }
            assert_true(isfinite(aq_replay_table_holdings(after.table).mass));
            table_kit_insert(&after, 8);
            table_kit_close(&after);
            taken += rc == 0;
        }
        assert_in_range(taken, 1, 299); /* it was where that is noticed, and where not */
        table_kit_close(&before);
    }
}

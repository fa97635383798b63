/*
 * Priorities: what they do to draws and to removal, stale numbers, and that exponent 0 is uniform.
 */
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

static aq_table_spec prioritized_spec(double exponent)
{
    aq_table_spec spec = table_kit_spec();
    spec.selector = AQ_SELECTOR_PRIORITIZED;
    spec.priority_exponent = exponent;
    return spec;
}

static aq_table_spec lowest_spec(uint64_t capacity)
{
    aq_table_spec spec = table_kit_spec();
    spec.remover = AQ_REMOVER_LOWEST_PRIORITY;
    spec.capacity = capacity;
    return spec;
}

static uint32_t prioritize(table_kit *kit, uint64_t first, uint32_t count, float priority)
{
    uint32_t applied = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t item = first + i;
        uint32_t one;
        aq_replay_table_prioritize(kit->table, &item, &priority, 1, &one);
        applied = i == 0 ? one : applied + one;
    }
    return applied;
}

static double mass_of(const table_kit *kit)
{
    return aq_replay_table_holdings(kit->table).mass;
}

/* ---- draws --------------------------------------------------------------------------------- */

TEST(draws_follow_priority_to_the_exponent)
{
    const double exponents[] = {0.0, 0.6, 1.0, 2.0};
    const uint64_t rounds = test_rounds(4000);
    for (size_t n = 0; n < 4; n++) {
        enum { ITEMS = 400, ROWS = 256 };
        static double counts[ITEMS], expected[ITEMS];
        const aq_table_spec spec = prioritized_spec(exponents[n]);
        double total = 0.0;
        table_kit *kit = table_kit_of(&spec, test_seed() + n);
        for (int i = 0; i < ITEMS / 8; i++) {
            table_kit_insert(kit, 8);
        }
        for (uint64_t i = 0; i < ITEMS; i++) {
            float priority = 1.0f + (float)(i * 7 % 10);
            assert_int_equal(prioritize(kit, i, 1, priority), 1);
            expected[i] = pow((double)priority, exponents[n]);
            total += expected[i];
            counts[i] = 0.0;
        }
        assert_true(fabs(mass_of(kit) - total) <= 1e-5 * total);
        aq_batch *batch = table_kit_batch(kit, ROWS);
        for (uint64_t round = 0; round < rounds; round++) {
            assert_int_equal(aq_replay_table_sample(kit->table, ROWS, 0.5f, batch), 0);
            for (int row = 0; row < ROWS; row++) {
                uint64_t item = batch->item[row];
                counts[item] += 1.0;
                assert_true(fabs((double)batch->weight[row] - expected[item] / total) <=
                            1e-5 * expected[item] / total);
            }
        }
        for (int i = 0; i < ITEMS; i++) {
            expected[i] *= (double)ROWS * (double)rounds / total;
        }
        table_kit_assert_chi_square(counts, expected, ITEMS);
    }
}

TEST(new_items_have_the_greatest_priority_that_was_given)
{
    const aq_table_spec spec = prioritized_spec(1.0);
    table_kit *kit = table_kit_of(&spec, 1);
    table_kit_insert(kit, 8);
    assert_true(mass_of(kit) == 8.0);
    assert_int_equal(prioritize(kit, 3, 1, 5.0f), 1);
    assert_true(mass_of(kit) == 12.0);
    table_kit_insert(kit, 2);
    assert_true(mass_of(kit) == 22.0);
    assert_int_equal(prioritize(kit, 3, 1, 0.5f), 1);
    table_kit_insert(kit, 2);
    assert_true(mass_of(kit) == 27.5);
}

TEST(numbers_that_are_not_there_are_passed_over)
{
    aq_table_spec spec = prioritized_spec(1.0);
    spec.capacity = 16;
    table_kit *kit = table_kit_of(&spec, 1);
    for (int i = 0; i < 4; i++) {
        table_kit_insert(kit, 8);
    }
    const uint64_t items[] = {3, 15, 16, 31, 32, UINT64_MAX, 17};
    const float priorities[] = {9.0f, 9.0f, 2.0f, 3.0f, 9.0f, 9.0f, 4.0f};
    uint32_t applied;
    aq_replay_table_prioritize(kit->table, items, priorities, 7, &applied);
    assert_int_equal(applied, 3);
    assert_true(mass_of(kit) == 13.0 + 9.0);
    table_kit_insert(kit, 8); /* the greatest of those that counted */
    assert_true(mass_of(kit) == 7.0 + 3.0 + 8 * 4.0);
}

TEST(of_a_number_that_comes_twice_the_last_priority_counts)
{
    const aq_table_spec spec = prioritized_spec(1.0);
    table_kit *kit = table_kit_of(&spec, 1);
    table_kit_insert(kit, 8);
    enum { COUNT = 300 }; /* more than a block */
    uint64_t items[COUNT];
    float priorities[COUNT];
    uint32_t applied;
    for (uint32_t i = 0; i < COUNT; i++) {
        items[i] = 5;
        priorities[i] = (float)(COUNT - i);
    }
    aq_replay_table_prioritize(kit->table, items, priorities, COUNT, &applied);
    assert_int_equal(applied, COUNT);
    assert_true(mass_of(kit) == 8.0);
}

TEST(items_that_were_drawn_out_are_passed_over)
{
    aq_table_spec spec = prioritized_spec(1.0);
    spec.times_sampled_max = 1;
    table_kit *kit = table_kit_of(&spec, 1);
    table_kit_insert(kit, 8);
    aq_batch *batch = table_kit_batch(kit, 5);
    assert_int_equal(aq_replay_table_sample(kit->table, 5, 0.5f, batch), 0);
    for (uint32_t row = 0; row < 5; row++) {
        assert_int_equal(prioritize(kit, batch->item[row], 1, 7.0f), 0);
    }
    assert_true(mass_of(kit) == 3.0);
}

TEST(items_of_priority_0_are_drawn_when_there_are_no_others)
{
    const aq_table_spec spec = prioritized_spec(0.6);
    table_kit *kit = table_kit_of(&spec, 1);
    table_kit_insert(kit, 8);
    aq_batch *batch = table_kit_batch(kit, 256);
    assert_int_equal(prioritize(kit, 0, 7, 0.0f), 7);
    assert_int_equal(aq_replay_table_sample(kit->table, 256, 0.5f, batch), 0);
    for (int row = 0; row < 256; row++) {
        assert_int_equal(batch->item[row], 7);
    }
    assert_int_equal(prioritize(kit, 7, 1, 0.0f), 1);
    assert_int_equal(aq_replay_table_sample(kit->table, 256, 0.5f, batch), 0);
    assert_true(fabsf(batch->weight[0] - 0.125f) < 1e-6f);
}

TEST(enormous_priorities_leave_the_sums_finite)
{
    const aq_table_spec spec = prioritized_spec(4.0);
    table_kit *kit = table_kit_of(&spec, 1);
    table_kit_insert(kit, 8);
    assert_int_equal(prioritize(kit, 0, 8, 3e38f), 8);
    assert_true(isfinite(mass_of(kit)));
    aq_batch *batch = table_kit_batch(kit, 8);
    assert_int_equal(aq_replay_table_sample(kit->table, 8, 0.5f, batch), 0);
    assert_true(batch->weight[0] == 0.125f);
}

TEST(where_nothing_is_prioritized_the_mass_is_the_count)
{
    const uint32_t selectors[] = {AQ_SELECTOR_UNIFORM, AQ_SELECTOR_FIFO};
    for (size_t i = 0; i < 2; i++) {
        aq_table_spec spec = table_kit_spec();
        spec.selector = selectors[i];
        table_kit *kit = table_kit_of(&spec, 1);
        table_kit_insert(kit, 8);
        assert_int_equal(prioritize(kit, 0, 8, 100.0f), 8);
        assert_true(mass_of(kit) == 8.0);
    }
}

/* ---- removal ------------------------------------------------------------------------------- */

TEST(the_chunk_of_the_lowest_mean_priority_leaves_first)
{
    const aq_table_spec spec = lowest_spec(32);
    table_kit *kit = table_kit_of(&spec, 1);
    for (int i = 0; i < 4; i++) {
        table_kit_insert(kit, 8);
    }
    assert_int_equal(prioritize(kit, 0, 8, 3.0f), 8);
    assert_int_equal(prioritize(kit, 8, 8, 1.0f), 8);
    assert_int_equal(prioritize(kit, 16, 8, 0.25f), 8);
    assert_int_equal(prioritize(kit, 24, 7, 0.0f), 7);
    assert_int_equal(prioritize(kit, 31, 1, 2.5f), 1); /* mean 0.31 */
    table_kit_insert(kit, 8);
    assert_int_equal(prioritize(kit, 16, 8, 1.0f), 0); /* it left */
    assert_int_equal(prioritize(kit, 24, 8, 0.3f), 8);
    table_kit_insert(kit, 8);
    assert_int_equal(prioritize(kit, 24, 8, 1.0f), 0);
    table_kit_insert(kit, 8);
    assert_int_equal(prioritize(kit, 8, 8, 1.0f), 0);
    assert_int_equal(prioritize(kit, 0, 8, 3.0f), 8);
}

TEST(of_equal_priorities_the_oldest_chunk_leaves)
{
    const aq_table_spec spec = lowest_spec(32);
    table_kit *kit = table_kit_of(&spec, 1);
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t first = table_kit_insert(kit, 8);
        if (i >= 4) {
            assert_int_equal(prioritize(kit, first - 32, 8, 1.0f), 0);
            assert_int_equal(prioritize(kit, first - 24, 8, 1.0f), 8);
        }
    }
}

TEST(uniform_draws_go_round_the_holes)
{
    const aq_table_spec spec = lowest_spec(200);
    static float priority_of[8 * 400];
    table_kit *kit = table_kit_of(&spec, test_seed());
    aq_rng rng = rng_of(test_seed(), 1);
    aq_batch *batch = table_kit_batch(kit, 64);
    for (int i = 0; i < 400; i++) {
        uint64_t first = table_kit_insert(kit, 8);
        float priority = (float)aq_rng_uniform(&rng);
        assert_int_equal(prioritize(kit, first, 8, priority), 8);
        for (uint64_t item = first; item < first + 8; item++) {
            priority_of[item] = priority;
        }
    }
    uint32_t low = 0;
    for (int round = 0; round < 20; round++) {
        assert_int_equal(aq_replay_table_sample(kit->table, 64, 0.5f, batch), 0);
        for (uint32_t row = 0; row < 64; row++) {
            assert_int_equal(table_kit_step(batch, row), batch->item[row]);
            low += priority_of[batch->item[row]] < 0.4f;
        }
    }
    assert_true(low < 200); /* but for the newest, of 25 of 400 chunks the greatest are left */
}

TEST(no_priority_keeps_a_chunk_for_ever)
{
    const aq_table_spec spec = lowest_spec(32);
    table_kit *kit = table_kit_of(&spec, 1);
    table_kit_insert(kit, 8);
    assert_int_equal(prioritize(kit, 0, 8, 1000.0f), 8);
    bool stayed_long = false;
    for (int i = 0; i < 100; i++) {
        uint64_t first = table_kit_insert(kit, 8);
        prioritize(kit, first, 8, 1.0f);
        bool stays = prioritize(kit, 0, 8, 1000.0f) == 8;
        stayed_long = stayed_long || (stays && first >= 128);
    }
    assert_true(stayed_long);
    assert_int_equal(prioritize(kit, 0, 8, 1000.0f), 0);
}

TEST(forgotten_messages_leave_others_where_priorities_decide)
{
    const aq_table_spec spec = lowest_spec(100);
    table_kit *kit = table_kit_of(&spec, 1);
    for (int i = 0; i < 4; i++) {
        table_kit_insert(kit, 8);
    }
    aq_replay_table_forget(kit->table, aq_message_store_oldest(kit->store)->newer);
    assert_int_equal(prioritize(kit, 0, 8, 1.0f), 8);
    assert_int_equal(prioritize(kit, 8, 8, 1.0f), 0);
    assert_int_equal(aq_replay_table_holdings(kit->table).items, 24);
}

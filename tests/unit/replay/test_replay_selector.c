/*
 * The uniform selector: in range, repeatable, and uniform by Pearson's chi-square test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "replay/replay_selector.h"
#include "tests/unit/replay/replay_kit.h"

static void test_draws_stay_among_the_live_items(void **state)
{
    (void)state;
    aq_replay_selector selector;
    uint64_t items[1000];
    float weights[1000];
    aq_replay_selector_init(&selector, kit_seed());
    aq_replay_selector_draw(&selector, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 7, 1000, items,
                            weights);
    for (int i = 0; i < 1000; i++) {
        assert_in_range(items[i], UINT64_C(1) << 40, (UINT64_C(1) << 40) + 6);
    }
}

static void test_a_single_item_is_drawn_every_time(void **state)
{
    (void)state;
    aq_replay_selector selector;
    uint64_t items[10];
    float weights[10];
    aq_replay_selector_init(&selector, kit_seed());
    aq_replay_selector_draw(&selector, 5, 6, 10, items, weights);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(items[i], 5);
    }
}

static void test_weights_are_one(void **state)
{
    (void)state;
    aq_replay_selector selector;
    uint64_t items[10];
    float weights[10] = {0};
    aq_replay_selector_init(&selector, kit_seed());
    aq_replay_selector_draw(&selector, 0, 100, 10, items, weights);
    for (int i = 0; i < 10; i++) {
        assert_true(weights[i] == 1.0f);
    }
}

static void test_equal_seeds_draw_equal_items(void **state)
{
    (void)state;
    aq_replay_selector a, b;
    uint64_t items_a[100], items_b[100];
    float weights[100];
    aq_replay_selector_init(&a, 9);
    aq_replay_selector_init(&b, 9);
    aq_replay_selector_draw(&a, 0, 1000000, 100, items_a, weights);
    aq_replay_selector_draw(&b, 0, 1000000, 100, items_b, weights);
    assert_memory_equal(items_a, items_b, sizeof(items_a));
    aq_replay_selector_init(&b, 10);
    aq_replay_selector_draw(&b, 0, 1000000, 100, items_b, weights);
    assert_int_not_equal(memcmp(items_a, items_b, sizeof(items_a)), 0);
}

static void test_all_items_are_equally_likely(void **state)
{
    (void)state;
    enum { ITEMS = 1000, DRAWS = 1000, EACH = 500 };
    aq_replay_selector selector;
    static uint64_t items[DRAWS];
    static float weights[DRAWS];
    static double counts[ITEMS];
    aq_replay_selector_init(&selector, kit_seed());
    for (int round = 0; round < EACH; round++) {
        aq_replay_selector_draw(&selector, 123, 123 + ITEMS, DRAWS, items, weights);
        for (int i = 0; i < DRAWS; i++) {
            counts[items[i] - 123] += 1.0;
        }
    }
    double chi_square = 0.0;
    for (int i = 0; i < ITEMS; i++) {
        chi_square += (counts[i] - EACH) * (counts[i] - EACH) / EACH;
    }
    print_message("chi-square %.1f of %d degrees of freedom\n", chi_square, ITEMS - 1);
    /* 999 degrees: mean 999, deviation 44.7; 5 deviations either way (too even is wrong too). */
    assert_true(chi_square > 776.0 && chi_square < 1223.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws_stay_among_the_live_items),
        cmocka_unit_test(test_a_single_item_is_drawn_every_time),
        cmocka_unit_test(test_weights_are_one),
        cmocka_unit_test(test_equal_seeds_draw_equal_items),
        cmocka_unit_test(test_all_items_are_equally_likely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

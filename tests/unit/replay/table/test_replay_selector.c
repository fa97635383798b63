/*
 * The selectors: which items they take, and in what proportions by Pearson's chi-square test.
 */
#include "replay/table/replay_selector.h"
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

/* A selector and the numbers that it was given. */
typedef struct selection {
    aq_replay_selector *selector;
    uint64_t first, end;
} selection;

TEST_ENDING(destroy_selector, aq_replay_selector_destroy);

static selection select_by(uint32_t kind, uint32_t remover, uint64_t seed)
{
    aq_table_spec spec = table_kit_spec();
    selection it = {0};
    spec.selector = kind;
    spec.remover = remover;
    assert_int_equal(aq_replay_selector_create(&spec, seed, &it.selector), 0);
    at_end(destroy_selector, it.selector);
    return it;
}

static void insert(selection *it, uint32_t count, float mass)
{
    const aq_replay_selector_class *class = it->selector->class;
    assert_int_equal(class->reserve(it->selector, it->first, it->end + count), 0);
    class->insert(it->selector, it->end, count, mass);
    it->end += count;
}

static void take_away(selection *it, uint64_t first, uint32_t count)
{
    it->selector->class->remove(it->selector, first, count);
}

static void draw(selection *it, uint32_t rows, uint64_t *items, float *probabilities)
{
    it->selector->class->draw(it->selector, rows, items, probabilities);
}

static void assert_draws(selection *it, const uint64_t *expected, uint32_t rows)
{
    uint64_t items[64];
    float probabilities[64];
    draw(it, rows, items, probabilities);
    for (uint32_t i = 0; i < rows; i++) {
        assert_int_equal(items[i], expected[i]);
    }
}

/* ---- by chance ----------------------------------------------------------------------------- */

enum { ITEMS = 1000, DRAWS = 1000 };

static void assert_proportions(selection *it, const double *masses, uint64_t first)
{
    static uint64_t items[DRAWS];
    static float probabilities[DRAWS];
    static double counts[ITEMS], expected[ITEMS];
    double total = 0.0;
    for (int i = 0; i < ITEMS; i++) {
        total += masses[i];
        counts[i] = 0.0;
    }
    for (int round = 0; round < ITEMS; round++) {
        draw(it, DRAWS, items, probabilities);
        for (int i = 0; i < DRAWS; i++) {
            assert_in_range(items[i], first, first + ITEMS - 1);
            uint64_t item = items[i] - first;
            counts[item] += 1.0;
            assert_true(fabs((double)probabilities[i] - masses[item] / total) <=
                        1e-5 * masses[item] / total);
        }
    }
    for (int i = 0; i < ITEMS; i++) {
        expected[i] = (double)ITEMS * DRAWS * masses[i] / total;
    }
    table_kit_assert_chi_square(counts, expected, ITEMS);
    if (it->selector->class->total != NULL) {
        assert_true(fabs(it->selector->class->total(it->selector) - total) <= 1e-5 * total);
    }
}

TEST(uniform_draws_are_uniform)
{
    static double masses[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        masses[i] = 1.0;
    }
    for (uint64_t n = 0; n < 4; n++) {
        selection it = select_by(AQ_SELECTOR_UNIFORM, AQ_REMOVER_FIFO, test_seed() + n);
        insert(&it, 300, 1.0f);
        insert(&it, ITEMS, 1.0f);
        take_away(&it, 0, 300);
        assert_proportions(&it, masses, 300);
    }
}

TEST(uniform_draws_over_holes_are_uniform)
{
    for (uint64_t n = 0; n < 2; n++) {
        selection it = select_by(AQ_SELECTOR_UNIFORM, AQ_REMOVER_LOWEST_PRIORITY, test_seed() + n);
        static double counts[ITEMS], expected[ITEMS];
        static uint64_t items[DRAWS];
        static float probabilities[DRAWS];
        insert(&it, 2 * ITEMS, 1.0f);
        for (uint64_t i = 0; i < ITEMS; i++) { /* each second one */
            take_away(&it, 2 * i, 1);
            counts[i] = 0.0;
            expected[i] = 500.0;
        }
        for (int round = 0; round < 500; round++) {
            draw(&it, DRAWS, items, probabilities);
            for (int i = 0; i < DRAWS; i++) {
                assert_int_equal(items[i] % 2, 1);
                counts[items[i] / 2] += 1.0;
                assert_true(probabilities[i] == 1.0f / ITEMS);
            }
        }
        table_kit_assert_chi_square(counts, expected, ITEMS);
    }
}

TEST(prioritized_draws_follow_the_masses)
{
    for (uint64_t n = 0; n < 3; n++) {
        selection it = select_by(AQ_SELECTOR_PRIORITIZED, AQ_REMOVER_FIFO, test_seed() + n);
        static double masses[ITEMS];
        uint64_t items[ITEMS];
        float floats[ITEMS];
        insert(&it, 777, 1.0f);
        insert(&it, ITEMS, 1.0f);
        take_away(&it, 0, 777);
        for (uint64_t i = 0; i < ITEMS; i++) {
            floats[i] = 1.0f + (float)((i * 37 + n) % 101);
            masses[i] = (double)floats[i];
            items[i] = 777 + i;
        }
        it.selector->class->weigh(it.selector, items, floats, ITEMS);
        assert_proportions(&it, masses, 777);
        assert_true(it.selector->class->mass(it.selector, 780) == floats[3]);
    }
}

TEST(equal_masses_are_drawn_as_by_a_uniform_selector)
{
    static double masses[ITEMS];
    selection it = select_by(AQ_SELECTOR_PRIORITIZED, AQ_REMOVER_FIFO, test_seed());
    for (int i = 0; i < ITEMS; i++) {
        masses[i] = 1.0;
    }
    insert(&it, ITEMS, 1.0f);
    assert_proportions(&it, masses, 0);
}

TEST(equal_seeds_draw_equal_items)
{
    const uint32_t kinds[] = {AQ_SELECTOR_UNIFORM, AQ_SELECTOR_PRIORITIZED};
    EACH_ROW(n, kinds) {
        uint64_t items[3][100];
        float probabilities[100];
        for (uint64_t i = 0; i < 3; i++) {
            selection it = select_by(kinds[n], AQ_REMOVER_FIFO, 9 + i / 2);
            insert(&it, 5000, 1.0f);
            draw(&it, 100, items[i], probabilities);
        }
        assert_memory_equal(items[0], items[1], sizeof(items[0]));
        assert_int_not_equal(memcmp(items[0], items[2], sizeof(items[0])), 0);
    }
}

TEST(masses_stay_theirs_while_the_window_moves_and_grows)
{
    selection it = select_by(AQ_SELECTOR_PRIORITIZED, AQ_REMOVER_FIFO, test_seed());
    aq_rng rng = rng_of(test_seed(), 2);
    static float masses[20000];
    double total = 0.0;
    for (int step = 0; step < 1000; step++) {
        uint32_t count = 1 + (uint32_t)aq_rng_below(&rng, 20);
        float mass = (float)aq_rng_uniform(&rng) + 0.01f;
        insert(&it, count, mass);
        for (uint64_t item = it.end - count; item < it.end; item++) {
            masses[item] = mass;
            total += (double)mass;
        }
        while (it.end - it.first > 200 + (uint64_t)step) {
            take_away(&it, it.first, 1);
            total -= (double)masses[it.first];
            it.first++;
        }
        uint64_t any = it.first + aq_rng_below(&rng, it.end - it.first);
        assert_true(it.selector->class->mass(it.selector, any) == masses[any]);
        assert_true(fabs(it.selector->class->total(it.selector) - total) <= 1e-3 * total);
        uint64_t items[32];
        float probabilities[32];
        draw(&it, 32, items, probabilities);
        for (int i = 0; i < 32; i++) {
            assert_in_range(items[i], it.first, it.end - 1);
        }
    }
}

TEST(what_is_hardly_ever_drawn_still_has_a_probability)
{
    selection it = select_by(AQ_SELECTOR_PRIORITIZED, AQ_REMOVER_FIFO, 1);
    insert(&it, 1, 1e-20f);
    uint64_t items[4];
    float probabilities[4];
    draw(&it, 4, items, probabilities);
    assert_true(probabilities[3] == 1.0f);
}

/* ---- in order ------------------------------------------------------------------------------ */

TEST(ordered_selectors_agree_with_a_plain_list)
{
    enum { NUMBERS = 60000 };
    static bool there[NUMBERS];
    aq_rng rng = rng_of(test_seed(), 3);
    for (uint32_t kind = AQ_SELECTOR_FIFO; kind <= AQ_SELECTOR_LIFO; kind++) {
        selection it = select_by(kind, AQ_REMOVER_LOWEST_PRIORITY, 1);
        uint64_t count = 0;
        memset(there, 0, sizeof(there));
        while (it.end + 100 < NUMBERS) {
            uint32_t more = 1 + (uint32_t)aq_rng_below(&rng, 100);
            insert(&it, more, 1.0f);
            memset(there + it.end - more, true, more);
            count += more;
            while (it.end - it.first > 3000 || (count > 0 && aq_rng_below(&rng, 4) != 0)) {
                uint64_t first = it.end - it.first > 3000
                                     ? it.first
                                     : it.first + aq_rng_below(&rng, it.end - it.first);
                uint32_t away = 1 + (uint32_t)aq_rng_below(&rng, 150);
                away = first + away > it.end ? (uint32_t)(it.end - first) : away;
                take_away(&it, first, away);
                for (uint64_t i = first; i < first + away; i++) {
                    count -= there[i];
                    there[i] = false;
                }
                it.first = first == it.first ? first + away : it.first;
            }
            uint64_t expected[64];
            uint32_t rows = 0;
            for (uint64_t i = 0; i < it.end && rows < 64; i++) {
                uint64_t item = kind == AQ_SELECTOR_FIFO ? i : it.end - 1 - i;
                if (there[item]) {
                    expected[rows++] = item;
                }
            }
            assert_draws(&it, expected, rows);
        }
    }
}

/* -------------------------------------------------------------------------------------------- */

TEST(room_that_cannot_be_had_changes_nothing)
{
    const uint32_t kinds[] = {AQ_SELECTOR_UNIFORM, AQ_SELECTOR_PRIORITIZED, AQ_SELECTOR_FIFO};
    EACH_ROW(i, kinds) {
        aq_table_spec spec = table_kit_spec();
        aq_replay_selector *selector = NULL;
        spec.selector = kinds[i];
        assert_fails_without_memory(aq_replay_selector_create(&spec, 1, &selector));
        assert_null(selector);
        selection it = select_by(kinds[i], AQ_REMOVER_FIFO, 1);
        insert(&it, 10, 1.0f);
        if (kinds[i] != AQ_SELECTOR_UNIFORM) {
            assert_fails_without_memory(it.selector->class->reserve(it.selector, 0, 100000));
        }
        uint64_t items[10];
        float probabilities[10];
        draw(&it, 10, items, probabilities);
        for (int row = 0; row < 10; row++) {
            assert_in_range(items[row], 0, 9);
            assert_true(fabsf(probabilities[row] - 0.1f) < 1e-6f);
        }
    }
    aq_replay_selector_destroy(NULL);
}

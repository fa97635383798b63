/*
 * The tree: its sums, its draws by Pearson's chi-square test, and what rounding must not do.
 */
#include "replay/table/sum_tree.h"
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

static aq_sum_tree tree_of(uint64_t leaves)
{
    aq_sum_tree tree;
    assert_int_equal(aq_sum_tree_init(&tree, leaves), 0);
    return tree;
}

static void assert_total(const aq_sum_tree *tree)
{
    double sum = 0.0;
    for (uint64_t i = 0; i < tree->counts[0]; i++) {
        sum += (double)tree->levels[0][i];
    }
    assert_true(fabs(tree->total - sum) <= 1e-5 * sum + 1e-30);
}

TEST(a_new_tree_weighs_nothing)
{
    const uint64_t sizes[] = {16, 32, 256, 4096, 65536, 1 << 20};
    EACH_ROW(i, sizes) {
        aq_sum_tree tree = tree_of(sizes[i]);
        assert_true(tree.total == 0.0);
        assert_int_equal(tree.counts[0], sizes[i]);
        assert_true(tree.counts[tree.level_count - 1] <= AQ_SUM_TREE_FAN);
        aq_sum_tree_fini(&tree);
    }
}

TEST(the_total_is_the_sum_of_the_leaves)
{
    aq_rng rng = rng_of(test_seed(), 1);
    const uint64_t sizes[] = {16, 32, 512, 8192};
    EACH_ROW(i, sizes) {
        aq_sum_tree tree = tree_of(sizes[i]);
        for (int round = 0; round < 300; round++) {
            if (aq_rng_below(&rng, 2) == 0) {
                uint64_t first = aq_rng_below(&rng, sizes[i]);
                uint64_t count = aq_rng_below(&rng, sizes[i] - first + 1);
                count = count > 40 ? 40 : count;
                aq_sum_tree_fill(&tree, first, count, (float)aq_rng_uniform(&rng));
            } else {
                uint32_t leaves[300];
                float masses[300];
                uint32_t count = 1 + (uint32_t)aq_rng_below(&rng, 300);
                for (uint32_t n = 0; n < count; n++) {
                    leaves[n] = (uint32_t)aq_rng_below(&rng, sizes[i]);
                    masses[n] = (float)aq_rng_uniform(&rng);
                }
                aq_sum_tree_set(&tree, leaves, masses, count);
                assert_true(tree.levels[0][leaves[count - 1]] == masses[count - 1]);
            }
            assert_total(&tree);
        }
        aq_sum_tree_fini(&tree);
    }
}

TEST(sums_do_not_drift)
{
    aq_sum_tree tree = tree_of(4096);
    const uint32_t leaves[] = {77};
    const float large[] = {1e20f};
    const float small[] = {1.0f};
    for (int i = 0; i < 1000; i++) {
        aq_sum_tree_set(&tree, leaves, large, 1);
        aq_sum_tree_set(&tree, leaves, small, 1);
    }
    assert_true(tree.total == 1.0);
    aq_sum_tree_fini(&tree);
}

/* `masses` of `count` leaves, scattered over a tree of `size`. */
static void check_draws(uint64_t seed, uint64_t size, const float *masses, int count, int draws)
{
    aq_sum_tree tree = tree_of(size);
    static double counts[4096], expected[4096];
    static uint32_t drawn[256], place_of[1 << 20];
    double total = 0.0;
    aq_rng rng = rng_of(seed, 9);
    for (int i = 0; i < count; i++) {
        uint32_t leaf = (uint32_t)(size / (uint64_t)count * (uint64_t)i);
        place_of[leaf] = (uint32_t)i;
        aq_sum_tree_set(&tree, &leaf, &masses[i], 1);
        total += (double)masses[i];
        counts[i] = 0.0;
    }
    for (int i = 0; i < count; i++) {
        expected[i] = (double)draws * (double)masses[i] / total;
    }
    for (int done = 0; done < draws; done += 256) {
        aq_sum_tree_draw(&tree, &rng, 256, drawn);
        for (int i = 0; i < 256; i++) {
            assert_true(tree.levels[0][drawn[i]] > 0.0f);
            counts[place_of[drawn[i]]] += 1.0;
        }
    }
    table_kit_assert_chi_square(counts, expected, count);
    aq_sum_tree_fini(&tree);
}

TEST(leaves_are_drawn_in_proportion)
{
    uint64_t seed = test_seed();
    static float masses[1000];
    const uint64_t rounds = test_rounds(4);
    for (uint64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < 1000; i++) {
            masses[i] = powf((float)(1 + i % 97), (float)round); /* up to 1 to 10^6 */
            masses[i] = masses[i] > 1000.0f ? 1000.0f : masses[i];
        }
        check_draws(seed + round, 1 << 16, masses, 1000, 256 * 20000);
    }
}

TEST(few_leaves_among_a_million_are_drawn_in_proportion)
{
    const float masses[] = {1.0f, 2.0f, 3.0f, 0.5f, 1e-3f, 100.0f};
    check_draws(test_seed(), 1 << 20, masses, 6, 256 * 10000);
}

TEST(leaves_of_one_node_are_drawn_in_proportion)
{
    float masses[16];
    for (int i = 0; i < 16; i++) {
        masses[i] = (float)(1 + i * i);
    }
    check_draws(test_seed(), 16, masses, 16, 256 * 4000);
}

TEST(a_leaf_without_mass_is_never_drawn)
{
    aq_sum_tree tree = tree_of(4096);
    aq_rng rng, values;
    static uint32_t drawn[4096];
    aq_rng_init(&rng, test_seed(), 3);
    aq_rng_init(&values, test_seed(), 4);
    for (int round = 0; round < 200; round++) {
        /* Few leaves of all magnitudes: where rounding could lead to a neighbour. */
        aq_sum_tree_fill(&tree, 0, 4096, 0.0f);
        for (int i = 0; i < 1 + round % 40; i++) {
            uint32_t leaf = (uint32_t)aq_rng_below(&values, 4096);
            float mass = (float)pow(10.0, aq_rng_range(&values, -20.0, 20.0));
            aq_sum_tree_set(&tree, &leaf, &mass, 1);
        }
        aq_sum_tree_draw(&tree, &rng, 4096, drawn);
        for (int i = 0; i < 4096; i++) {
            assert_true(tree.levels[0][drawn[i]] > 0.0f);
        }
    }
    aq_sum_tree_fini(&tree);
}

TEST(the_only_leaf_is_drawn_every_time)
{
    const uint32_t places[] = {0, 15, 16, 1000, 4095};
    aq_rng rng = rng_of(test_seed(), 5);
    for (size_t i = 0; i < 5; i++) {
        aq_sum_tree tree = tree_of(4096);
        const float mass = 1e-20f;
        uint32_t drawn[100];
        aq_sum_tree_set(&tree, &places[i], &mass, 1);
        aq_sum_tree_draw(&tree, &rng, 100, drawn);
        for (int n = 0; n < 100; n++) {
            assert_int_equal(drawn[n], places[i]);
        }
        aq_sum_tree_fini(&tree);
    }
}

TEST(without_memory_there_is_no_tree)
{
    aq_sum_tree tree;
    assert_fails_without_memory(aq_sum_tree_init(&tree, 256));
    aq_sum_tree_fini(&tree);
}

/*
 * Histograms, the clock of items, and whose time it was.
 */
#include "replay/table/replay_accounting.h"
#include "tests/support/test.h"
#include "tests/unit/replay/replay_kit.h"

TEST(a_histogram_counts_in_powers_of_two)
{
    static const struct {
        uint64_t value;
        int bucket;
    } cases[] = {{0, 0}, {1, 1}, {2, 2}, {3, 2}, {4, 3}, {7, 3}, {8, 4}, {UINT64_MAX, 39}};
    EACH_ROW(i, cases) {
        aq_histogram histogram = {0};
        assert_int_equal(aq_histogram_length(&histogram), 0);
        aq_histogram_add(&histogram, cases[i].value);
        assert_int_equal(histogram.counts[cases[i].bucket], 1);
        assert_int_equal(aq_histogram_length(&histogram), cases[i].bucket + 1);
    }
}

/* -1: the clock does not know. */
static int64_t when(const aq_item_clock *clock, uint64_t item)
{
    int64_t came_ns = -1;
    return aq_item_clock_when(clock, item, &came_ns) ? came_ns : -1;
}

TEST(the_clock_knows_when_an_item_came)
{
    aq_item_clock clock = {0};
    assert_int_equal(when(&clock, 5), -1); /* nothing came yet */
    for (int64_t second = 0; second < 100; second++) {
        aq_item_clock_note(&clock, 7 + (uint64_t)second * 10, 0, second * AQ_NS_PER_S);
    }
    assert_int_equal(when(&clock, 6), -1);
    assert_int_equal(when(&clock, 7), 0);
    assert_int_equal(when(&clock, 16), 0);
    assert_int_equal(when(&clock, 17), AQ_NS_PER_S);
    assert_int_equal(when(&clock, 999), 99 * AQ_NS_PER_S);
}

/* A million items a second, of which the last ten million are held, for an hour. */
TEST(ages_stay_right_to_a_part_of_what_is_held)
{
    enum { HELD = 10000000, PER_TICK = 2000 };
    aq_item_clock clock = {0};
    int64_t now_ns = 0;
    uint64_t next = 0;
    for (int tick = 0; tick < 1800000; tick++) {
        now_ns += 2 * AQ_NS_PER_MS;
        aq_item_clock_note(&clock, next, next > HELD ? next - HELD : 0, now_ns);
        next += PER_TICK;
    }
    assert_true(clock.count <= AQ_ITEM_CLOCK_NOTES);
    for (uint64_t back = 1; back < HELD; back += 12345) {
        int64_t age_ns = now_ns - when(&clock, next - back);
        double off_s = (double)(age_ns - (int64_t)(back / PER_TICK) * 2 * AQ_NS_PER_MS) / 1e9;
        assert_true(off_s > -0.01 && off_s < 0.1); /* of 10 seconds */
    }
}

TEST(staleness_is_counted_against_the_newest_version_that_came)
{
    aq_layout layout = kit_layout();
    aq_batch *batch = NULL;
    aq_shard_accounting accounting;
    aq_item_clock clock = {0};
    assert_int_equal(aq_batch_create(&layout, 0, 4, &batch), 0);
    aq_shard_accounting_init(&accounting, 0);
    aq_shard_accounting_inserted(&accounting, 10);
    aq_shard_accounting_inserted(&accounting, 8); /* of a slower actor */
    batch->rows = 4;
    batch->version[0] = 10;
    batch->version[1] = 9;
    batch->version[2] = 6;
    batch->version[3] = 0;
    aq_shard_accounting_sampled(&accounting, batch, &clock, 0);
    assert_int_equal(accounting.staleness.counts[0], 1);
    assert_int_equal(accounting.staleness.counts[1], 1);
    assert_int_equal(accounting.staleness.counts[3], 1);
    assert_int_equal(accounting.staleness.counts[4], 1);
    aq_batch_destroy(batch);
}

TEST(time_goes_to_what_happened_in_it)
{
    aq_shard_accounting accounting;
    aq_shard_accounting_init(&accounting, 100);
    aq_shard_accounting_inserted(&accounting, 1);
    aq_shard_accounting_tick(&accounting, 110, true, true);
    assert_int_equal(accounting.inserting_ns, 10);
    assert_int_equal(accounting.actors_waited_ns, 0); /* steps came */
    assert_int_equal(accounting.learner_waited_ns, 10);
    aq_shard_accounting_tick(&accounting, 130, true, false);
    assert_int_equal(accounting.inserting_ns, 10);
    assert_int_equal(accounting.actors_waited_ns, 20);
    assert_int_equal(accounting.learner_waited_ns, 10);
    assert_int_equal(accounting.sampling_ns, 0);
}

/*
 * What each store brought, and that actors find it at the same slot for as long as that can be.
 */
#include "common/config/table_spec.h"
#include "learner/run/store_ledger.h"
#include "tests/support/test.h"

static uint32_t arrive(aq_store_ledger *ledger, uint64_t incarnation, uint64_t store)
{
    return aq_store_ledger_arrive(ledger, incarnation, store, "", AQ_SLOT_NONE);
}

TEST(stores_get_slots_from_the_lowest)
{
    aq_store_ledger ledger = {0};
    assert_int_equal(arrive(&ledger, 1, 10), 0);
    assert_int_equal(arrive(&ledger, 2, 20), 1);
    assert_int_equal(arrive(&ledger, 3, 30), 2);
}

TEST(a_store_comes_back_to_its_slot_and_count)
{
    aq_store_ledger ledger = {0};
    arrive(&ledger, 1, 10);
    arrive(&ledger, 2, 20);
    aq_store_ledger_told(&ledger, 1, 500);
    aq_store_ledger_depart(&ledger, 1);
    assert_int_equal(aq_store_ledger_total(&ledger), 500);
    assert_int_equal(arrive(&ledger, 3, 30), 2); /* a new one doesn't get what may be needed */
    assert_int_equal(arrive(&ledger, 4, 10), 0);
    aq_store_ledger_told(&ledger, 4, 501);
    assert_int_equal(aq_store_ledger_total(&ledger), 501);
}

TEST(what_a_store_came_with_is_told_from_what_it_has_taken_in_since)
{
    aq_store_ledger ledger;
    const aq_shard_count known[] = {{.store = 10, .inserted = 500, .slot = 0}};
    aq_store_ledger_restore(&ledger, known, 1, 70);
    assert_int_equal(aq_store_ledger_found(&ledger), 0); /* a checkpoint knows it */
    arrive(&ledger, 1, 10);
    arrive(&ledger, 2, 20);
    aq_store_ledger_told(&ledger, 1, 650);
    assert_int_equal(aq_store_ledger_found(&ledger), 150);
    aq_store_ledger_told(&ledger, 1, 660);
    aq_store_ledger_told(&ledger, 2, 0);
    aq_store_ledger_told(&ledger, 2, 30);
    assert_int_equal(aq_store_ledger_found(&ledger), 150);
    assert_int_equal(aq_store_ledger_total(&ledger), 70 + 660 + 30);
    aq_store_ledger_depart(&ledger, 1);
    arrive(&ledger, 3, 10);
    aq_store_ledger_told(&ledger, 3, 670); /* it is the same one */
    assert_int_equal(aq_store_ledger_found(&ledger), 150);
}

TEST(a_new_store_at_the_address_of_a_gone_one_takes_its_slot)
{
    aq_store_ledger ledger = {0};
    arrive(&ledger, 1, 10);
    assert_int_equal(aq_store_ledger_arrive(&ledger, 2, 20, "ipc:///b", AQ_SLOT_NONE), 1);
    aq_store_ledger_told(&ledger, 2, 7);
    aq_store_ledger_depart(&ledger, 2);
    assert_int_equal(aq_store_ledger_arrive(&ledger, 3, 30, "ipc:///b", AQ_SLOT_NONE), 1);
    aq_store_ledger_told(&ledger, 3, 2);
    assert_int_equal(aq_store_ledger_total(&ledger), 9); /* what the former brought stays */
    /* Were the former one to come back all the same, it would get another. */
    assert_int_equal(aq_store_ledger_arrive(&ledger, 4, 20, "ipc:///c", AQ_SLOT_NONE), 2);
    aq_store_ledger_told(&ledger, 4, 8);
    assert_int_equal(aq_store_ledger_total(&ledger), 10);
}

TEST(an_address_of_a_live_store_gives_nothing)
{
    aq_store_ledger ledger = {0};
    assert_int_equal(aq_store_ledger_arrive(&ledger, 1, 10, "ipc:///a", AQ_SLOT_NONE), 0);
    assert_int_equal(aq_store_ledger_arrive(&ledger, 2, 20, "ipc:///a", AQ_SLOT_NONE), 1);
}

TEST(a_slot_that_a_store_had_in_this_run_is_its_own)
{
    aq_store_ledger ledger = {0};
    const aq_shard_count known[] = {{.store = 10, .inserted = 5, .slot = 0}};
    aq_store_ledger_restore(&ledger, known, 1, 0);
    /* The checkpoint is older than the one in memory that took the place of 10. */
    assert_int_equal(aq_store_ledger_arrive(&ledger, 1, 20, "", 0), 0);
    assert_int_equal(aq_store_ledger_arrive(&ledger, 2, 30, "", 0), 1); /* it is taken by now */
    assert_int_equal(aq_store_ledger_arrive(&ledger, 3, 40, "", 9), 9);
    assert_int_equal(aq_store_ledger_arrive(&ledger, 4, 50, "", AQ_SHARDS_MAX), 2); /* no slot */
    assert_int_equal(aq_store_ledger_total(&ledger), 5);
}

TEST(only_a_live_process_is_heard)
{
    aq_store_ledger ledger = {0};
    arrive(&ledger, 1, 10);
    aq_store_ledger_told(&ledger, 2, 100);
    aq_store_ledger_told(&ledger, 0, 100);
    aq_store_ledger_depart(&ledger, 1);
    aq_store_ledger_depart(&ledger, 1);
    aq_store_ledger_told(&ledger, 1, 100);
    assert_int_equal(aq_store_ledger_total(&ledger), 0);
}

TEST(counts_grow_and_stay_possible)
{
    aq_store_ledger ledger = {0};
    arrive(&ledger, 1, 10);
    aq_store_ledger_told(&ledger, 1, 100);
    aq_store_ledger_told(&ledger, 1, 99);
    aq_store_ledger_told(&ledger, 1, AQ_SHARD_INSERTED_MAX + 1);
    aq_store_ledger_told(&ledger, 1, UINT64_MAX);
    assert_int_equal(aq_store_ledger_total(&ledger), 100);
    aq_store_ledger_told(&ledger, 1, AQ_SHARD_INSERTED_MAX);
    assert_true(aq_store_ledger_total(&ledger) == AQ_SHARD_INSERTED_MAX);
}

TEST(counts_survive_a_restart_of_the_learner)
{
    aq_store_ledger before = {0};
    aq_store_ledger after = {0};
    aq_shard_count counts[AQ_STORES_MAX];
    uint64_t base = 0;
    arrive(&before, 1, 10);
    arrive(&before, 2, 20);
    aq_store_ledger_told(&before, 1, 70);
    aq_store_ledger_told(&before, 2, 30);
    size_t count = aq_store_ledger_counts(&before, counts, &base);
    aq_store_ledger_restore(&after, counts, count, base);
    assert_int_equal(aq_store_ledger_total(&after), 100);
    assert_int_equal(arrive(&after, 12, 20), 1);
    assert_int_equal(arrive(&after, 13, 30), 2);
    assert_int_equal(arrive(&after, 11, 10), 0);
    aq_store_ledger_told(&after, 12, 35);
    assert_int_equal(aq_store_ledger_total(&after), 105);
}

/* They had no slots, and named a start of a shard where a store is named now. */
TEST(checkpoints_of_before_stores_had_names_keep_their_steps)
{
    aq_store_ledger ledger = {0};
    const aq_shard_count old[] = {
        {.store = 10, .inserted = 5}, {.store = 20, .inserted = 6}, {.store = 30, .inserted = 7}};
    aq_store_ledger_restore(&ledger, old, 3, 100);
    assert_int_equal(aq_store_ledger_total(&ledger), 118);
    assert_int_equal(arrive(&ledger, 1, 40), 1);
}

TEST(rubbish_in_a_checkpoint_is_counted_and_no_more)
{
    aq_store_ledger ledger = {0};
    const aq_shard_count odd[] = {{.store = 0, .inserted = 1, .slot = 3},
                                  {.store = 10, .inserted = 2, .slot = 1000},
                                  {.store = 20, .inserted = 4, .slot = AQ_SLOT_NONE},
                                  {.store = 20, .inserted = 8, .slot = 5}};
    aq_store_ledger_restore(&ledger, odd, 4, 0);
    assert_int_equal(aq_store_ledger_total(&ledger), 15);
    assert_int_equal(arrive(&ledger, 1, 20), 0);
}

TEST(the_store_that_went_first_makes_room)
{
    aq_store_ledger ledger = {0};
    for (uint64_t i = 1; i <= AQ_SHARDS_MAX; i++) {
        assert_int_equal(arrive(&ledger, i, i), i - 1);
        aq_store_ledger_told(&ledger, i, 1);
    }
    aq_store_ledger_depart(&ledger, 9);
    aq_store_ledger_depart(&ledger, 5);
    assert_int_equal(arrive(&ledger, 100, 100), 8);
    assert_int_equal(arrive(&ledger, 105, 5), 4); /* the later one is still known */
    assert_int_equal(aq_store_ledger_total(&ledger), AQ_SHARDS_MAX);
}

TEST(a_gone_store_that_has_lost_its_slot_makes_room_before_one_that_has_its_own)
{
    aq_store_ledger ledger = {0};
    arrive(&ledger, 1, 10);
    aq_store_ledger_arrive(&ledger, 2, 20, "ipc:///b", AQ_SLOT_NONE);
    aq_store_ledger_told(&ledger, 1, 4);
    aq_store_ledger_depart(&ledger, 1);
    aq_store_ledger_depart(&ledger, 2);
    assert_int_equal(aq_store_ledger_arrive(&ledger, 3, 30, "ipc:///b", AQ_SLOT_NONE), 1);
    aq_store_ledger_told(&ledger, 3, 1);
    for (uint64_t i = 4; i <= AQ_STORES_MAX + 1; i++) {
        aq_store_ledger_depart(&ledger, i - 1);
        assert_int_equal(aq_store_ledger_arrive(&ledger, i, 10 * i, "ipc:///b", AQ_SLOT_NONE), 1);
    }
    assert_int_equal(arrive(&ledger, 5000, 10), 0); /* it went first, and is still known */
    aq_store_ledger_told(&ledger, 5000, 5);
    assert_int_equal(aq_store_ledger_total(&ledger), 5 + 1);
}

TEST(a_store_that_many_came_after_counts_once)
{
    aq_store_ledger ledger = {0};
    arrive(&ledger, 1, 1);
    aq_store_ledger_told(&ledger, 1, 1000);
    aq_store_ledger_depart(&ledger, 1);
    for (uint64_t i = 2; i <= AQ_STORES_MAX; i++) {
        assert_true(arrive(&ledger, i, i) < AQ_SHARDS_MAX);
        aq_store_ledger_told(&ledger, i, 1);
        aq_store_ledger_depart(&ledger, i);
    }
    arrive(&ledger, 5000, 1);
    aq_store_ledger_told(&ledger, 5000, 1001);
    assert_int_equal(aq_store_ledger_total(&ledger), 1001 + AQ_STORES_MAX - 1);
}

/* Whatever comes and goes: no slot is that of two live stores, and the total is what was told. */
TEST(random_comings_and_goings)
{
    enum { PROCESSES = 40, STORES = 150, MOVES = 20000 };
    aq_store_ledger ledger = {0};
    uint64_t live[PROCESSES] = {0}; /* the store of each */
    uint64_t told[STORES + 1] = {0};
    uint32_t slots[PROCESSES] = {0};
    uint64_t incarnation[PROCESSES] = {0};
    uint64_t next = 0;
    aq_rng rng = rng_of(77, 0);
    for (int move = 0; move < MOVES; move++) {
        size_t process = aq_rng_below(&rng, PROCESSES);
        if (live[process]) {
            uint64_t store = live[process];
            told[store] += aq_rng_below(&rng, 100);
            aq_store_ledger_told(&ledger, incarnation[process], told[store]);
            if (aq_rng_below(&rng, 3) == 0) {
                aq_store_ledger_depart(&ledger, incarnation[process]);
                live[process] = 0;
            }
        } else {
            uint64_t store = 1 + aq_rng_below(&rng, STORES);
            bool is_live = false;
            char url[32];
            for (size_t i = 0; i < PROCESSES; i++) {
                is_live = is_live || live[i] == store;
            }
            if (is_live) {
                continue;
            }
            (void)snprintf(url, sizeof(url), "tcp://a:%u", (unsigned)aq_rng_below(&rng, 60));
            live[process] = store;
            incarnation[process] = ++next;
            uint32_t wanted =
                aq_rng_below(&rng, 4) ? AQ_SLOT_NONE : (uint32_t)aq_rng_below(&rng, AQ_SHARDS_MAX);
            slots[process] = aq_store_ledger_arrive(&ledger, next, store, url, wanted);
            assert_true(slots[process] < AQ_SHARDS_MAX);
            for (size_t i = 0; i < PROCESSES; i++) {
                assert_true(i == process || !live[i] || slots[i] != slots[process]);
            }
        }
        uint64_t total = 0;
        for (uint64_t store = 1; store <= STORES; store++) {
            total += told[store];
        }
        assert_int_equal(aq_store_ledger_total(&ledger), total);
    }
}

/*
 * A core with a log: what is acknowledged when, and who gets credit.
 */
#include "tests/support/test.h"
#include "tests/unit/replay/durable_kit.h"
#include "tests/unit/replay/replay_kit.h"

TEST_IN(durable_kit, kit, a_message_is_acknowledged_when_it_is_durable)
{
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 2);
    durable_kit_pass(kit, 3);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 0);
    assert_int_equal(durable_kit_ask(kit, 1, 0).expected, 3);
    kit->fake.durable = 1;
    durable_kit_pass(kit, 1);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 1);
    durable_kit_make_durable(kit);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 2);
}

TEST_IN(durable_kit, kit, each_sender_is_acknowledged_its_own)
{
    durable_kit_open(kit);
    for (uint64_t seq = 1; seq <= 3; seq++) {
        for (uint64_t actor = 1; actor <= 3; actor++) {
            assert_int_equal(durable_kit_send(kit, actor, seq, 8), AQ_REPLAY_STORED);
        }
    }
    kit->fake.durable = 5; /* the second round, but for the third actor's */
    durable_kit_pass(kit, 1);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 2);
    assert_int_equal(durable_kit_ask(kit, 2, 0).acknowledged, 2);
    assert_int_equal(durable_kit_ask(kit, 3, 0).acknowledged, 1);
}

TEST_IN(durable_kit, kit, a_repeat_of_what_is_not_durable_yet_is_a_duplicate)
{
    durable_kit_open(kit);
    assert_int_equal(durable_kit_send(kit, 1, 1, 8), AQ_REPLAY_STORED);
    assert_int_equal(durable_kit_send(kit, 1, 1, 8), AQ_REPLAY_DUPLICATE);
    assert_int_equal(kit->fake.count, 1);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 8);
}

TEST_IN(durable_kit, kit, more_records_than_the_ring_begins_with_wait_in_order)
{
    kit->fake.records_per_segment = 100;
    durable_kit_open(kit);
    for (uint64_t seq = 1; seq <= 1500; seq++) {
        assert_int_equal(durable_kit_send(kit, 1, seq, 1), AQ_REPLAY_STORED);
    }
    kit->fake.durable = 1111;
    durable_kit_pass(kit, 1);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 1111);
    durable_kit_make_durable(kit);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 1500);
}

TEST_IN(durable_kit, kit, a_message_that_the_log_has_no_room_for_is_deferred)
{
    durable_kit_open(kit);
    kit->fake.full_at = 2;
    durable_kit_fill(kit, 1, 2);
    assert_int_equal(durable_kit_send(kit, 1, 3, 8), AQ_REPLAY_DEFERRED);
    assert_int_equal(durable_kit_send(kit, 1, 4, 8), AQ_REPLAY_GAP);
    aq_replay_counters counters = aq_replay_core_counters(kit->core);
    assert_int_equal(counters.inserted, 16);
    assert_int_equal(counters.stored, 16);
    assert_int_equal(counters.rejected, 0);
    assert_int_equal(durable_kit_ask(kit, 1, 0).expected, 3);
    durable_kit_make_durable(kit);
    assert_int_equal(durable_kit_send(kit, 1, 3, 8), AQ_REPLAY_STORED);
}

TEST_IN(durable_kit, kit, a_stuck_log_stops_acknowledgements_and_credit_and_recovers)
{
    durable_kit_open(kit);
    assert_int_equal(durable_kit_send(kit, 1, 1, 8), AQ_REPLAY_STORED);
    kit->fake.stuck = true;
    durable_kit_pass(kit, 1);
    assert_int_equal(durable_kit_ask(kit, 1, 0).granted, 0);
    /* Not for the patience that an actor without progress has otherwise. */
    for (int i = 0; i < 500; i++) {
        durable_kit_pass(kit, 2);
        assert_int_equal(durable_kit_ask(kit, 1, 0).granted, 0);
        assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 0);
    }
    assert_string_equal(aq_replay_core_waiting(kit->core),
                        "actors wait: nothing can be written: no space left");
    kit->fake.stuck = false;
    durable_kit_make_durable(kit);
    aq_credit credit = durable_kit_ask(kit, 1, 0);
    assert_true(credit.granted > 0);
    assert_int_equal(credit.acknowledged, 1);
    assert_null(strstr(aq_replay_core_waiting(kit->core), "written"));
}

/* Syncs that keep failing ask for a new one each. */
TEST_IN(durable_kit, kit, a_stuck_log_begins_no_segment)
{
    kit->fake.records_per_segment = 1;
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 1);
    kit->fake.stuck = true;
    durable_kit_pass(kit, 1);
    assert_int_equal(durable_kit_send(kit, 1, 2, 8), AQ_REPLAY_DEFERRED);
    assert_int_equal(kit->fake.segment, 1);
    kit->fake.stuck = false;
    durable_kit_pass(kit, 1);
    durable_kit_fill(kit, 2, 2);
    assert_int_equal(kit->fake.segment, 2);
}

TEST_IN(durable_kit, kit, grants_are_bounded_by_what_the_backlog_still_takes)
{
    kit->settings.tables[0].tolerance = 1e9;
    durable_kit_open(kit);
    /* More than it takes: an actor is trusted with as much as it has brought. */
    uint64_t free_steps = 0;
    for (uint64_t number = 1; number == 1 || 800 * number < 2 * free_steps; number++) {
        assert_int_equal(durable_kit_send(kit, 1, number, 800), AQ_REPLAY_STORED);
        free_steps = kit->backlog_bytes / (kit->fake.records[0]->size / 800);
        durable_kit_make_durable(kit);
    }
    uint64_t granted = durable_kit_ask(kit, 1, 0).granted;
    assert_in_range(granted, free_steps / 2, free_steps);
    durable_kit_pass(kit, 100);
    assert_in_range(durable_kit_ask(kit, 1, granted).granted, free_steps / 2, free_steps + 800);
}

TEST_IN(durable_kit, kit, a_message_for_another_store_is_dropped)
{
    durable_kit_open(kit);
    enum aq_replay_verdict verdict;
    aq_experience message = kit_message(1, 1, 0, 0, 8);
    aq_arrival *arrival = kit_arrival(&message);
    arrival->store = KIT_STORE + 1;
    assert_int_equal(aq_replay_core_insert(kit->core, 0, arrival, &verdict, NULL), 0);
    assert_int_equal(verdict, AQ_REPLAY_STRAY);
    assert_int_equal(aq_replay_core_actors(kit->core), 0);
    assert_int_equal(aq_replay_core_counters(kit->core).rejected, 0);
}

/* The folder is an older copy, or files of it are gone. */
TEST_IN(durable_kit, kit, what_a_sender_knows_to_be_acknowledged_and_is_not_there_is_missing)
{
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 4);
    durable_kit_make_durable(kit);
    durable_kit_restart(kit);
    aq_credit_call call = {.actor = 1, .incarnation = 1001, .known_acknowledged = 4};
    assert_int_equal(aq_replay_core_called(kit->core, kit->now_ns, &call, NULL), 0);
    assert_int_equal(aq_replay_core_counters(kit->core).missing, 0);
    call.known_acknowledged = 7; /* whoever has spoken to this start is not believed any more */
    assert_int_equal(aq_replay_core_called(kit->core, kit->now_ns, &call, NULL), AQ_E_INVALID);
    assert_int_equal(aq_replay_core_counters(kit->core).missing, 0);
    durable_kit_restart(kit);
    for (int i = 0; i < 2; i++) { /* counted once */
        assert_int_equal(aq_replay_core_called(kit->core, kit->now_ns, &call, NULL), 0);
        assert_int_equal(aq_replay_core_counters(kit->core).missing, 3);
    }
    call.actor = 2; /* of whom the copy knows nothing */
    assert_int_equal(aq_replay_core_called(kit->core, kit->now_ns, &call, NULL), 0);
    assert_int_equal(aq_replay_core_counters(kit->core).missing, 3 + 7);
    call.known_acknowledged = AQ_CREDIT_COUNT_MAX;
    for (uint64_t i = 1; i < 9; i++) { /* whoever says what cannot be hides nobody else's word */
        call.actor = 2 + i;
        assert_int_equal(aq_replay_core_called(kit->core, kit->now_ns, &call, NULL), 0);
        assert_int_equal(aq_replay_core_counters(kit->core).missing, 3 + 7 + (i << 32));
    }
}

/* What was acknowledged was so by a store in memory, whose messages go to its successor. */
TEST_IN(durable_kit, kit, a_store_that_has_just_begun_misses_nothing)
{
    aq_shard_run run = kit_run(&kit->settings);
    run.is_new = true;
    assert_succeeds(aq_replay_core_create(&run, kit->now_ns, &kit->core, &refusal));
    assert_succeeds(
        aq_replay_core_attach(kit->core, kit->now_ns, &kit->fake.log, 0, kit->backlog_bytes));
    const aq_credit_call call = {.actor = 1, .incarnation = 1001, .known_acknowledged = 5};
    assert_int_equal(aq_replay_core_called(kit->core, kit->now_ns, &call, NULL), 0);
    assert_int_equal(aq_replay_core_counters(kit->core).missing, 0);
    assert_int_equal(durable_kit_send(kit, 1, 6, 8), AQ_REPLAY_STORED);
}

/* A full roster lets all go at once that are silent. */
TEST_IN(durable_kit, kit, who_was_forgotten_misses_nothing)
{
    durable_kit_open(kit);
    for (uint64_t actor = 2; actor <= AQ_ROSTER_ACTORS_MAX; actor++) {
        (void)durable_kit_ask(kit, actor, 0);
    }
    durable_kit_fill(kit, 1, 1);
    durable_kit_make_durable(kit);
    kit->now_ns += AQ_ROSTER_IDLE_NS + AQ_NS_PER_S;
    (void)durable_kit_ask(kit, AQ_ROSTER_ACTORS_MAX + 1, 0);
    assert_int_equal(aq_replay_core_actors(kit->core), 1);
    aq_credit_call call = {.actor = 1, .incarnation = 1001, .known_acknowledged = 1};
    assert_int_equal(aq_replay_core_called(kit->core, kit->now_ns, &call, NULL), 0);
    assert_int_equal(aq_replay_core_counters(kit->core).missing, 0);
    durable_kit_restart(kit); /* the head of the segment has all that there may be */
    kit->now_ns += AQ_ROSTER_IDLE_NS + AQ_NS_PER_S;
    for (call.actor = AQ_ROSTER_ACTORS_MAX + 2; call.actor < AQ_ROSTER_ACTORS_MAX + 4;
         call.actor++) {
        assert_int_equal(aq_replay_core_called(kit->core, kit->now_ns, &call, NULL), 0);
        assert_int_equal(aq_replay_core_counters(kit->core).missing, 0);
    }
}

TEST_IN(durable_kit, kit, marks_and_counts_go_on_when_a_store_in_memory_begins_anew)
{
    const uint64_t items[2] = {3, 1000};
    const float priorities[2] = {2.0f, 2.0f};
    kit->settings.tables[0].selector = AQ_SELECTOR_PRIORITIZED;
    kit->settings.tables[0].min_size = 16;
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 2);
    (void)durable_kit_sample(kit, 16);
    assert_int_equal(aq_replay_core_prioritize(kit->core, 0, items, priorities, 2), 1);
    aq_shard_run run = kit_run(&kit->settings);
    aq_replay_core *former = kit->core;
    assert_int_equal(aq_replay_core_create(&run, kit->now_ns, &kit->core, NULL), 0);
    assert_int_equal(aq_replay_core_inherit(kit->core, former), 0);
    assert_int_equal(aq_replay_core_attach(kit->core, kit->now_ns, NULL, 0, 0), 0);
    aq_replay_core_destroy(former);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 16);
    assert_int_equal(aq_replay_core_counters(kit->core).stored, 0);
    const aq_replay_shelf *shelf = &aq_replay_core_tables(kit->core)->shelves[0];
    assert_int_equal(shelf->sampled, 16);
    assert_int_equal(shelf->prioritized, 1);
    assert_int_equal(shelf->stale, 1);
    assert_int_equal(durable_kit_send(kit, 1, 2, 8), AQ_REPLAY_DUPLICATE);
    assert_int_equal(durable_kit_send(kit, 1, 3, 8), AQ_REPLAY_STORED);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 3);
}

TEST_IN(durable_kit, kit, a_store_in_memory_that_goes_on_in_a_folder_is_begun_anew_once)
{
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 2);
    aq_shard_run run = kit_run(&kit->settings);
    aq_replay_core *former = kit->core;
    assert_int_equal(aq_replay_core_create(&run, kit->now_ns, &kit->core, NULL), 0);
    assert_int_equal(aq_replay_core_inherit(kit->core, former), 0);
    aq_replay_core_destroy(former);
    for (int i = 0; i < 2; i++) { /* at once, and when the folder has been read */
        assert_int_equal(aq_replay_core_attach(kit->core, kit->now_ns, NULL, 0, 0), 0);
        const aq_replay_limiter *limiter = &aq_replay_core_tables(kit->core)->shelves[0].limiter;
        assert_int_equal(limiter->min_size, kit->settings.tables[0].min_size + 16);
        assert_int_equal(limiter->inserted, 16);
    }
}

TEST_IN(durable_kit, kit, the_log_is_closed_with_the_core)
{
    durable_kit_open(kit);
    durable_kit_crash(kit);
    assert_int_equal(kit->fake.closed, 1);
}

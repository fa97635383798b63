/*
 * An earlier life: what a restart finds in the log, and in what is left of it.
 */
#include "replay/shard/replay_roster.h"
#include "tests/support/test.h"
#include "tests/unit/replay/durable_kit.h"
#include "tests/unit/replay/replay_kit.h"

TEST_IN(durable_kit, kit, a_restart_finds_every_mark_item_and_count)
{
    durable_kit_open(kit);
    for (uint64_t seq = 1; seq <= 10; seq++) {
        assert_int_equal(durable_kit_send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        assert_int_equal(durable_kit_send(kit, 2, seq, 12), AQ_REPLAY_STORED);
    }
    durable_kit_make_durable(kit);
    aq_replay_counters before = aq_replay_core_counters(kit->core);
    aq_replay_holdings held = durable_kit_holdings(kit, 0);
    const uint32_t newest = aq_replay_core_accounting(kit->core)->newest_version;
    durable_kit_restart(kit);
    assert_true(newest > 0);
    assert_int_equal(aq_replay_core_accounting(kit->core)->newest_version, newest);
    aq_replay_counters after = aq_replay_core_counters(kit->core);
    assert_int_equal(after.inserted, before.inserted);
    assert_int_equal(after.stored, before.stored);
    assert_int_equal(durable_kit_holdings(kit, 0).items, held.items);
    assert_int_equal(durable_kit_holdings(kit, 0).chunks, held.chunks);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 10);
    assert_int_equal(durable_kit_ask(kit, 2, 0).expected, 11);
    assert_int_equal(aq_replay_core_restored(kit->core)->transitions, 200);
    assert_int_equal(aq_replay_core_restored(kit->core)->segments, 5);
    assert_int_equal(durable_kit_send(kit, 1, 10, 8), AQ_REPLAY_DUPLICATE);
    assert_int_equal(durable_kit_send(kit, 1, 11, 8), AQ_REPLAY_STORED);
    for (size_t i = 0; i < 2; i++) { /* what Status tells of them */
        const aq_replay_actor *actor = aq_replay_core_actor(kit->core, i);
        assert_int_equal(actor->transitions, actor->actor == 1 ? 88 : 120);
    }
}

/* Steps of a chunk in which no sequence starts are not gone: nobody waits for others. */
TEST_IN(durable_kit, kit, a_restart_finds_the_minimum_size_of_a_table_of_sequences)
{
    aq_table_spec *table = &kit->settings.tables[0];
    table->sequence_length = KIT_N_STEP;
    table->sequence_period = 20;
    table->min_size = 24;
    durable_kit_open(kit);
    for (uint64_t seq = 1; seq <= 3; seq++) {
        enum aq_replay_verdict verdict;
        aq_experience message = kit_message(1, seq, 0, 1000 * seq, 8);
        message.chunks[0]->view.first = seq > 1 ? 1 : 0;
        aq_arrival *arrival = kit_arrival(&message);
        assert_int_equal(aq_replay_core_insert(kit->core, kit->now_ns, arrival, &verdict, NULL), 0);
        assert_int_equal(verdict, AQ_REPLAY_STORED);
    }
    durable_kit_make_durable(kit);
    durable_kit_restart(kit);
    assert_int_equal(durable_kit_holdings(kit, 0).chunks, 1);
    assert_int_equal(durable_kit_holdings(kit, 0).transitions, 24);
    assert_int_equal(aq_replay_core_tables(kit->core)->shelves[0].limiter.min_size, 24);
}

TEST_IN(durable_kit, kit, who_waits_for_a_restart_hears_of_each_record)
{
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 6);
    durable_kit_make_durable(kit);
    assert_int_equal(kit->advances, 0);
    durable_kit_restart(kit);
    assert_int_equal(kit->advances, 6);
}

TEST_IN(durable_kit, kit, what_was_not_durable_comes_again_and_is_stored_once)
{
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 6);
    kit->fake.durable = 4;
    durable_kit_pass(kit, 1);
    durable_kit_restart(kit);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 4);
    durable_kit_fill(kit, 5, 6);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 48);
}

TEST_IN(durable_kit, kit, marks_and_counts_survive_the_dropping_of_segments)
{
    kit->settings.tables[0].capacity = 40;
    kit->settings.tables[0].min_size = 20;
    durable_kit_open(kit);
    assert_int_equal(durable_kit_send(kit, 7, 1, 8),
                     AQ_REPLAY_STORED); /* an actor that then falls silent */
    for (uint64_t seq = 1; seq <= 60; seq++) {
        assert_int_equal(durable_kit_send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        durable_kit_make_durable(kit);
    }
    assert_int_equal(fake_log_live_segments(&kit->fake), 2);
    durable_kit_restart(kit);
    assert_int_equal(durable_kit_ask(kit, 7, 0).acknowledged, 1);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 60);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 61 * 8);
    assert_int_equal(aq_replay_core_counters(kit->core).stored, 40);
    assert_int_equal(durable_kit_send(kit, 7, 1, 8), AQ_REPLAY_DUPLICATE);
}

/* The head of a segment knows as many senders as there may be; the live core forgets some behind
 * it, who are silent for long, and others take their places. */
TEST_IN(durable_kit, kit, more_senders_than_there_is_room_for_come_back_one_after_the_other)
{
    enum { KNOWN = AQ_ROSTER_ACTORS_MAX - 50, NEW = 100 };
    kit->fake.records_per_segment = 1000;
    durable_kit_open(kit);
    for (uint64_t actor = 1; actor <= KNOWN; actor++) {
        (void)durable_kit_ask(kit, actor, 0);
    }
    assert_int_equal(durable_kit_send(kit, 1, 1, 1), AQ_REPLAY_STORED);
    kit->now_ns += AQ_ROSTER_IDLE_NS + AQ_NS_PER_S;
    for (uint64_t actor = KNOWN + 1; actor <= KNOWN + NEW; actor++) {
        assert_int_equal(durable_kit_send(kit, actor, 1, 1), AQ_REPLAY_STORED);
    }
    durable_kit_make_durable(kit);
    durable_kit_restart(kit);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 1 + NEW);
    for (uint64_t actor = KNOWN + 1; actor <= KNOWN + NEW; actor++) {
        assert_int_equal(durable_kit_ask(kit, actor, 0).acknowledged, 1);
    }
}

TEST_IN(durable_kit, kit, a_second_restart_finds_the_same)
{
    durable_kit_open(kit);
    for (uint64_t seq = 1; seq <= 9; seq++) {
        assert_int_equal(durable_kit_send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        durable_kit_make_durable(kit);
        durable_kit_restart(kit);
    }
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 72);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 9);
    assert_int_equal(fake_log_live_segments(&kit->fake), 9);
}

TEST_IN(durable_kit, kit, priorities_times_sampled_and_the_limiter_come_back_from_the_snapshot)
{
    kit->settings.tables[0].selector = AQ_SELECTOR_PRIORITIZED;
    kit->settings.tables[0].priority_exponent = 1.0;
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 5);
    const uint64_t items[3] = {3, 17, 1000};
    const float priorities[3] = {50.0f, 9.0f, 1.0f};
    assert_int_equal(aq_replay_core_prioritize(kit->core, 0, items, priorities, 3), 2);
    (void)durable_kit_sample(kit, 16);
    durable_kit_make_durable(kit);
    uint64_t snapshots;
    assert_int_equal(aq_replay_core_snapshot_now(kit->core, &snapshots), 0);
    durable_kit_pass(kit, 20);
    assert_int_equal(aq_replay_core_log_progress(kit->core)->snapshots, snapshots);
    double lead = aq_replay_limiter_lead(&aq_replay_core_tables(kit->core)->shelves[0].limiter);
    double mass = durable_kit_holdings(kit, 0).mass;
    durable_kit_restart(kit);
    const aq_replay_shelf *shelf = &aq_replay_core_tables(kit->core)->shelves[0];
    assert_true(durable_kit_holdings(kit, 0).mass == mass);
    assert_true(mass > 90.0);
    assert_true(aq_replay_limiter_lead(&shelf->limiter) == lead);
    assert_int_equal(shelf->sampled, 16);
    assert_int_equal(shelf->prioritized, 2);
    assert_int_equal(shelf->stale, 1);
    assert_string_equal(aq_replay_core_restored(kit->core)->changed, "");
}

static size_t ages_of(const durable_kit *kit)
{
    return aq_histogram_length(&aq_replay_core_accounting(kit->core)->age_ms);
}

/* A record does not say when it came. */
TEST_IN(durable_kit, kit, rows_that_were_read_back_have_no_age)
{
    kit->settings.tables[0].selector = AQ_SELECTOR_LIFO;
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 4);
    durable_kit_make_durable(kit);
    durable_kit_restart(kit);
    durable_kit_pass(kit, 10);
    (void)durable_kit_sample(kit, 16);
    assert_int_equal(ages_of(kit), 0);
    durable_kit_fill(kit, 5, 6);
    (void)durable_kit_sample(kit, 16);
    assert_int_equal(ages_of(kit), 1); /* less than a millisecond */
}

TEST_IN(durable_kit, kit, a_changed_setting_wins_and_is_said)
{
    durable_kit_open(kit);
    assert_int_equal(durable_kit_send(kit, 1, 1, 100), AQ_REPLAY_STORED);
    durable_kit_make_durable(kit);
    aq_replay_core_save(kit->core);
    assert_int_equal(kit->fake.snapshots, 1);
    durable_kit_crash(kit);
    kit->settings.tables[0].samples_per_insert = 8.0;
    kit->settings.tables[0].tolerance = 20.0;
    durable_kit_open(kit);
    const aq_replay_limiter *limiter = &aq_replay_core_tables(kit->core)->shelves[0].limiter;
    assert_string_equal(aq_replay_core_restored(kit->core)->changed,
                        "main.samples_per_insert 4 -> 8, main.tolerance 40 -> 20");
    assert_true(limiter->samples_per_insert == 8.0);
    assert_true(aq_replay_limiter_lead(limiter) <= 20.0); /* no wait beyond the band */
}

TEST_IN(durable_kit, kit, a_snapshot_that_cannot_be_read_leaves_a_store_without_it)
{
    static const uint8_t bytes[20] = {'A', 'Q', 'S', 'N', 1, 0, 0, 0, 1};
    durable_kit_open(kit);
    assert_int_equal(durable_kit_send(kit, 1, 1, 100), AQ_REPLAY_STORED);
    durable_kit_make_durable(kit);
    assert_int_equal(aq_lease_copy(bytes, sizeof(bytes), &kit->fake.snapshot), 0);
    durable_kit_restart(kit);
    assert_int_equal(kit->damages, 1);
    assert_int_equal(durable_kit_holdings(kit, 0).items, 100);
    const aq_replay_limiter *limiter = &aq_replay_core_tables(kit->core)->shelves[0].limiter;
    assert_true(aq_replay_limiter_lead(limiter) == 0.0); /* neither side is ahead */
}

TEST_IN(durable_kit, kit, a_table_that_lost_its_items_does_not_stop_everybody)
{
    kit->settings.tables[0].capacity = 8; /* less than what is counted as inserted */
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 24);
    durable_kit_make_durable(kit);
    aq_replay_core_save(kit->core);
    durable_kit_crash(kit);
    for (uint64_t i = 0; i < kit->fake.segment; i++) { /* all records are lost, the heads are not */
        kit->fake.segments[i].dropped = i + 1 < kit->fake.segment;
    }
    while (kit->fake.count > 0 && kit->fake.segments_of[kit->fake.count - 1] == kit->fake.segment) {
        aq_lease_unref(kit->fake.records[--kit->fake.count]);
    }
    kit->fake.durable = kit->fake.count;
    durable_kit_open(kit);
    assert_int_equal(durable_kit_holdings(kit, 0).items, 0);
    assert_true(aq_replay_core_counters(kit->core).inserted >= 128); /* far ahead, by the count */
    durable_kit_pass(kit, 1);
    assert_true(durable_kit_ask(kit, 1, 0).granted >= KIT_CHUNK_LENGTH);
}

/* Whatever of the records before it can be read. */
TEST_IN(durable_kit, kit, a_head_counts_all_that_lies_before_it)
{
    static const uint64_t inserted[] = {10, 25, 20}, expected[] = {10, 25, 25};
    const aq_shard_run run = kit_run(&kit->settings);
    aq_log_mark mark = {.actor = 1, .incarnation = 1001, .acknowledged = 3, .transitions = 9};
    aq_log_head head = {.marks = &mark, .mark_count = 1};
    assert_succeeds(aq_replay_core_create(&run, kit->now_ns, &kit->core, &refusal));
    EACH_ROW(i, inserted) {
        head.inserted = inserted[i];
        assert_succeeds(aq_replay_core_restore_head(kit->core, i + 1, &head));
        assert_int_equal(aq_replay_core_counters(kit->core).inserted, expected[i]);
    }
    mark.acknowledged = AQ_CREDIT_COUNT_MAX + 1;
    assert_int_equal(aq_replay_core_restore_head(kit->core, 4, &head), AQ_E_CORRUPT);
}

/* The count of all lives is the snapshot's where records are gone that no head counts. */
TEST_IN(durable_kit, kit, steps_that_cannot_be_read_stay_counted_and_are_no_minimum)
{
    kit->settings.tables[0].min_size = 100;
    kit->fake.records_per_segment = 1000;
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 20);
    durable_kit_make_durable(kit);
    aq_replay_core_save(kit->core);
    durable_kit_crash(kit);
    while (kit->fake.count > 3) {
        aq_lease_unref(kit->fake.records[--kit->fake.count]);
    }
    kit->fake.durable = kit->fake.count;
    durable_kit_open(kit);
    assert_int_equal(durable_kit_holdings(kit, 0).items, 24);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 160);
    const aq_replay_limiter *limiter = &aq_replay_core_tables(kit->core)->shelves[0].limiter;
    assert_false(aq_replay_limiter_may_sample(limiter, 1));
    assert_string_equal(aq_replay_core_waiting(kit->core),
                        "learner waits: 24 of 100 steps, but no actor is there");
    for (uint64_t seq = 1; seq <= 10; seq++) { /* to 104 steps */
        assert_int_equal(durable_kit_send(kit, 2, seq, 8), AQ_REPLAY_STORED);
    }
    assert_true(aq_replay_limiter_may_sample(limiter, 1));
    const double lead = aq_replay_limiter_lead(limiter);
    durable_kit_make_durable(kit);
    aq_replay_core_save(kit->core);
    durable_kit_restart(kit); /* where the minimum is there again */
    limiter = &aq_replay_core_tables(kit->core)->shelves[0].limiter;
    assert_true(aq_replay_limiter_lead(limiter) == lead);
}

TEST_IN(durable_kit, kit, a_message_that_the_log_has_is_stored_whatever_memory_there_is)
{
    durable_kit_open(kit);
    aq_experience message = kit_message(1, 1, 0, 0, 8);
    aq_arrival *arrival = kit_arrival(&message);
    enum aq_replay_verdict verdict;
    int rc = AQ_E_NOMEM;
    for (uint64_t nth = 1; rc != 0; nth++) {
        assert_true(nth < 20);
        assert_int_equal(kit->fake.count, 0);
        aq_memory_fail_at(nth, 0);
        rc = aq_replay_core_insert(kit->core, kit->now_ns, aq_arrival_ref(arrival), &verdict, NULL);
        aq_memory_fail_at(0, 0);
    }
    aq_arrival_unref(arrival);
    assert_int_equal(kit->fake.count, 1);
    durable_kit_make_durable(kit);
    assert_int_equal(durable_kit_ask(kit, 1, 0).acknowledged, 1);
    durable_kit_restart(kit);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 8);
}

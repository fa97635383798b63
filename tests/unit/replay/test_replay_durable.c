/*
 * A core with a log: what is acknowledged when, and what an earlier life leaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "replay/replay_core.h"
#include "replay/replay_recovery.h"
#include "tests/unit/replay/fake_log.h"
#include "tests/unit/replay/replay_kit.h"

enum { BACKLOG_BYTES = 1 << 20 };

typedef struct durable_kit {
    fake_log fake;
    aq_run_settings settings;
    aq_replay_core *core;
    int64_t now_ns;
    int damages;
    uint64_t lives;
} durable_kit;

static void on_damaged(void *user, const char *what)
{
    durable_kit *kit = user;
    (void)what;
    kit->damages++;
}

/* Begins the next life from what the log holds. */
static void open_core(durable_kit *kit)
{
    aq_shard_run run = kit_run(&kit->settings);
    aq_error error;
    run.incarnation += kit->lives++;
    int rc = aq_replay_core_create(&run, kit->now_ns, &kit->core, &error);
    if (rc != 0) {
        fail_msg("%s", error.text);
    }
    aq_replay_recovery recovery = {kit->core, kit->now_ns, on_damaged, kit};
    aq_replay_log_recovery calls = aq_replay_recovery_calls(&recovery);
    fake_log_recover(&kit->fake, &calls);
    assert_int_equal(aq_replay_core_attach(kit->core, kit->now_ns, &kit->fake.log, kit->fake.count,
                                           BACKLOG_BYTES),
                     0);
}

static int setup(void **state)
{
    durable_kit *kit = aq_alloc(1, sizeof(*kit));
    assert_non_null(kit);
    fake_log_init(&kit->fake);
    kit->settings = kit_settings();
    kit->settings.storage.snapshot_ms = 1000000;
    kit->now_ns = AQ_NS_PER_S;
    *state = kit;
    return 0;
}

static int teardown(void **state)
{
    durable_kit *kit = *state;
    aq_memory_fail_at(0, 0);
    aq_replay_core_destroy(kit->core);
    fake_log_fini(&kit->fake);
    aq_free(kit);
    return 0;
}

static void crash(durable_kit *kit)
{
    aq_replay_core_destroy(kit->core);
    kit->core = NULL;
    fake_log_crash(&kit->fake);
}

/* Lets so many ticks pass. */
static void pass(durable_kit *kit, int ticks)
{
    for (int i = 0; i < ticks; i++) {
        kit->now_ns += 2 * AQ_NS_PER_MS;
        aq_replay_core_upkeep(kit->core, kit->now_ns);
        aq_replay_core_share(kit->core, kit->now_ns);
    }
}

static void make_durable(durable_kit *kit)
{
    kit->fake.durable = kit->fake.count;
    pass(kit, 1);
}

static enum aq_replay_verdict send(durable_kit *kit, uint64_t actor, uint64_t seq, uint32_t steps)
{
    enum aq_replay_verdict verdict = AQ_REPLAY_GAP;
    aq_experience message = kit_message(actor, seq, 0, 1000 * seq, steps);
    assert_int_equal(
        aq_replay_core_insert(kit->core, kit->now_ns, kit_arrival(&message), &verdict, NULL), 0);
    return verdict;
}

static aq_credit ask(durable_kit *kit, uint64_t actor, uint64_t known_granted)
{
    aq_credit_call call = {
        .actor = actor, .incarnation = 1000 + actor, .known_granted = known_granted};
    aq_credit credit = {0};
    assert_int_equal(aq_replay_core_called(kit->core, kit->now_ns, &call, NULL), 0);
    aq_replay_core_share(kit->core, kit->now_ns);
    assert_true(aq_replay_core_answer(kit->core, kit->now_ns, &call, true, &credit));
    return credit;
}

static aq_replay_holdings holdings(const durable_kit *kit, size_t table)
{
    return aq_replay_table_holdings(aq_replay_core_tables(kit->core)->shelves[table].table);
}

static aq_batch *sample(durable_kit *kit, uint32_t rows)
{
    aq_batch *batch = NULL;
    assert_int_equal(aq_batch_create(aq_replay_core_layout(kit->core), rows, &batch), 0);
    assert_int_equal(aq_replay_core_sample(kit->core, kit->now_ns, 0, rows, 0.5f, batch), 0);
    return batch;
}

/* ---- acknowledgements ---------------------------------------------------------------------- */

static void test_a_message_is_acknowledged_when_it_is_durable(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    assert_int_equal(send(kit, 1, 1, 8), AQ_REPLAY_STORED);
    assert_int_equal(send(kit, 1, 2, 8), AQ_REPLAY_STORED);
    pass(kit, 3);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 0);
    assert_int_equal(ask(kit, 1, 0).expected, 3);
    kit->fake.durable = 1;
    pass(kit, 1);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 1);
    make_durable(kit);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 2);
}

static void test_each_sender_is_acknowledged_its_own(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    for (uint64_t seq = 1; seq <= 3; seq++) {
        for (uint64_t actor = 1; actor <= 3; actor++) {
            assert_int_equal(send(kit, actor, seq, 8), AQ_REPLAY_STORED);
        }
    }
    kit->fake.durable = 5; /* the second round, but for the third actor's */
    pass(kit, 1);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 2);
    assert_int_equal(ask(kit, 2, 0).acknowledged, 2);
    assert_int_equal(ask(kit, 3, 0).acknowledged, 1);
}

static void test_a_repeat_of_what_is_not_durable_yet_is_a_duplicate(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    assert_int_equal(send(kit, 1, 1, 8), AQ_REPLAY_STORED);
    assert_int_equal(send(kit, 1, 1, 8), AQ_REPLAY_DUPLICATE);
    assert_int_equal(kit->fake.count, 1);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 8);
}

static void test_more_records_than_the_ring_begins_with_wait_in_order(void **state)
{
    durable_kit *kit = *state;
    kit->fake.records_per_segment = 100;
    open_core(kit);
    for (uint64_t seq = 1; seq <= 3000; seq++) {
        assert_int_equal(send(kit, 1, seq, 1), AQ_REPLAY_STORED);
    }
    kit->fake.durable = 2222;
    pass(kit, 1);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 2222);
    make_durable(kit);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 3000);
}

static void test_a_message_that_the_log_has_no_room_for_is_deferred(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    kit->fake.full_at = 2;
    assert_int_equal(send(kit, 1, 1, 8), AQ_REPLAY_STORED);
    assert_int_equal(send(kit, 1, 2, 8), AQ_REPLAY_STORED);
    assert_int_equal(send(kit, 1, 3, 8), AQ_REPLAY_DEFERRED);
    assert_int_equal(send(kit, 1, 4, 8), AQ_REPLAY_GAP);
    aq_replay_counters counters = aq_replay_core_counters(kit->core);
    assert_int_equal(counters.inserted, 16);
    assert_int_equal(counters.stored, 16);
    assert_int_equal(counters.deferred, 1);
    assert_int_equal(counters.rejected, 0);
    assert_int_equal(ask(kit, 1, 0).expected, 3);
    make_durable(kit);
    assert_int_equal(send(kit, 1, 3, 8), AQ_REPLAY_STORED);
}

/* ---- credit -------------------------------------------------------------------------------- */

static void test_a_stuck_log_stops_acknowledgements_and_credit_and_recovers(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    assert_int_equal(send(kit, 1, 1, 8), AQ_REPLAY_STORED);
    kit->fake.stuck = true;
    pass(kit, 1);
    assert_int_equal(ask(kit, 1, 0).granted, 0);
    /* Not for the patience that an actor without progress has otherwise. */
    for (int i = 0; i < 500; i++) {
        pass(kit, 2);
        assert_int_equal(ask(kit, 1, 0).granted, 0);
        assert_int_equal(ask(kit, 1, 0).acknowledged, 0);
    }
    assert_string_equal(aq_replay_core_waiting(kit->core),
                        "actors wait: nothing can be written: no space left");
    kit->fake.stuck = false;
    make_durable(kit);
    aq_credit credit = ask(kit, 1, 0);
    assert_true(credit.granted > 0);
    assert_int_equal(credit.acknowledged, 1);
    assert_null(strstr(aq_replay_core_waiting(kit->core), "written"));
}

static void test_grants_are_bounded_by_what_the_backlog_still_takes(void **state)
{
    durable_kit *kit = *state;
    kit->settings.tables[0].tolerance = 1e9;
    open_core(kit);
    assert_int_equal(send(kit, 1, 1, 800), AQ_REPLAY_STORED);
    uint64_t step_bytes = kit->fake.records[0]->size / 800;
    make_durable(kit);
    uint64_t free_steps = BACKLOG_BYTES / step_bytes;
    uint64_t granted = ask(kit, 1, 0).granted;
    assert_in_range(granted, free_steps / 2, free_steps);
    pass(kit, 100);
    assert_in_range(ask(kit, 1, granted).granted, free_steps / 2, free_steps + 800);
}

/* ---- an earlier life ----------------------------------------------------------------------- */

static void test_a_restart_finds_every_mark_item_and_count(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    for (uint64_t seq = 1; seq <= 10; seq++) {
        assert_int_equal(send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        assert_int_equal(send(kit, 2, seq, 12), AQ_REPLAY_STORED);
    }
    make_durable(kit);
    aq_replay_counters before = aq_replay_core_counters(kit->core);
    aq_replay_holdings held = holdings(kit, 0);
    crash(kit);
    open_core(kit);
    aq_replay_counters after = aq_replay_core_counters(kit->core);
    assert_int_equal(after.inserted, before.inserted);
    assert_int_equal(after.stored, before.stored);
    assert_int_equal(holdings(kit, 0).items, held.items);
    assert_int_equal(holdings(kit, 0).chunks, held.chunks);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 10);
    assert_int_equal(ask(kit, 2, 0).expected, 11);
    assert_int_equal(aq_replay_core_restored(kit->core)->transitions, 200);
    assert_int_equal(aq_replay_core_restored(kit->core)->messages, 20);
    assert_int_equal(aq_replay_core_restored(kit->core)->segments, 5);
    assert_int_equal(send(kit, 1, 10, 8), AQ_REPLAY_DUPLICATE);
    assert_int_equal(send(kit, 1, 11, 8), AQ_REPLAY_STORED);
    for (size_t i = 0; i < 2; i++) { /* what Status tells of them */
        aq_replay_actor_view view = aq_replay_core_actor(kit->core, i);
        assert_int_equal(view.received, view.actor == 1 ? 88 : 120);
    }
}

static void test_what_was_not_durable_comes_again_and_is_stored_once(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    for (uint64_t seq = 1; seq <= 6; seq++) {
        assert_int_equal(send(kit, 1, seq, 8), AQ_REPLAY_STORED);
    }
    kit->fake.durable = 4;
    pass(kit, 1);
    crash(kit);
    open_core(kit);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 4);
    assert_int_equal(send(kit, 1, 5, 8), AQ_REPLAY_STORED);
    assert_int_equal(send(kit, 1, 6, 8), AQ_REPLAY_STORED);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 48);
}

static void test_marks_and_counts_survive_the_dropping_of_segments(void **state)
{
    durable_kit *kit = *state;
    kit->settings.tables[0].capacity = 40;
    kit->settings.tables[0].min_size = 20;
    open_core(kit);
    assert_int_equal(send(kit, 7, 1, 8), AQ_REPLAY_STORED); /* an actor that then falls silent */
    for (uint64_t seq = 1; seq <= 60; seq++) {
        assert_int_equal(send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        make_durable(kit);
    }
    assert_int_equal(fake_log_live_segments(&kit->fake), 2);
    crash(kit);
    open_core(kit);
    assert_int_equal(ask(kit, 7, 0).acknowledged, 1);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 60);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 61 * 8);
    assert_int_equal(aq_replay_core_counters(kit->core).stored, 40);
    assert_int_equal(send(kit, 7, 1, 8), AQ_REPLAY_DUPLICATE);
}

static void test_a_second_restart_finds_the_same(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    for (uint64_t seq = 1; seq <= 9; seq++) {
        assert_int_equal(send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        make_durable(kit);
        crash(kit);
        open_core(kit);
    }
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 72);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 9);
    assert_int_equal(fake_log_live_segments(&kit->fake), 9);
}

static void test_priorities_times_sampled_and_the_limiter_come_back_from_the_snapshot(void **state)
{
    durable_kit *kit = *state;
    kit->settings.tables[0].selector = AQ_SELECTOR_PRIORITIZED;
    kit->settings.tables[0].priority_exponent = 1.0;
    open_core(kit);
    for (uint64_t seq = 1; seq <= 5; seq++) {
        assert_int_equal(send(kit, 1, seq, 8), AQ_REPLAY_STORED);
    }
    const uint64_t items[3] = {3, 17, 1000};
    const float priorities[3] = {50.0f, 9.0f, 1.0f};
    assert_int_equal(aq_replay_core_prioritize(kit->core, 0, items, priorities, 3), 2);
    aq_batch *batch = sample(kit, 16);
    aq_batch_destroy(batch);
    make_durable(kit);
    uint64_t snapshots;
    assert_int_equal(aq_replay_core_snapshot_now(kit->core, &snapshots), 0);
    kit->fake.snapshots_refused = 3;
    pass(kit, 20);
    assert_int_equal(aq_replay_core_log_progress(kit->core)->snapshots, snapshots);
    double lead = aq_replay_limiter_lead(&aq_replay_core_tables(kit->core)->shelves[0].limiter);
    double mass = holdings(kit, 0).mass;
    crash(kit);
    open_core(kit);
    const aq_replay_shelf *shelf = &aq_replay_core_tables(kit->core)->shelves[0];
    assert_true(holdings(kit, 0).mass == mass);
    assert_true(mass > 90.0);
    assert_true(aq_replay_limiter_lead(&shelf->limiter) == lead);
    assert_int_equal(shelf->sampled, 16);
    assert_int_equal(shelf->prioritized, 2);
    assert_int_equal(shelf->stale, 1);
    assert_string_equal(aq_replay_core_restored(kit->core)->changed, "");
}

static void test_a_changed_setting_wins_and_is_said(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    assert_int_equal(send(kit, 1, 1, 100), AQ_REPLAY_STORED);
    make_durable(kit);
    aq_replay_core_save(kit->core);
    assert_int_equal(kit->fake.snapshots, 1);
    crash(kit);
    kit->settings.tables[0].samples_per_insert = 8.0;
    kit->settings.tables[0].tolerance = 20.0;
    open_core(kit);
    const aq_replay_limiter *limiter = &aq_replay_core_tables(kit->core)->shelves[0].limiter;
    assert_string_equal(aq_replay_core_restored(kit->core)->changed,
                        "main.samples_per_insert 4 -> 8, main.tolerance 40 -> 20");
    assert_true(limiter->samples_per_insert == 8.0);
    assert_true(aq_replay_limiter_lead(limiter) <= 20.0); /* no wait beyond the band */
}

static void test_a_snapshot_that_cannot_be_read_leaves_a_store_without_it(void **state)
{
    durable_kit *kit = *state;
    static const uint8_t bytes[20] = {'A', 'Q', 'S', 'N', 1, 0, 0, 0, 1};
    uint8_t *copy;
    open_core(kit);
    assert_int_equal(send(kit, 1, 1, 100), AQ_REPLAY_STORED);
    make_durable(kit);
    assert_int_equal(aq_lease_create(sizeof(bytes), &copy, &kit->fake.snapshot), 0);
    memcpy(copy, bytes, sizeof(bytes));
    crash(kit);
    open_core(kit);
    assert_int_equal(kit->damages, 1);
    assert_int_equal(holdings(kit, 0).items, 100);
    const aq_replay_limiter *limiter = &aq_replay_core_tables(kit->core)->shelves[0].limiter;
    assert_true(aq_replay_limiter_lead(limiter) == 0.0); /* neither side is ahead */
}

static void test_a_table_that_lost_its_items_does_not_stop_everybody(void **state)
{
    durable_kit *kit = *state;
    kit->settings.tables[0].capacity = 8; /* less than what is counted as inserted */
    open_core(kit);
    for (uint64_t seq = 1; seq <= 8; seq++) {
        assert_int_equal(send(kit, 1, seq, 8), AQ_REPLAY_STORED);
    }
    make_durable(kit);
    aq_replay_core_save(kit->core);
    crash(kit);
    for (uint64_t i = 0; i < kit->fake.segment; i++) { /* all records are lost, the heads are not */
        kit->fake.segments[i].dropped = i + 1 < kit->fake.segment;
    }
    while (kit->fake.count > 0 && kit->fake.segments_of[kit->fake.count - 1] == kit->fake.segment) {
        aq_lease_unref(kit->fake.records[--kit->fake.count]);
    }
    kit->fake.durable = kit->fake.count;
    open_core(kit);
    assert_int_equal(holdings(kit, 0).items, 0);
    assert_true(aq_replay_core_counters(kit->core).inserted >= 32);
    pass(kit, 1);
    assert_true(ask(kit, 1, 0).granted >= KIT_CHUNK_LENGTH);
}

static void test_a_record_whose_message_was_not_stored_is_passed_over_later(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    aq_experience message = kit_message(1, 1, 0, 0, 8);
    aq_arrival *arrival = kit_arrival(&message);
    enum aq_replay_verdict verdict;
    assert_int_equal(send(kit, 2, 1, 8), AQ_REPLAY_STORED); /* the segment is begun */
    bool failed_after_append = false;
    for (uint64_t nth = 1; kit->fake.count < 3 && nth < 10; nth++) {
        uint64_t count = kit->fake.count;
        aq_memory_fail_at(nth, 0);
        int rc =
            aq_replay_core_insert(kit->core, kit->now_ns, aq_arrival_ref(arrival), &verdict, NULL);
        aq_memory_fail_at(0, 0);
        failed_after_append = failed_after_append || (rc != 0 && kit->fake.count > count);
        if (rc == 0) {
            break;
        }
    }
    aq_arrival_unref(arrival);
    assert_true(failed_after_append);
    uint64_t inserted = aq_replay_core_counters(kit->core).inserted;
    assert_int_equal(inserted, 16);
    make_durable(kit);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 1);
    crash(kit);
    open_core(kit);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, inserted);
    assert_true(aq_replay_core_restored(kit->core)->duplicates >= 1);
}

/* ---- room ---------------------------------------------------------------------------------- */

static void test_segments_of_which_nothing_is_held_are_dropped(void **state)
{
    durable_kit *kit = *state;
    kit->settings.tables[0].capacity = 64;
    open_core(kit);
    for (uint64_t seq = 1; seq <= 400; seq++) {
        assert_int_equal(send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        make_durable(kit);
        assert_in_range(fake_log_live_segments(&kit->fake), 1, 4);
    }
    assert_int_equal(holdings(kit, 0).transitions, 64);
}

static void test_old_chunks_kept_for_their_priority_go_when_files_grow_too_large(void **state)
{
    durable_kit *kit = *state;
    kit->settings.tables[0].selector = AQ_SELECTOR_PRIORITIZED;
    kit->settings.tables[0].remover = AQ_REMOVER_LOWEST_PRIORITY;
    kit->settings.tables[0].priority_exponent = 1.0;
    kit->settings.tables[0].capacity = 64;
    kit->settings.storage.segment_bytes = 1 << 16;
    open_core(kit);
    uint64_t items[8];
    float priorities[8];
    assert_int_equal(send(kit, 1, 1, 8), AQ_REPLAY_STORED);
    for (uint64_t i = 0; i < 8; i++) {
        items[i] = i;
        priorities[i] = 1e6f;
    }
    assert_int_equal(aq_replay_core_prioritize(kit->core, 0, items, priorities, 8), 8);
    float low[8] = {0};
    for (uint64_t seq = 2; seq <= 30; seq++) {
        assert_int_equal(send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        for (uint64_t i = 0; i < 8; i++) {
            items[i] = 8 * (seq - 1) + i;
        }
        (void)aq_replay_core_prioritize(kit->core, 0, items, low, 8);
        make_durable(kit);
    }
    assert_false(kit->fake.segments[0].dropped);
    kit->fake.disk_bytes = (uint64_t)1 << 30;
    pass(kit, 2);
    assert_true(kit->fake.segments[0].dropped);
}

static void test_messages_move_out_of_memory_beyond_the_budget(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    for (uint64_t seq = 1; seq <= 100; seq++) {
        assert_int_equal(send(kit, 1, seq, 8), AQ_REPLAY_STORED);
    }
    uint64_t all = aq_replay_core_stored(kit->core).resident_bytes;
    crash(kit);
    fake_log_fini(&kit->fake);
    fake_log_init(&kit->fake);
    kit->settings.storage.memory_bytes = 3 * all / 4;
    open_core(kit);
    for (uint64_t seq = 1; seq <= 100; seq++) {
        assert_int_equal(send(kit, 1, seq, 8), AQ_REPLAY_STORED);
    }
    pass(kit, 1);
    assert_int_equal(kit->fake.mapped, 0); /* nothing is durable yet */
    make_durable(kit);
    assert_in_range(kit->fake.mapped, 10, 90);
    assert_true(aq_replay_core_stored(kit->core).resident_bytes <= 3 * all / 4);
    assert_true(aq_replay_core_stored(kit->core).mapped_bytes > 0);
    aq_batch *batch = sample(kit, 16);
    for (uint32_t row = 0; row < 16; row++) {
        assert_true(batch->version[row] >= 1000);
    }
    aq_batch_destroy(batch);
}

/* ---- several tables ------------------------------------------------------------------------ */

static void test_a_message_goes_into_every_table_and_its_segment_with_the_last(void **state)
{
    durable_kit *kit = *state;
    kit->settings.table_count = 2;
    kit->settings.tables[1] = kit->settings.tables[0];
    memcpy(kit->settings.tables[1].name, "recent", 7);
    kit->settings.tables[1].selector = AQ_SELECTOR_LIFO;
    kit->settings.tables[1].capacity = 16;
    kit->settings.tables[1].samples_per_insert = 0.0;
    kit->settings.tables[0].capacity = 64;
    open_core(kit);
    for (uint64_t seq = 1; seq <= 20; seq++) {
        assert_int_equal(send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        make_durable(kit);
    }
    assert_int_equal(holdings(kit, 0).transitions, 64);
    assert_int_equal(holdings(kit, 1).transitions, 16);
    assert_int_equal(aq_replay_core_stored(kit->core).messages, 8);
    assert_int_equal(aq_replay_core_find_table(kit->core, "recent"), 1);
    assert_int_equal(aq_replay_core_find_table(kit->core, ""), 0);
    assert_int_equal(aq_replay_core_find_table(kit->core, "old"), -1);
    crash(kit);
    open_core(kit);
    assert_int_equal(holdings(kit, 0).transitions, 64);
    assert_int_equal(holdings(kit, 1).transitions, 16);
}

/* ---- others -------------------------------------------------------------------------------- */

static void test_a_message_for_another_store_is_dropped(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    enum aq_replay_verdict verdict;
    aq_experience message = kit_message(1, 1, 0, 0, 8);
    aq_arrival *arrival = kit_arrival(&message);
    arrival->store = KIT_STORE + 1;
    assert_int_equal(aq_replay_core_insert(kit->core, 0, arrival, &verdict, NULL), 0);
    assert_int_equal(verdict, AQ_REPLAY_STRAY);
    assert_int_equal(aq_replay_core_actors(kit->core), 0);
    assert_int_equal(aq_replay_core_counters(kit->core).strays, 1);
    assert_int_equal(aq_replay_core_counters(kit->core).rejected, 0);
}

static void test_marks_go_on_when_a_store_in_memory_begins_anew(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    assert_int_equal(send(kit, 1, 1, 8), AQ_REPLAY_STORED);
    assert_int_equal(send(kit, 1, 2, 8), AQ_REPLAY_STORED);
    aq_shard_run run = kit_run(&kit->settings);
    aq_replay_core *former = kit->core;
    assert_int_equal(aq_replay_core_create(&run, kit->now_ns, &kit->core, NULL), 0);
    assert_int_equal(aq_replay_core_inherit(kit->core, former), 0);
    assert_int_equal(aq_replay_core_attach(kit->core, kit->now_ns, NULL, 0, 0), 0);
    aq_replay_core_destroy(former);
    assert_int_equal(aq_replay_core_counters(kit->core).inserted, 16);
    assert_int_equal(aq_replay_core_counters(kit->core).stored, 0);
    assert_int_equal(send(kit, 1, 2, 8), AQ_REPLAY_DUPLICATE);
    assert_int_equal(send(kit, 1, 3, 8), AQ_REPLAY_STORED);
    assert_int_equal(ask(kit, 1, 0).acknowledged, 3);
}

static void test_the_log_is_closed_with_the_core(void **state)
{
    durable_kit *kit = *state;
    open_core(kit);
    crash(kit);
    assert_int_equal(kit->fake.closed, 1);
}

#define FACT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FACT(test_a_message_is_acknowledged_when_it_is_durable),
        FACT(test_each_sender_is_acknowledged_its_own),
        FACT(test_a_repeat_of_what_is_not_durable_yet_is_a_duplicate),
        FACT(test_more_records_than_the_ring_begins_with_wait_in_order),
        FACT(test_a_message_that_the_log_has_no_room_for_is_deferred),
        FACT(test_a_stuck_log_stops_acknowledgements_and_credit_and_recovers),
        FACT(test_grants_are_bounded_by_what_the_backlog_still_takes),
        FACT(test_a_restart_finds_every_mark_item_and_count),
        FACT(test_what_was_not_durable_comes_again_and_is_stored_once),
        FACT(test_marks_and_counts_survive_the_dropping_of_segments),
        FACT(test_a_second_restart_finds_the_same),
        FACT(test_priorities_times_sampled_and_the_limiter_come_back_from_the_snapshot),
        FACT(test_a_changed_setting_wins_and_is_said),
        FACT(test_a_snapshot_that_cannot_be_read_leaves_a_store_without_it),
        FACT(test_a_table_that_lost_its_items_does_not_stop_everybody),
        FACT(test_a_record_whose_message_was_not_stored_is_passed_over_later),
        FACT(test_segments_of_which_nothing_is_held_are_dropped),
        FACT(test_old_chunks_kept_for_their_priority_go_when_files_grow_too_large),
        FACT(test_messages_move_out_of_memory_beyond_the_budget),
        FACT(test_a_message_goes_into_every_table_and_its_segment_with_the_last),
        FACT(test_a_message_for_another_store_is_dropped),
        FACT(test_marks_go_on_when_a_store_in_memory_begins_anew),
        FACT(test_the_log_is_closed_with_the_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What a core does beside its messages: segments, memory and tables stay within their bounds.
 */
#include "tests/support/test.h"
#include "tests/unit/replay/durable_kit.h"
#include "tests/unit/replay/replay_kit.h"

TEST_IN(durable_kit, kit, segments_of_which_nothing_is_held_are_dropped)
{
    kit->settings.tables[0].capacity = 64;
    durable_kit_open(kit);
    for (uint64_t seq = 1; seq <= 400; seq++) {
        assert_int_equal(durable_kit_send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        durable_kit_make_durable(kit);
        assert_in_range(fake_log_live_segments(&kit->fake), 1, 4);
    }
    assert_int_equal(durable_kit_holdings(kit, 0).transitions, 64);
}

TEST_IN(durable_kit, kit, old_chunks_kept_for_their_priority_go_when_files_grow_too_large)
{
    kit->settings.tables[0].selector = AQ_SELECTOR_PRIORITIZED;
    kit->settings.tables[0].remover = AQ_REMOVER_LOWEST_PRIORITY;
    kit->settings.tables[0].priority_exponent = 1.0;
    kit->settings.tables[0].capacity = 64;
    kit->settings.config.replay.segment_bytes = 1 << 16;
    durable_kit_open(kit);
    uint64_t items[8];
    float priorities[8];
    assert_int_equal(durable_kit_send(kit, 1, 1, 8), AQ_REPLAY_STORED);
    for (uint64_t i = 0; i < 8; i++) {
        items[i] = i;
        priorities[i] = 1e6f;
    }
    assert_int_equal(aq_replay_core_prioritize(kit->core, 0, items, priorities, 8), 8);
    float low[8] = {0};
    for (uint64_t seq = 2; seq <= 30; seq++) {
        assert_int_equal(durable_kit_send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        for (uint64_t i = 0; i < 8; i++) {
            items[i] = 8 * (seq - 1) + i;
        }
        (void)aq_replay_core_prioritize(kit->core, 0, items, low, 8);
        durable_kit_make_durable(kit);
    }
    assert_false(kit->fake.segments[0].dropped);
    kit->fake.disk_bytes = (uint64_t)1 << 30; /* of what was dropped and is not deleted yet */
    durable_kit_pass(kit, 2);
    assert_false(kit->fake.segments[0].dropped);
    kit->fake.kept_bytes = (uint64_t)1 << 30;
    durable_kit_pass(kit, 2);
    assert_true(kit->fake.segments[0].dropped);
}

TEST_IN(durable_kit, kit, what_lies_in_the_segment_that_is_written_does_not_go)
{
    kit->settings.config.replay.segment_bytes = 1 << 16;
    durable_kit_open(kit);
    assert_int_equal(durable_kit_send(kit, 1, 1, 8), AQ_REPLAY_STORED);
    durable_kit_make_durable(kit);
    kit->fake.kept_bytes = (uint64_t)1 << 30;
    durable_kit_pass(kit, 2);
    assert_int_equal(durable_kit_holdings(kit, 0).transitions, 8);
}

TEST_IN(durable_kit, kit, a_snapshot_that_cannot_be_made_is_told_until_one_is)
{
    uint64_t snapshots;
    durable_kit_open(kit);
    assert_string_equal(aq_replay_core_log_trouble(kit->core), "");
    kit->fake.snapshot_rc = AQ_E_TOO_BIG;
    assert_int_equal(aq_replay_core_snapshot_now(kit->core, &snapshots), 0);
    durable_kit_pass(kit, 5);
    assert_says(aq_replay_core_log_trouble(kit->core), "a snapshot can't be made: ");
    kit->fake.snapshot_rc = 0;
    assert_int_equal(aq_replay_core_snapshot_now(kit->core, &snapshots), 0);
    durable_kit_pass(kit, 5);
    assert_int_equal(kit->fake.snapshots, 1);
    assert_string_equal(aq_replay_core_log_trouble(kit->core), "");
}

TEST_IN(durable_kit, kit, messages_move_out_of_memory_beyond_the_budget)
{
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 100);
    uint64_t all = aq_replay_core_stored(kit->core).resident_bytes;
    durable_kit_crash(kit);
    fake_log_fini(&kit->fake);
    fake_log_init(&kit->fake);
    kit->settings.config.replay.shards = 2;
    kit->settings.config.replay.memory_bytes = 2 * (3 * all / 4); /* of both */
    durable_kit_open(kit);
    durable_kit_fill(kit, 1, 100);
    durable_kit_pass(kit, 1);
    assert_int_equal(kit->fake.mapped, 0); /* nothing is durable yet */
    durable_kit_make_durable(kit);
    assert_in_range(kit->fake.mapped, 10, 90);
    assert_true(aq_replay_core_stored(kit->core).resident_bytes <= 3 * all / 4);
    assert_true(aq_replay_core_stored(kit->core).mapped_bytes > 0);
    aq_batch *batch = durable_kit_sample(kit, 16);
    for (uint32_t row = 0; row < 16; row++) {
        assert_true(batch->version[row] >= 1000);
    }
    kit->fake.maps = true;
    kit->fake.mapped = 0;
    durable_kit_restart(kit);
    durable_kit_pass(kit, 1);
    assert_int_equal(kit->fake.mapped, 0); /* they are in their files already */
    assert_true(aq_replay_core_stored(kit->core).mapped_bytes > 0);
}

TEST_IN(durable_kit, kit, a_message_goes_into_every_table_and_its_segment_with_the_last)
{
    kit->settings.table_count = 2;
    kit->settings.tables[1] = kit->settings.tables[0];
    memcpy(kit->settings.tables[1].name, "recent", 7);
    kit->settings.tables[1].selector = AQ_SELECTOR_LIFO;
    kit->settings.tables[1].capacity = 16;
    kit->settings.tables[1].samples_per_insert = 0.0;
    kit->settings.tables[0].capacity = 64;
    durable_kit_open(kit);
    for (uint64_t seq = 1; seq <= 20; seq++) {
        assert_int_equal(durable_kit_send(kit, 1, seq, 8), AQ_REPLAY_STORED);
        durable_kit_make_durable(kit);
    }
    assert_int_equal(durable_kit_holdings(kit, 0).transitions, 64);
    assert_int_equal(durable_kit_holdings(kit, 1).transitions, 16);
    assert_int_equal(aq_replay_core_stored(kit->core).messages, 8);
    assert_int_equal(aq_replay_core_find_table(kit->core, "recent"), 1);
    assert_int_equal(aq_replay_core_find_table(kit->core, ""), 0);
    assert_int_equal(aq_replay_core_find_table(kit->core, "old"), -1);
    durable_kit_restart(kit);
    assert_int_equal(durable_kit_holdings(kit, 0).transitions, 64);
    assert_int_equal(durable_kit_holdings(kit, 1).transitions, 16);
}

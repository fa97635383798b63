/*
 * One clock, one log, one core after the other.
 */
#include "tests/unit/replay/durable_kit.h"

#include "replay/shard/replay_recovery.h"
#include "tests/support/test.h"
#include "tests/unit/replay/replay_kit.h"

static void on_damaged(void *user, const char *what)
{
    durable_kit *kit = user;
    (void)what;
    kit->damages++;
}

static void on_advanced(void *user)
{
    durable_kit *kit = user;
    kit->advances++;
}

void durable_kit_open(durable_kit *kit)
{
    aq_shard_run run = kit_run(&kit->settings);
    run.incarnation += kit->lives++;
    assert_succeeds(aq_replay_core_create(&run, kit->now_ns, &kit->core, &refusal));
    aq_replay_recovery recovery = {kit->core, kit->now_ns, on_damaged, kit, on_advanced};
    aq_replay_log_recovery calls = aq_replay_recovery_calls(&recovery);
    fake_log_recover(&kit->fake, &calls);
    assert_succeeds(aq_replay_core_attach(kit->core, kit->now_ns, &kit->fake.log, kit->fake.count,
                                          kit->backlog_bytes));
}

void durable_kit_setup(durable_kit *kit)
{
    fake_log_init(&kit->fake);
    kit->settings = kit_settings();
    kit->settings.config.replay.snapshot_ms = 1000000;
    kit->now_ns = AQ_NS_PER_S;
    kit->backlog_bytes = 1 << 20;
}

void durable_kit_teardown(durable_kit *kit)
{
    aq_replay_core_destroy(kit->core);
    fake_log_fini(&kit->fake);
}

void durable_kit_crash(durable_kit *kit)
{
    aq_replay_core_destroy(kit->core);
    kit->core = NULL;
    fake_log_crash(&kit->fake);
}

void durable_kit_restart(durable_kit *kit)
{
    durable_kit_crash(kit);
    durable_kit_open(kit);
}

void durable_kit_pass(durable_kit *kit, int ticks)
{
    for (int i = 0; i < ticks; i++) {
        kit->now_ns += 2 * AQ_NS_PER_MS;
        aq_replay_core_upkeep(kit->core, kit->now_ns);
        aq_replay_core_share(kit->core, kit->now_ns);
    }
}

void durable_kit_make_durable(durable_kit *kit)
{
    kit->fake.durable = kit->fake.count;
    durable_kit_pass(kit, 1);
}

enum aq_replay_verdict durable_kit_send(durable_kit *kit, uint64_t actor, uint64_t seq,
                                        uint32_t steps)
{
    enum aq_replay_verdict verdict = AQ_REPLAY_GAP;
    aq_experience message = kit_message(actor, seq, 0, 1000 * seq, steps);
    assert_int_equal(
        aq_replay_core_insert(kit->core, kit->now_ns, kit_arrival(&message), &verdict, NULL), 0);
    return verdict;
}

void durable_kit_fill(durable_kit *kit, uint64_t first_seq, uint64_t last_seq)
{
    for (uint64_t seq = first_seq; seq <= last_seq; seq++) {
        assert_int_equal(durable_kit_send(kit, 1, seq, 8), AQ_REPLAY_STORED);
    }
}

aq_credit durable_kit_ask(durable_kit *kit, uint64_t actor, uint64_t known_granted)
{
    aq_credit_call call = {
        .actor = actor, .incarnation = 1000 + actor, .known_granted = known_granted};
    aq_credit credit = {0};
    assert_int_equal(aq_replay_core_called(kit->core, kit->now_ns, &call, NULL), 0);
    aq_replay_core_share(kit->core, kit->now_ns);
    assert_true(aq_replay_core_answer(kit->core, kit->now_ns, &call, true, &credit));
    return credit;
}

aq_replay_holdings durable_kit_holdings(const durable_kit *kit, size_t table)
{
    return aq_replay_table_holdings(aq_replay_core_tables(kit->core)->shelves[table].table);
}

aq_batch *durable_kit_sample(durable_kit *kit, uint32_t rows)
{
    aq_batch *batch = kit_batch(kit->core, rows);
    assert_int_equal(aq_replay_core_sample(kit->core, kit->now_ns, 0, rows, 0.5f, batch), 0);
    return batch;
}

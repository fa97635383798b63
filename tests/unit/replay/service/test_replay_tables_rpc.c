/*
 * Sampling by table, and priorities that come back.
 */
#include "tests/support/test.h"
#include "tests/unit/replay/service_kit.h"

static char no_table[] = "nope";
static char recent[] = "recent";
static char whole[] = "whole";
static char even[] = "even";
static char heavy[] = "heavy";

/* main: prioritized; recent: the newest first; whole: sequences of 4; even: uniform; heavy:
 * prioritized, with no proportion to keep. */
typedef service_kit tables_kit;
#define tables_kit_teardown service_kit_teardown

static void tables_kit_setup(tables_kit *kit)
{
    aq_run_settings settings = kit_settings();
    settings.table_count = 5;
    settings.tables[0].selector = AQ_SELECTOR_PRIORITIZED;
    settings.tables[0].priority_exponent = 1.0;
    for (int i = 1; i < 5; i++) {
        settings.tables[i] = settings.tables[0];
        settings.tables[i].samples_per_insert = 0.0;
        settings.tables[i].min_size = 1;
    }
    strcpy(settings.tables[1].name, recent);
    settings.tables[1].selector = AQ_SELECTOR_LIFO;
    strcpy(settings.tables[2].name, whole);
    settings.tables[2].selector = AQ_SELECTOR_UNIFORM;
    settings.tables[2].sequence_length = 3;
    settings.tables[2].sequence_period = 1;
    strcpy(settings.tables[3].name, even);
    settings.tables[3].selector = AQ_SELECTOR_UNIFORM;
    strcpy(settings.tables[4].name, heavy);
    kit_create(kit, NULL);
    kit_begin(kit, &settings);
}

static Actorq__V1__PrioritizeRequest priorities_of(uint64_t *items, float *values, size_t count)
{
    Actorq__V1__PrioritizeRequest request = ACTORQ__V1__PRIORITIZE_REQUEST__INIT;
    request.run_id = KIT_RUN_ID;
    request.shard_incarnation = KIT_SHARD_INCARNATION;
    request.item.data = (uint8_t *)items;
    request.item.len = count * sizeof(*items);
    request.priority.data = (uint8_t *)values;
    request.priority.len = count * sizeof(*values);
    return request;
}

TEST_IN(tables_kit, kit, priorities_decide_what_the_main_table_gives)
{
    uint64_t items[24];
    float values[24];
    kit_insert(kit, 1, 24);
    for (uint64_t i = 0; i < 24; i++) {
        items[i] = i;
        values[i] = i == 7 ? 1.0f : 0.0f;
    }
    Actorq__V1__PrioritizeRequest request = priorities_of(items, values, 24);
    const Actorq__V1__PrioritizeReply *reply = loopback_ask(&kit->loop, &request.base);
    assert_int_equal(reply->applied, 24);
    Actorq__V1__SampleRequest draw = kit_sample_request(8, 1, 0);
    const Actorq__V1__SampleReply *sample = loopback_ask(&kit->loop, &draw.base);
    assert_int_equal(sample->items, 24);
    assert_near(sample->mass, 1.0, 1e-3);
    for (uint32_t row = 0; row < 8; row++) {
        uint64_t item;
        memcpy(&item, sample->item.data + row * sizeof(item), sizeof(item));
        assert_int_equal(item, 7);
    }
}

/* Pearson's sum of so many draws, asked for by RPC, of 24 items with these chances. */
static double chi_square_of(service_kit *kit, char *table, const double *chances)
{
    enum { ITEMS = 24, ROWS = 8 };
    const uint64_t requests = test_rounds(3000);
    double counts[ITEMS] = {0};
    double sum = 0.0;
    for (uint64_t i = 0; i < requests; i++) {
        Actorq__V1__SampleRequest draw = kit_sample_request(ROWS, 1, 0);
        draw.table = table;
        const Actorq__V1__SampleReply *sample = loopback_ask(&kit->loop, &draw.base);
        for (uint32_t row = 0; row < ROWS; row++) {
            uint64_t item;
            float probability;
            memcpy(&item, sample->item.data + row * sizeof(item), sizeof(item));
            memcpy(&probability, sample->probability.data + row * sizeof(probability),
                   sizeof(probability));
            assert_true(item < ITEMS);
            assert_near((double)probability, chances[item], 1e-6);
            counts[item]++;
        }
    }
    for (int i = 0; i < ITEMS; i++) {
        double expected = chances[i] * ROWS * (double)requests;
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    return sum;
}

/* 23 degrees of freedom: outside of these bounds once in a million times on either side. */
static void assert_drawn_as_said(double chi_square)
{
    assert_true(chi_square > 3.5);
    assert_true(chi_square < 72.0);
}

TEST_IN(tables_kit, kit, draws_over_rpc_are_distributed_as_they_say)
{
    uint64_t items[24];
    float values[24];
    double equal[24], weighted[24];
    kit_insert(kit, 1, 24);
    for (uint64_t i = 0; i < 24; i++) {
        items[i] = i;
        values[i] = (float)(i + 1);
        equal[i] = 1.0 / 24.0;
        weighted[i] = (double)(i + 1) / 300.0;
    }
    Actorq__V1__PrioritizeRequest request = priorities_of(items, values, 24);
    request.table = heavy;
    loopback_ask(&kit->loop, &request.base);
    assert_drawn_as_said(chi_square_of(kit, even, equal));
    assert_drawn_as_said(chi_square_of(kit, heavy, weighted));
}

TEST_IN(tables_kit, kit, each_table_gives_its_own_rows)
{
    Actorq__V1__SampleRequest draw = kit_sample_request(1, 1, 0);
    kit_insert(kit, 1, 24);
    draw.table = recent;
    const Actorq__V1__SampleReply *sample = loopback_ask(&kit->loop, &draw.base);
    assert_int_equal(*(const uint32_t *)(const void *)sample->version.data, 1023);
    draw.table = whole;
    sample = loopback_ask(&kit->loop, &draw.base);
    assert_int_equal(sample->next_obs.len, 0);
    assert_int_equal(sample->length.len, sizeof(uint32_t));
    const uint32_t length = *(const uint32_t *)(const void *)sample->length.data;
    assert_int_equal(sample->obs.len, (length + 1) * 2 * sizeof(float));
}

TEST_IN(tables_kit, kit, a_request_that_waits_holds_up_its_own_table_only)
{
    Actorq__V1__SampleRequest sample = kit_sample_request(1, 1, 5000);
    kit_insert(kit, 1, 8); /* below the main table's minimum */
    const loopback_answer *waiting = loopback_call(&kit->loop, &sample.base);
    sample.table = recent;
    loopback_ask(&kit->loop, &sample.base);
    assert_false(waiting->done);
    kit_insert(kit, 2, 24);
    assert_int_equal(waiting->status.code, AQ_RPC_OK);
}

TEST_IN(tables_kit, kit, a_table_of_another_name_is_not_found)
{
    Actorq__V1__SampleRequest sample = kit_sample_request(1, 1, 0);
    sample.table = no_table;
    loopback_refuses(&kit->loop, &sample.base, AQ_RPC_NOT_FOUND, no_table);
    Actorq__V1__PrioritizeRequest request = priorities_of(NULL, NULL, 0);
    request.table = no_table;
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_NOT_FOUND, "");
}

TEST_IN(tables_kit, kit, priorities_of_another_start_are_refused)
{
    uint64_t item = 0;
    float value = 1.0f;
    kit_insert(kit, 1, 24);
    Actorq__V1__PrioritizeRequest request = priorities_of(&item, &value, 1);
    request.shard_incarnation++;
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_FAILED_PRECONDITION, "");
}

/* A run's other settings begin a store anew, which then has a name of its own. */
TEST_IN(tables_kit, kit, who_asks_for_the_process_finds_it_whatever_start_its_store_is_of)
{
    uint64_t item = 0;
    float value = 1.0f;
    kit_insert(kit, 1, 24);
    Actorq__V1__PrioritizeRequest request = priorities_of(NULL, NULL, 0);
    request.shard_incarnation = KIT_PROCESS;
    loopback_ask(&kit->loop, &request.base);
    request = priorities_of(&item, &value, 1);
    request.shard_incarnation = KIT_PROCESS;
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_FAILED_PRECONDITION, "");
}

TEST_IN(tables_kit, kit, priorities_that_cannot_be_change_nothing)
{
    uint64_t items[2] = {0, 1};
    float values[2] = {5.0f, 0.0f};
    const float bad[] = {-1.0f, NAN, INFINITY};
    kit_insert(kit, 1, 24);
    EACH_ROW(i, bad) {
        values[1] = bad[i];
        Actorq__V1__PrioritizeRequest request = priorities_of(items, values, 2);
        loopback_refuses(&kit->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "");
    }
    Actorq__V1__PrioritizeRequest request = priorities_of(items, values, 2);
    request.priority.len--; /* half a number */
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "");
    request = priorities_of(items, values, 2);
    request.item.len -= sizeof(items[0]); /* more priorities than items */
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "");
    const aq_replay_core *core = aq_replay_service_core(kit->service);
    assert_int_equal(aq_replay_core_tables(core)->shelves[0].prioritized, 0);
}

TEST_IN(tables_kit, kit, items_that_have_left_are_counted_as_stale)
{
    uint64_t items[3] = {0, 23, 5000};
    float values[3] = {1.0f, 2.0f, 3.0f};
    kit_insert(kit, 1, 24);
    Actorq__V1__PrioritizeRequest request = priorities_of(items, values, 3);
    const Actorq__V1__PrioritizeReply *reply = loopback_ask(&kit->loop, &request.base);
    assert_int_equal(reply->applied, 2);
    const Actorq__V1__ReplayStats *replay = kit_status(kit)->replay;
    assert_int_equal(replay->n_tables, 5);
    assert_string_equal(replay->tables[0]->name, "main");
    assert_int_equal(replay->tables[0]->prioritized, 2);
    assert_int_equal(replay->tables[0]->stale, 1);
    assert_int_equal(replay->tables[0]->items, 24);
}

TEST_IN(tables_kit, kit, a_call_for_another_store_is_told_which_this_is)
{
    Actorq__V1__CreditRequest request = kit_credit_request(9, 100, 1000);
    request.store = KIT_STORE + 1;
    const Actorq__V1__CreditReply *credit = loopback_ask(&kit->loop, &request.base);
    assert_int_equal(credit->store, KIT_STORE);
    assert_false(credit->durable);
    assert_int_equal(credit->acknowledged, 0);
    assert_int_equal(credit->granted, 0);
    assert_int_equal(aq_replay_core_actors(aq_replay_service_core(kit->service)), 0);
}

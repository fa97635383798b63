/*
 * What is asked of the shards, and what becomes of their answers.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/wire/wire_sample.h"
#include "learner/run/coordinator.h"
#include "learner/sampling/prefetch.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"
#include "tests/unit/learner/sample_shard.h"

enum { IN_FLIGHT = 3, GROUPS = 2 * IN_FLIGHT, BATCH_ROWS = 4, BATCHES = 2, SHARDS = 3 };

typedef struct prefetch_desk {
    learner_kit kit;
    sample_shard shards[SHARDS]; /* incarnations 1, 2, 3; not added yet */
    aq_prefetch *prefetch;
    int64_t now_ns;
    bool give_back_at_once;
    aq_batch *ready[GROUPS]; /* the oldest first */
    size_t ready_count;
    unsigned ready_total;
    unsigned troubles;
    char trouble_shard[64];
    char trouble[256];
    uint64_t progress_incarnation;
    uint64_t progress;
    unsigned progress_total;
    aq_batch *good; /* what a shard answers */
} prefetch_desk;

static void on_ready(void *user, aq_batch *group)
{
    prefetch_desk *desk = user;
    desk->ready_total++;
    if (desk->give_back_at_once) {
        aq_prefetch_give_back(desk->prefetch, group);
        return;
    }
    for (size_t i = 0; i < desk->ready_count; i++) {
        assert_ptr_not_equal(desk->ready[i], group); /* it is still the owner's */
    }
    assert_true(desk->ready_count < GROUPS);
    desk->ready[desk->ready_count++] = group;
}

static void on_progress(void *user, uint64_t shard_incarnation, uint64_t inserted)
{
    prefetch_desk *desk = user;
    desk->progress_incarnation = shard_incarnation;
    desk->progress = inserted;
    desk->progress_total++;
}

static void on_trouble(void *user, const char *shard, const char *reason)
{
    prefetch_desk *desk = user;
    desk->troubles++;
    snprintf(desk->trouble_shard, sizeof(desk->trouble_shard), "%s", shard);
    snprintf(desk->trouble, sizeof(desk->trouble), "%s", reason);
}

static aq_prefetch_config config_of(uint32_t wait_ms)
{
    return (aq_prefetch_config){.run_id = KIT_RUN_ID,
                                .batch_rows = BATCH_ROWS,
                                .batch_count = BATCHES,
                                .in_flight = IN_FLIGHT,
                                .discount = 0.5f,
                                .wait_ms = wait_ms,
                                .timeout_ms = wait_ms + 1000};
}

static void create(prefetch_desk *desk, uint32_t wait_ms)
{
    aq_prefetch_config config = config_of(wait_ms);
    aq_prefetch_owner owner = {
        .user = desk, .ready = on_ready, .progress = on_progress, .trouble = on_trouble};
    assert_int_equal(aq_prefetch_create(&config, &desk->kit.layout, &owner, &desk->prefetch), 0);
}

static void prefetch_desk_setup(prefetch_desk *desk)
{
    learner_kit_init(&desk->kit, 4);
    for (int i = 0; i < SHARDS; i++) {
        sample_shard_init(&desk->shards[i]);
        desk->shards[i].incarnation = (uint64_t)i + 1;
    }
    desk->good = learner_kit_group(&desk->kit, BATCH_ROWS * BATCHES);
    desk->now_ns = 1;
    create(desk, 500);
}

static void prefetch_desk_teardown(prefetch_desk *desk)
{
    for (int i = 0; i < SHARDS; i++) {
        aq_prefetch_remove_shard(desk->prefetch, (uint64_t)i + 1);
        sample_shard_close(&desk->shards[i]);
    }
    aq_prefetch_destroy(desk->prefetch);
    aq_batch_destroy(desk->good);
    learner_kit_fini(&desk->kit);
}

static void add(prefetch_desk *desk, int index)
{
    char name[32];
    snprintf(name, sizeof(name), "shard-%d", index + 1);
    assert_succeeds(aq_prefetch_add_shard(desk->prefetch, (uint64_t)index + 1, name,
                                          &desk->shards[index].channel),
                    NULL);
}

/* Lets `ms` pass and ticks. */
static void pass(prefetch_desk *desk, int64_t ms)
{
    desk->now_ns += ms * AQ_NS_PER_MS;
    aq_prefetch_tick(desk->prefetch, desk->now_ns);
}

static void give_back_oldest(prefetch_desk *desk)
{
    assert_true(desk->ready_count > 0);
    aq_prefetch_give_back(desk->prefetch, desk->ready[0]);
    desk->ready_count--;
    memmove(&desk->ready[0], &desk->ready[1], desk->ready_count * sizeof(desk->ready[0]));
}

/* ---- asking -------------------------------------------------------------------------------- */

TEST_IN(prefetch_desk, desk, nobody_is_asked_while_there_is_no_shard)
{
    pass(desk, 1);
    assert_int_equal(desk->shards[0].asked, 0);
}

TEST_IN(prefetch_desk, desk, as_many_requests_as_agreed_are_out_and_no_more)
{
    add(desk, 0);
    for (int i = 0; i < 10; i++) {
        pass(desk, 1);
        assert_int_equal(desk->shards[0].count, IN_FLIGHT);
    }
    sample_shard_answer(&desk->shards[0], 1, desk->good, 10);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT - 1);
    pass(desk, 1);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT);
}

TEST_IN(prefetch_desk, desk, a_request_says_what_is_wanted)
{
    add(desk, 0);
    pass(desk, 1);
    const sample_call *call = desk->shards[0].calls[0];
    assert_int_equal(call->run_id, KIT_RUN_ID);
    assert_int_equal(call->schema_hash, desk->kit.layout.hash);
    assert_int_equal(call->batch_rows, BATCH_ROWS);
    assert_int_equal(call->batch_count, BATCHES);
    assert_true(call->discount == 0.5f);
    assert_int_equal(call->wait_ms, 500);
    assert_int_equal(call->timeout_ms, 1500);
}

TEST_IN(prefetch_desk, desk, no_shard_is_asked_to_wait_longer_than_the_protocol_allows)
{
    aq_prefetch_destroy(desk->prefetch);
    create(desk, 300000); /* half of the longest rpc_timeout_ms */
    add(desk, 0);
    pass(desk, 1);
    assert_int_equal(desk->shards[0].calls[0]->wait_ms, 10000);
    assert_int_equal(desk->shards[0].calls[0]->timeout_ms, 301000);
}

TEST_IN(prefetch_desk, desk, where_shards_outnumber_requests_none_is_asked_to_wait)
{
    for (int i = 0; i < SHARDS; i++) {
        add(desk, i);
    }
    assert_succeeds(aq_prefetch_add_shard(desk->prefetch, 4, "shard-4", &desk->shards[2].channel),
                    NULL);
    pass(desk, 1);
    assert_int_equal(desk->shards[0].calls[0]->wait_ms, 0);
    aq_prefetch_remove_shard(desk->prefetch, 4);
}

TEST_IN(prefetch_desk, desk, shards_are_asked_in_turn)
{
    desk->give_back_at_once = true;
    for (int i = 0; i < SHARDS; i++) {
        add(desk, i);
    }
    for (int round = 0; round < 30; round++) {
        pass(desk, 1);
        for (int i = 0; i < SHARDS; i++) {
            assert_int_equal(desk->shards[i].count, 1);
            sample_shard_answer(&desk->shards[i], 0, desk->good, 10);
        }
    }
}

TEST_IN(prefetch_desk, desk, a_slow_shard_holds_no_more_than_its_share)
{
    desk->give_back_at_once = true;
    add(desk, 0); /* never answers */
    add(desk, 1);
    for (int round = 0; round < 30; round++) {
        pass(desk, 5);
        while (desk->shards[1].count > 0) {
            sample_shard_answer(&desk->shards[1], 0, desk->good, 10);
        }
        assert_true(desk->shards[0].count <= 2);
    }
    assert_true(desk->ready_total >= 20); /* but for the time until it counts as stalled */
}

TEST_IN(prefetch_desk, desk, the_share_of_a_shard_that_is_left_alone_goes_to_the_others)
{
    add(desk, 0);
    add(desk, 1);
    pass(desk, 1);
    while (desk->shards[0].count > 0) {
        sample_shard_refuse(&desk->shards[0], 0, AQ_RPC_INTERNAL);
    }
    pass(desk, 1);
    assert_int_equal(desk->shards[1].count, IN_FLIGHT);
}

TEST_IN(prefetch_desk, desk, without_an_empty_group_nobody_is_asked)
{
    add(desk, 0);
    for (int i = 0; i < 2; i++) {
        pass(desk, 1);
        while (desk->shards[0].count > 0) {
            sample_shard_answer(&desk->shards[0], 0, desk->good, 10);
        }
    }
    assert_int_equal(desk->ready_count, GROUPS);
    pass(desk, 1000);
    assert_int_equal(desk->shards[0].count, 0);
    give_back_oldest(desk);
    pass(desk, 1);
    assert_int_equal(desk->shards[0].count, 1);
}

TEST_IN(prefetch_desk, desk, one_shard_too_many_is_refused)
{
    for (uint64_t i = 1; i <= AQ_SHARDS_MAX; i++) {
        assert_succeeds(aq_prefetch_add_shard(desk->prefetch, i, "many", &desk->shards[0].channel),
                        NULL);
    }
    assert_int_equal(aq_prefetch_add_shard(desk->prefetch, 99, "many", &desk->shards[0].channel),
                     AQ_E_FULL);
    aq_prefetch_remove_shard(desk->prefetch, 40);
    assert_succeeds(aq_prefetch_add_shard(desk->prefetch, 99, "many", &desk->shards[0].channel),
                    NULL);
}

/* ---- answers ------------------------------------------------------------------------------- */

TEST_IN(prefetch_desk, desk, a_full_group_is_ready_with_the_rows_that_were_sent)
{
    add(desk, 0);
    pass(desk, 1);
    sample_shard_answer(&desk->shards[0], 0, desk->good, 4711);
    assert_int_equal(desk->ready_count, 1);
    const aq_batch *group = desk->ready[0];
    assert_int_equal(group->rows, BATCH_ROWS * BATCHES);
    assert_memory_equal(group->obs, desk->good->obs, (size_t)group->rows * group->obs_bytes);
    assert_memory_equal(group->reward, desk->good->reward, group->rows * sizeof(float));
    assert_memory_equal(group->version, desk->good->version, group->rows * sizeof(uint32_t));
    assert_int_equal(desk->progress_incarnation, 1);
    assert_int_equal(desk->progress, 4711);
    assert_int_equal(desk->troubles, 0);
}

TEST_IN(prefetch_desk, desk, a_group_may_be_given_back_as_soon_as_it_is_ready)
{
    desk->give_back_at_once = true;
    add(desk, 0);
    for (int i = 0; i < 50; i++) {
        pass(desk, 1);
        assert_int_equal(desk->shards[0].count, IN_FLIGHT);
        sample_shard_answer(&desk->shards[0], (size_t)i % IN_FLIGHT, desk->good, 1);
    }
    assert_int_equal(desk->ready_total, 50);
}

TEST_IN(prefetch_desk, desk, not_yet_is_no_trouble_and_asked_again_soon)
{
    add(desk, 0);
    pass(desk, 1);
    sample_shard_refuse(&desk->shards[0], 0, AQ_RPC_UNAVAILABLE);
    assert_int_equal(desk->troubles, 0);
    pass(desk, 4);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT - 1);
    pass(desk, 1);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT);
}

static void expect_trouble(prefetch_desk *desk, const char *word)
{
    assert_int_equal(desk->troubles, 1);
    assert_string_equal(desk->trouble_shard, "shard-1");
    if (!strstr(desk->trouble, word)) {
        fail_msg("'%s' does not say '%s'", desk->trouble, word);
    }
    assert_int_equal(desk->ready_total, 0);
    assert_int_equal(desk->progress_total, 0);
    /* The shard is left alone, the others are not. */
    add(desk, 1);
    pass(desk, 99);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT - 1);
    assert_int_equal(desk->shards[1].count, 1);
    sample_shard_refuse(&desk->shards[1], 0, AQ_RPC_INTERNAL);
    pass(desk, 1);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT);
    aq_prefetch_remove_shard(desk->prefetch, 1);
    sample_shard_close(&desk->shards[0]);
    sample_shard_init(&desk->shards[0]);
    aq_prefetch_remove_shard(desk->prefetch, 2);
    desk->troubles = 0;
}

TEST_IN(prefetch_desk, desk, every_other_failure_is_trouble)
{
    static const enum aq_rpc_code codes[] = {AQ_RPC_INTERNAL, AQ_RPC_RESOURCE_EXHAUSTED,
                                             AQ_RPC_FAILED_PRECONDITION, AQ_RPC_INVALID_ARGUMENT};
    EACH_ROW(i, codes) {
        add(desk, 0);
        pass(desk, 1);
        sample_shard_refuse(&desk->shards[0], 1, codes[i]);
        expect_trouble(desk, aq_rpc_code_name(codes[i]));
    }
    add(desk, 0);
    pass(desk, 1);
    sample_shard_break(&desk->shards[0], 0, AQ_E_TIMEOUT);
    expect_trouble(desk, "no answer within 1500 ms");
    add(desk, 0);
    pass(desk, 1);
    sample_shard_garble(&desk->shards[0], 2);
    expect_trouble(desk, "Sampling/Sample");
}

TEST_IN(prefetch_desk, desk, corrupt_answers_are_refused)
{
    enum { NAN_REWARD, FAR_ACTION, SHORT_OBS, FEW_ROWS, MANY_ROWS, NO_ROWS, NO_MASS, BAD_COUNT };
    static const char *const words[] = {"reward", "action", "obs", "sample of 4 rows",
                                        "16",     "0 rows", "mass"};
    for (int fault = 0; fault < BAD_COUNT; fault++) {
        aq_batch *bad = learner_kit_group(&desk->kit, 2 * BATCH_ROWS * BATCHES);
        Actorq__V1__SampleReply reply;
        ProtobufCBinaryData recorded[AQ_BATCH_RECORDED_MAX];
        int32_t far = KIT_ACTIONS;
        bad->rows = BATCH_ROWS * BATCHES;
        if (fault == NAN_REWARD) {
            bad->reward[3] = NAN;
        } else if (fault == FAR_ACTION) {
            memcpy(bad->action, &far, sizeof(far));
        } else if (fault == FEW_ROWS) {
            bad->rows = BATCH_ROWS;
        } else if (fault == MANY_ROWS) {
            bad->rows = 2 * BATCH_ROWS * BATCHES;
        } else if (fault == NO_ROWS) {
            bad->rows = 0;
        }
        aq_wire_sample_view(bad, 1000, recorded, &reply);
        reply.obs.len -= fault == SHORT_OBS ? 1 : 0;
        reply.items = 1000;
        reply.mass = fault == NO_MASS ? 0 : 100;
        add(desk, 0);
        pass(desk, 1);
        sample_shard_reply(&desk->shards[0], 0, &reply);
        expect_trouble(desk, words[fault]);
        aq_batch_destroy(bad);
    }
}

TEST_IN(prefetch_desk, desk, a_request_that_can_not_be_sent_is_trouble)
{
    desk->shards[0].send_failure = AQ_E_FULL;
    add(desk, 0);
    pass(desk, 1);
    assert_int_equal(desk->troubles, 1); /* after the first, the shard is left alone */
    desk->shards[0].send_failure = 0;
    pass(desk, 100);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT);
}

/* ---- shards that go ------------------------------------------------------------------------ */

TEST_IN(prefetch_desk, desk, answers_of_a_shard_that_went_are_dropped)
{
    add(desk, 0);
    pass(desk, 1);
    aq_prefetch_remove_shard(desk->prefetch, 1);
    sample_shard_answer(&desk->shards[0], 0, desk->good, 9);
    sample_shard_refuse(&desk->shards[0], 0, AQ_RPC_INTERNAL);
    pass(desk, 1000);
    assert_int_equal(desk->shards[0].asked, IN_FLIGHT);
    assert_int_equal(desk->ready_total + desk->troubles + desk->progress_total, 0);

    add(desk, 1); /* the groups are free for another one */
    pass(desk, 1);
    assert_int_equal(desk->shards[1].count, IN_FLIGHT - 1);
    sample_shard_break(&desk->shards[0], 0, AQ_E_CLOSED);
    assert_int_equal(desk->troubles, 0);
    pass(desk, 1);
    assert_int_equal(desk->shards[1].count, IN_FLIGHT);
}

TEST_IN(prefetch_desk, desk, a_shard_that_came_back_gets_no_answers_of_its_earlier_life)
{
    add(desk, 0);
    pass(desk, 1);
    aq_prefetch_remove_shard(desk->prefetch, 1);
    /* The same incarnation, over another channel. */
    assert_succeeds(aq_prefetch_add_shard(desk->prefetch, 1, "shard-1", &desk->shards[1].channel),
                    NULL);
    sample_shard_answer(&desk->shards[0], 0, desk->good, 9);
    sample_shard_break(&desk->shards[0], 0, AQ_E_TIMEOUT);
    assert_int_equal(desk->ready_total + desk->troubles + desk->progress_total, 0);
    pass(desk, 1);
    assert_int_equal(desk->shards[1].count, IN_FLIGHT - 1);
    sample_shard_answer(&desk->shards[1], 0, desk->good, 10);
    assert_int_equal(desk->ready_total, 1);
}

TEST_IN(prefetch_desk, desk, removing_a_shard_that_is_not_there_is_fine)
{
    aq_prefetch_remove_shard(desk->prefetch, 1234);
    add(desk, 0);
    aq_prefetch_remove_shard(desk->prefetch, 1);
    aq_prefetch_remove_shard(desk->prefetch, 1);
}

/*
 * What is asked of the shards, and what becomes of their answers.
 */
#include "common/net/security/incarnation.h"
#include "common/wire/wire_sample.h"
#include "tests/support/test.h"
#include "tests/unit/learner/prefetch_stand.h"

enum { IN_FLIGHT = 3, GROUPS = 2 * IN_FLIGHT, SHARDS = 3 };

/* One of a table without a name, with fewer requests under way. */
typedef prefetch_stand prefetch_desk;
#define prefetch_desk_teardown prefetch_stand_teardown

static void renew(prefetch_desk *desk, uint32_t wait_ms)
{
    desk->config.in_flight = IN_FLIGHT;
    desk->config.discount = 0.5f;
    desk->config.wait_ms = wait_ms;
    desk->config.timeout_ms = wait_ms + 1000;
    prefetch_stand_renew(desk);
}

static void prefetch_desk_setup(prefetch_desk *desk)
{
    prefetch_stand_setup(desk);
    desk->config.table = (aq_table_spec){0};
    desk->config.importance_exponent = 0;
    renew(desk, 500);
}

/* ---- asking -------------------------------------------------------------------------------- */

TEST_IN(prefetch_desk, desk, nobody_is_asked_while_there_is_no_shard)
{
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->shards[0].asked, 0);
}

TEST_IN(prefetch_desk, desk, as_many_requests_as_agreed_are_out_and_no_more)
{
    prefetch_stand_add(desk, 0);
    for (int i = 0; i < 10; i++) {
        prefetch_stand_pass(desk, 1);
        assert_int_equal(desk->shards[0].count, IN_FLIGHT);
    }
    sample_shard_answer(&desk->shards[0], 1, desk->good, 10);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT - 1);
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT);
}

TEST_IN(prefetch_desk, desk, a_request_says_what_is_wanted)
{
    prefetch_stand_add(desk, 0);
    prefetch_stand_pass(desk, 1);
    const sample_call *call = desk->shards[0].calls[0];
    assert_int_equal(call->run_id, KIT_RUN_ID);
    assert_int_equal(call->schema_hash, desk->kit.layout.hash);
    assert_int_equal(call->batch_rows, STAND_BATCH_ROWS);
    assert_int_equal(call->batch_count, STAND_BATCHES);
    assert_true(call->discount == 0.5f);
    assert_int_equal(call->wait_ms, 500);
    assert_int_equal(call->timeout_ms, 1500);
}

TEST_IN(prefetch_desk, desk, no_shard_is_asked_to_wait_longer_than_the_protocol_allows)
{
    renew(desk, 300000); /* half of the longest rpc_timeout_ms */
    prefetch_stand_add(desk, 0);
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->shards[0].calls[0]->wait_ms, 10000);
    assert_int_equal(desk->shards[0].calls[0]->timeout_ms, 301000);
}

TEST_IN(prefetch_desk, desk, where_shards_outnumber_requests_none_is_asked_to_wait)
{
    for (size_t i = 0; i < SHARDS; i++) {
        prefetch_stand_add(desk, i);
    }
    assert_succeeds(aq_prefetch_add_shard(desk->prefetch, 4, "shard-4", &desk->shards[2].channel));
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->shards[0].calls[0]->wait_ms, 0);
    aq_prefetch_remove_shard(desk->prefetch, 4);
}

TEST_IN(prefetch_desk, desk, shards_are_asked_in_turn)
{
    desk->give_back_at_once = true;
    for (size_t i = 0; i < SHARDS; i++) {
        prefetch_stand_add(desk, i);
    }
    for (int round = 0; round < 30; round++) {
        prefetch_stand_pass(desk, 1);
        for (size_t i = 0; i < SHARDS; i++) {
            assert_int_equal(desk->shards[i].count, 1);
            assert_int_equal(desk->shards[i].calls[0]->wait_ms, 500); /* one for each, at least */
            sample_shard_answer(&desk->shards[i], 0, desk->good, 10);
        }
    }
}

TEST_IN(prefetch_desk, desk, a_slow_shard_holds_no_more_than_its_share)
{
    desk->give_back_at_once = true;
    prefetch_stand_add(desk, 0); /* never answers */
    prefetch_stand_add(desk, 1);
    for (int round = 0; round < 30; round++) {
        prefetch_stand_pass(desk, 5);
        while (desk->shards[1].count > 0) {
            sample_shard_answer(&desk->shards[1], 0, desk->good, 10);
        }
        assert_true(desk->shards[0].count <= 2);
    }
    assert_true(desk->ready_total >= 20); /* but for the time until it counts as stalled */
}

TEST_IN(prefetch_desk, desk, the_share_of_a_shard_that_is_left_alone_goes_to_the_others)
{
    prefetch_stand_add(desk, 0);
    prefetch_stand_add(desk, 1);
    prefetch_stand_pass(desk, 1);
    while (desk->shards[0].count > 0) {
        sample_shard_refuse(&desk->shards[0], 0, AQ_RPC_INTERNAL);
    }
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->shards[1].count, IN_FLIGHT);
}

TEST_IN(prefetch_desk, desk, without_an_empty_group_nobody_is_asked)
{
    prefetch_stand_add(desk, 0);
    for (int i = 0; i < 2; i++) {
        prefetch_stand_pass(desk, 1);
        while (desk->shards[0].count > 0) {
            sample_shard_answer(&desk->shards[0], 0, desk->good, 10);
        }
    }
    assert_int_equal(desk->ready_count, GROUPS);
    prefetch_stand_pass(desk, 1000);
    assert_int_equal(desk->shards[0].count, 0);
    prefetch_stand_give_back_at(desk, 0);
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->shards[0].count, 1);
}

TEST_IN(prefetch_desk, desk, one_shard_too_many_is_refused)
{
    for (uint64_t i = 1; i <= AQ_SHARDS_MAX; i++) {
        assert_succeeds(aq_prefetch_add_shard(desk->prefetch, i, "many", &desk->shards[0].channel));
    }
    assert_int_equal(aq_prefetch_add_shard(desk->prefetch, 99, "many", &desk->shards[0].channel),
                     AQ_E_FULL);
    aq_prefetch_remove_shard(desk->prefetch, 40);
    assert_succeeds(aq_prefetch_add_shard(desk->prefetch, 99, "many", &desk->shards[0].channel));
}

/* ---- answers ------------------------------------------------------------------------------- */

TEST_IN(prefetch_desk, desk, a_full_group_is_ready_with_the_rows_that_were_sent)
{
    desk->shards[0].incarnation = aq_incarnation_name(1);
    prefetch_stand_add(desk, 0);
    prefetch_stand_pass(desk, 1);
    sample_shard_answer(&desk->shards[0], 0, desk->good, 4711);
    assert_int_equal(desk->ready_count, 1);
    const aq_batch *group = desk->ready[0];
    assert_int_equal(group->rows, STAND_ROWS);
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
    prefetch_stand_add(desk, 0);
    for (int i = 0; i < 50; i++) {
        prefetch_stand_pass(desk, 1);
        assert_int_equal(desk->shards[0].count, IN_FLIGHT);
        sample_shard_answer(&desk->shards[0], (size_t)i % IN_FLIGHT, desk->good, 1);
    }
    assert_int_equal(desk->ready_total, 50);
}

TEST_IN(prefetch_desk, desk, not_yet_is_no_trouble_and_asked_again_soon)
{
    prefetch_stand_add(desk, 0);
    prefetch_stand_pass(desk, 1);
    sample_shard_refuse(&desk->shards[0], 0, AQ_RPC_UNAVAILABLE);
    assert_int_equal(desk->troubles, 0);
    prefetch_stand_pass(desk, 4);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT - 1);
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT);
}

static void expect_trouble(prefetch_desk *desk, const char *word)
{
    assert_int_equal(desk->troubles, 1);
    assert_ptr_equal(strstr(desk->trouble, "shard-1: "), desk->trouble);
    assert_says(desk->trouble, word);
    assert_int_equal(desk->ready_total, 0);
    assert_int_equal(desk->progress_total, 0);
    /* The shard is left alone, the others are not. */
    prefetch_stand_pass(desk, 98);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT - 1);
    prefetch_stand_add(desk, 1);
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT - 1);
    assert_int_equal(desk->shards[1].count, 1);
    sample_shard_refuse(&desk->shards[1], 0, AQ_RPC_INTERNAL);
    prefetch_stand_pass(desk, 1);
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
        prefetch_stand_add(desk, 0);
        prefetch_stand_pass(desk, 1);
        sample_shard_refuse(&desk->shards[0], 1, codes[i]);
        expect_trouble(desk, aq_rpc_code_name(codes[i]));
    }
    prefetch_stand_add(desk, 0);
    prefetch_stand_pass(desk, 1);
    sample_shard_break(&desk->shards[0], 0, AQ_E_TIMEOUT);
    expect_trouble(desk, "no answer within 1500 ms");
    prefetch_stand_add(desk, 0);
    prefetch_stand_pass(desk, 1);
    sample_shard_garble(&desk->shards[0], 2);
    expect_trouble(desk, "Sampling/Sample");
}

TEST_IN(prefetch_desk, desk, corrupt_answers_are_refused)
{
    enum { NAN_REWARD, FAR_ACTION, SHORT_OBS, FEW_ROWS, MANY_ROWS, NO_ROWS, NO_MASS, BAD_COUNT };
    static const char *const words[] = {"reward", "action", "obs", "sample of 4 rows",
                                        "16",     "0 rows", "mass"};
    for (int fault = 0; fault < BAD_COUNT; fault++) {
        aq_batch *bad = learner_kit_group(&desk->kit, 2 * STAND_ROWS);
        Actorq__V1__SampleReply reply;
        ProtobufCBinaryData recorded[AQ_BATCH_RECORDED_MAX];
        int32_t far = KIT_ACTIONS;
        bad->rows = STAND_ROWS;
        if (fault == NAN_REWARD) {
            bad->reward[3] = NAN;
        } else if (fault == FAR_ACTION) {
            memcpy(bad->action, &far, sizeof(far));
        } else if (fault == FEW_ROWS) {
            bad->rows = STAND_BATCH_ROWS;
        } else if (fault == MANY_ROWS) {
            bad->rows = 2 * STAND_ROWS;
        } else if (fault == NO_ROWS) {
            bad->rows = 0;
        }
        aq_wire_sample_view(bad, 1000, recorded, &reply);
        reply.obs.len -= fault == SHORT_OBS ? 1 : 0;
        reply.items = 1000;
        reply.mass = fault == NO_MASS ? 0 : 100;
        prefetch_stand_add(desk, 0);
        prefetch_stand_pass(desk, 1);
        sample_shard_reply(&desk->shards[0], 0, &reply);
        expect_trouble(desk, words[fault]);
        aq_batch_destroy(bad);
    }
}

/* By which a run that diverges is told. */
TEST_IN(prefetch_desk, desk, answers_that_are_not_finite_are_counted_until_one_is)
{
    static const uint64_t expected[] = {1, 2, 0, 1};
    prefetch_stand_add(desk, 0);
    EACH_ROW(i, expected) {
        prefetch_stand_pass(desk, 101);
        desk->good->reward[1] = expected[i] > 0 ? NAN : 1;
        sample_shard_answer(&desk->shards[0], 0, desk->good, 10);
        assert_int_equal(aq_prefetch_counts_of(desk->prefetch).unusable_in_row, expected[i]);
    }
}

TEST_IN(prefetch_desk, desk, a_request_that_can_not_be_sent_is_trouble)
{
    desk->shards[0].send_failure = AQ_E_FULL;
    prefetch_stand_add(desk, 0);
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->troubles, 1); /* after the first, the shard is left alone */
    desk->shards[0].send_failure = 0;
    prefetch_stand_pass(desk, 100);
    assert_int_equal(desk->shards[0].count, IN_FLIGHT);
}

/* ---- shards that go ------------------------------------------------------------------------ */

TEST_IN(prefetch_desk, desk, answers_of_a_shard_that_went_are_dropped)
{
    prefetch_stand_add(desk, 0);
    prefetch_stand_pass(desk, 1);
    aq_prefetch_remove_shard(desk->prefetch, 1);
    sample_shard_answer(&desk->shards[0], 0, desk->good, 9);
    sample_shard_refuse(&desk->shards[0], 0, AQ_RPC_INTERNAL);
    prefetch_stand_pass(desk, 1000);
    assert_int_equal(desk->shards[0].asked, IN_FLIGHT);
    assert_int_equal(desk->ready_total + desk->troubles + desk->progress_total, 0);

    prefetch_stand_add(desk, 1); /* the groups are free for another one */
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->shards[1].count, IN_FLIGHT - 1);
    sample_shard_break(&desk->shards[0], 0, AQ_E_CLOSED);
    assert_int_equal(desk->troubles, 0);
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->shards[1].count, IN_FLIGHT);
}

TEST_IN(prefetch_desk, desk, a_shard_that_came_back_gets_no_answers_of_its_earlier_life)
{
    prefetch_stand_add(desk, 0);
    prefetch_stand_pass(desk, 1);
    aq_prefetch_remove_shard(desk->prefetch, 1);
    /* The same incarnation, over another channel. */
    assert_succeeds(aq_prefetch_add_shard(desk->prefetch, 1, "shard-1", &desk->shards[1].channel));
    sample_shard_answer(&desk->shards[0], 0, desk->good, 9);
    sample_shard_break(&desk->shards[0], 0, AQ_E_TIMEOUT);
    assert_int_equal(desk->ready_total + desk->troubles + desk->progress_total, 0);
    prefetch_stand_pass(desk, 1);
    assert_int_equal(desk->shards[1].count, IN_FLIGHT - 1);
    sample_shard_answer(&desk->shards[1], 0, desk->good, 10);
    assert_int_equal(desk->ready_total, 1);
}

TEST_IN(prefetch_desk, desk, removing_a_shard_that_is_not_there_is_fine)
{
    aq_prefetch_remove_shard(desk->prefetch, 1234);
    prefetch_stand_add(desk, 0);
    aq_prefetch_remove_shard(desk->prefetch, 1);
    aq_prefetch_remove_shard(desk->prefetch, 1);
}

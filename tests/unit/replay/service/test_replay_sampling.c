/*
 * Sample calls over a dispatcher: what comes back, what is held and for how long, what is refused.
 */
#include "common/wire/wire_sample.h"
#include "tests/support/test.h"
#include "tests/unit/replay/service_kit.h"

TEST_IN(service_kit, kit, a_sample_comes_back_as_columns_of_stored_steps)
{
    aq_layout layout = kit_layout();
    aq_batch *batch = NULL;
    kit_insert(kit, 1, 24);
    const loopback_answer *answer = kit_draw(kit, 4, 3, 0);
    assert_int_equal(answer->status.code, AQ_RPC_OK);
    assert_int_equal(answer->sample->rows, 12);
    assert_int_equal(answer->sample->inserted, 24);
    assert_int_equal(aq_batch_create(&layout, 0, 12, &batch), 0);
    assert_int_equal(aq_wire_sample_read(answer->sample, batch, NULL), 0);
    for (uint32_t row = 0; row < 12; row++) {
        uint32_t step = batch->version[row];
        float obs;
        memcpy(&obs, batch->obs + (size_t)row * batch->obs_bytes, sizeof(obs));
        assert_in_range(step, 1000, 1023);
        assert_true(obs == (float)step);
        assert_int_equal(batch->item[row], step - 1000);
        assert_true(batch->weight[row] == 1.0f / 24.0f);
        assert_true(batch->reward[row] >= (float)step);
    }
    aq_batch_destroy(batch);
}

TEST_IN(service_kit, kit, a_request_is_held_until_the_minimum_size_is_there)
{
    const loopback_answer *answer = kit_draw(kit, 8, 2, 1000);
    kit_insert(kit, 1, 19);
    kit_pass(kit, 100);
    assert_false(answer->done);
    kit_insert(kit, 2, 1); /* answered right then, without a tick */
    assert_true(answer->done);
    assert_int_equal(answer->sample->rows, 16);
}

TEST_IN(service_kit, kit, an_answer_says_how_long_the_limiter_held_it)
{
    const loopback_answer *answer = kit_draw(kit, 8, 2, 1000);
    kit_pass(kit, 100);
    kit_insert(kit, 1, 20);
    assert_int_equal(answer->sample->held_us, 100000);
    kit_pass(kit, 100);
    answer = kit_draw(kit, 8, 2, 1000); /* nobody held this one */
    assert_true(answer->done);
    assert_int_equal(answer->sample->held_us, 0);
}

TEST_IN(service_kit, kit, a_request_is_unavailable_in_words_when_its_time_is_over)
{
    Actorq__V1__SampleRequest request = kit_sample_request(8, 2, 100);
    kit_insert(kit, 1, 12);
    const loopback_answer *answer = loopback_call(&kit->loop, &request.base);
    kit_pass(kit, 98);
    assert_false(answer->done);
    kit_pass(kit, 2);
    assert_int_equal(answer->status.code, AQ_RPC_UNAVAILABLE);
    assert_string_equal(answer->status.message,
                        "learner waits: 12 of 20 steps, but no actor is there");
}

TEST_IN(service_kit, kit, a_request_that_does_not_want_to_wait_is_answered_at_once)
{
    const loopback_answer *answer = kit_draw(kit, 8, 2, 0);
    assert_int_equal(answer->status.code, AQ_RPC_UNAVAILABLE);
}

TEST_IN(service_kit, kit, requests_are_answered_in_the_order_in_which_they_came)
{
    /* 20 steps allow 160 rows, of which 152 are used: 8 are left, enough for the smaller one. */
    kit_insert(kit, 1, 20);
    Actorq__V1__SampleRequest request = kit_sample_request(8, 1, 0);
    for (int i = 0; i < 19; i++) {
        loopback_ask(&kit->loop, &request.base);
    }
    request = kit_sample_request(16, 1, 1000);
    const loopback_answer *big = loopback_call(&kit->loop, &request.base);
    request = kit_sample_request(8, 1, 100);
    const loopback_answer *small = loopback_call(&kit->loop, &request.base);
    kit_pass(kit, 50);
    assert_false(big->done || small->done);
    kit_insert(kit, 2, 2);
    assert_true(big->done && big->sample->rows == 16);
    assert_false(small->done);
    kit_pass(kit, 100);
    assert_int_equal(small->status.code, AQ_RPC_UNAVAILABLE);
}

TEST_IN(service_kit, kit, an_impatient_request_goes_and_the_others_stay)
{
    const loopback_answer *answers[3];
    const uint32_t waits_ms[3] = {500, 100, 500};
    for (int i = 0; i < 3; i++) {
        Actorq__V1__SampleRequest request = kit_sample_request(16, 1, waits_ms[i]);
        answers[i] = loopback_call(&kit->loop, &request.base);
    }
    kit_pass(kit, 100);
    assert_false(answers[0]->done);
    assert_true(answers[1]->done);
    assert_false(answers[2]->done);
    kit_insert(kit, 1, 20);
    assert_int_equal(answers[0]->sample->rows, 16);
    assert_int_equal(answers[2]->sample->rows, 16);
}

TEST_IN(service_kit, kit, more_requests_than_can_be_held_are_refused)
{
    const loopback_answer *answers[AQ_REPLAY_HELD_SAMPLES_MAX];
    Actorq__V1__SampleRequest request = kit_sample_request(16, 1, 1000);
    for (int i = 0; i < AQ_REPLAY_HELD_SAMPLES_MAX; i++) {
        answers[i] = loopback_call(&kit->loop, &request.base);
        assert_false(answers[i]->done);
    }
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_RESOURCE_EXHAUSTED, "");
    aq_replay_service_end(kit->service, "over");
    loopback_pump(&kit->loop);
    for (int i = 0; i < AQ_REPLAY_HELD_SAMPLES_MAX; i++) {
        assert_int_equal(answers[i]->status.code, AQ_RPC_UNAVAILABLE);
    }
}

TEST_IN(service_kit, kit, counts_out_of_bounds_are_refused_in_words)
{
    const struct {
        uint32_t rows, count;
    } bad[] = {
        {0, 1}, {1, 0}, {17, 1}, {1, 17}, {1, 257}, {65536, 65536}, {UINT32_MAX, UINT32_MAX}};
    kit_insert(kit, 1, 24);
    EACH_ROW(i, bad) {
        Actorq__V1__SampleRequest request = kit_sample_request(bad[i].rows, bad[i].count, 100);
        loopback_refuses(&kit->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "at most 16 rows");
    }
}

TEST_IN(service_kit, kit, steps_are_asked_of_queues_alone)
{
    kit_insert(kit, 1, 24);
    Actorq__V1__SampleRequest request = kit_sample_request(8, 1, 0);
    request.steps = 8;
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "table main is no queue");
}

TEST_IN(service_kit, kit, a_discount_that_cannot_be_is_refused)
{
    const float bad[] = {-0.1f, 1.1f, NAN, INFINITY, -INFINITY};
    kit_insert(kit, 1, 24);
    EACH_ROW(i, bad) {
        Actorq__V1__SampleRequest request = kit_sample_request(4, 1, 0);
        request.discount = bad[i];
        loopback_refuses(&kit->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "");
    }
}

TEST_IN(service_kit, kit, a_foreign_run_or_schema_is_refused)
{
    kit_insert(kit, 1, 24);
    Actorq__V1__SampleRequest request = kit_sample_request(4, 1, 0);
    request.run_id++;
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_FAILED_PRECONDITION, "");
    request = kit_sample_request(4, 1, 0);
    request.schema_hash++;
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_FAILED_PRECONDITION, "layout");
}

TEST_IN(service_kit, kit, too_long_a_wait_is_refused)
{
    const loopback_answer *answer = kit_draw(kit, 4, 1, 10001);
    assert_int_equal(answer->status.code, AQ_RPC_INVALID_ARGUMENT);
}

TEST_IN(idle_kit, kit, without_a_run_samples_are_unavailable)
{
    const loopback_answer *answer = kit_draw(kit, 4, 1, 1000);
    assert_int_equal(answer->status.code, AQ_RPC_UNAVAILABLE);
    assert_string_equal(answer->status.message, "this shard has not joined a run yet");
}

TEST_IN(idle_kit, kit, settings_whose_replies_are_too_large_are_refused_in_words)
{
    aq_run_settings settings = kit_settings();
    settings.sample_rows = 65536;
    settings.tables[0].tolerance = 1e6;
    aq_shard_run run = kit_run(&settings);
    assert_refused(aq_replay_service_begin(kit->service, 0, &run, NULL, &refusal), AQ_E_TOO_BIG,
                   "sample requests of 65536 rows");
    assert_null(aq_replay_service_core(kit->service));
}

TEST_IN(idle_kit, kit, a_run_that_finds_no_memory_does_not_begin)
{
    aq_run_settings settings = kit_settings();
    aq_shard_run run = kit_run(&settings);
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        assert_null(aq_replay_service_core(kit->service));
        rc = aq_replay_service_begin(kit->service, 0, &run, NULL, NULL);
    }
}

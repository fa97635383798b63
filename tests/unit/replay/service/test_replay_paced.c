/*
 * A paced run: nothing is granted before it is asked for, then at once; what is too old is dropped
 * and counted; and a request for steps gets as many sequences as make them.
 */
#include "tests/support/test.h"
#include "tests/unit/replay/service_kit.h"

enum { LENGTH = 4, ASKED = 16 };

typedef service_kit paced_kit;
#define paced_kit_teardown service_kit_teardown

static void paced_kit_setup(paced_kit *kit)
{
    aq_run_settings settings = kit_settings();
    aq_table_spec *table = &settings.tables[0];
    table->selector = AQ_SELECTOR_QUEUE;
    table->samples_per_insert = 0;
    table->min_size = 1;
    table->sequence_length = table->sequence_period = LENGTH;
    settings.n_step = aq_table_spec_span(table);
    settings.versions_max = 1;
    kit_create(kit, NULL);
    kit_begin(kit, &settings);
}

static const loopback_answer *want_within(paced_kit *kit, uint64_t version_min, uint32_t wait_ms)
{
    Actorq__V1__SampleRequest request = kit_sample_request(ASKED, 1, wait_ms);
    aq_layout layout = *aq_replay_core_layout(aq_replay_service_core(kit->service));
    request.schema_hash = layout.hash;
    request.steps = ASKED;
    request.version_min = version_min;
    return loopback_call(&kit->loop, &request.base);
}

static const loopback_answer *want(paced_kit *kit, uint64_t version_min)
{
    return want_within(kit, version_min, 1000);
}

/* One chunk of actor 1 whose first step is of version `first`. */
static void bring(paced_kit *kit, uint64_t seq, uint64_t first, uint32_t steps)
{
    const aq_layout *layout = aq_replay_core_layout(aq_replay_service_core(kit->service));
    aq_experience message = kit_message(1, seq, 0, first, steps);
    kit_receive_laid_out(kit, layout, &message);
}

TEST_IN(paced_kit, kit, a_request_is_answered_with_what_is_made_for_it)
{
    const loopback_answer *credit = kit_call(kit, 0, 0, 700);
    kit_pass(kit, 4);
    credit = kit_call(kit, 0, credit->credit->granted, 700);
    kit_pass(kit, 100);
    assert_false(credit->done); /* nothing is asked for */
    const loopback_answer *sample = want(kit, 9);
    assert_true(credit->done);                    /* at once */
    assert_int_equal(credit->credit->granted, 2); /* it has brought nothing yet: a step */
    assert_int_equal(credit->credit->version_min, 9);
    bring(kit, 1, 9, 7);
    bring(kit, 2, 20, 6);
    assert_false(sample->done);
    bring(kit, 3, 30, 2);
    bring(kit, 4, 40, 8); /* of which one is needed */
    loopback_assert_answered(sample, AQ_RPC_OK, "");
    assert_int_equal(sample->sample->rows, 2 + 2 + 1 + 1);
    assert_int_equal(kit_status(kit)->replay->outdated, 0);
}

TEST_IN(paced_kit, kit, a_queue_that_was_emptied_knows_what_a_step_takes)
{
    const loopback_answer *sample = want(kit, 9);
    assert_true(kit_status(kit)->replay->bytes_per_step == 0.0);
    bring(kit, 1, 9, ASKED);
    loopback_assert_answered(sample, AQ_RPC_OK, "");
    const Actorq__V1__ReplayStats *stats = kit_status(kit)->replay;
    assert_int_equal(stats->stored, 0);
    assert_true(stats->bytes_per_step > 0.0);
}

TEST_IN(paced_kit, kit, what_is_too_old_is_dropped_and_counted)
{
    const loopback_answer *sample = want(kit, 9);
    bring(kit, 1, 8, 8);
    bring(kit, 2, 9, 8);
    bring(kit, 3, 17, 7);
    assert_false(sample->done);
    bring(kit, 4, 24, 2); /* one more than was asked for */
    loopback_assert_answered(sample, AQ_RPC_OK, "");
    (void)want(kit, 100);
    assert_int_equal(kit_status(kit)->replay->outdated, 8);
    bring(kit, 5, 99, 3);
    assert_int_equal(kit_status(kit)->replay->outdated, 8 + 3);
    kit_pass(kit, 1010);
}

TEST_IN(paced_kit, kit, a_request_whose_time_is_over_asks_for_nothing_more)
{
    const loopback_answer *sample = want(kit, 1);
    kit_pass(kit, 1010);
    loopback_assert_answered(sample, AQ_RPC_UNAVAILABLE, "16 of 16 steps are missing");
    const loopback_answer *credit = kit_call(kit, 0, 0, 100);
    kit_pass(kit, 110);
    assert_int_equal(credit->credit->granted, 0);
}

TEST_IN(paced_kit, kit, who_moves_up_takes_what_would_have_done_for_the_one_before)
{
    const loopback_answer *first = want_within(kit, 9, 500);
    const loopback_answer *second = want(kit, 10);
    bring(kit, 1, 9, 8);
    kit_pass(kit, 510);
    loopback_assert_answered(first, AQ_RPC_UNAVAILABLE, "24 of 32 steps are missing");
    const loopback_answer *again = want(kit, 10);
    bring(kit, 2, 17, 8);
    loopback_assert_answered(second, AQ_RPC_OK, ""); /* with those of version 9 */
    assert_int_equal(kit_status(kit)->replay->outdated, 0);
    bring(kit, 3, 9, 8);
    bring(kit, 4, 25, ASKED);
    loopback_assert_answered(again, AQ_RPC_OK, "");
    assert_int_equal(kit_status(kit)->replay->outdated, 8);
}

/*
 * Results of evaluations as the learner is told of them, honest and hostile.
 */
#include "tests/support/test.h"
#include "tests/unit/learner/service_desk.h"

static uint64_t number; /* of the last report of all tests */

static Actorq__V1__EvaluationReport report_of(service_desk *desk, uint64_t version, double mean,
                                              bool confirmed)
{
    Actorq__V1__EvaluationReport report = ACTORQ__V1__EVALUATION_REPORT__INIT;
    report.run_id = KIT_RUN_ID;
    report.member = desk_join(desk, AQ_ROLE_EVALUATOR, 50);
    report.incarnation = 50;
    report.number = ++number;
    report.version = version;
    report.format = AQ_FORMAT_INT8_CHANNEL;
    report.episodes = 100;
    report.return_mean = mean;
    report.return_std = 1;
    report.return_min = mean - 1;
    report.return_max = mean + 1;
    report.confirmed = confirmed;
    return report;
}

static enum aq_run_state report(service_desk *desk, uint64_t version, double mean, bool confirmed)
{
    const Actorq__V1__EvaluationReport request = report_of(desk, version, mean, confirmed);
    const Actorq__V1__EvaluationReply *reply = loopback_ask(&desk->loop, &request.base);
    return (enum aq_run_state)reply->state;
}

/* A confirmation that was played in fp32 as well, where it reached `mean`. */
static enum aq_run_state confirm_in_both(service_desk *desk, uint64_t version, double mean)
{
    Actorq__V1__EvaluationReport request = report_of(desk, version, 480, true);
    Actorq__V1__PrecisionGap gap = ACTORQ__V1__PRECISION_GAP__INIT;
    gap.episodes = 100;
    gap.return_fp32 = mean;
    gap.return_fp32_std = 1;
    gap.mean = 480 - mean;
    request.gap = &gap;
    loopback_ask(&desk->loop, &request.base);
    return (enum aq_run_state)aq_coordinator_state(desk->coordinator);
}

TEST_IN(service_desk, desk, a_result_is_handed_on_and_may_end_the_run)
{
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    desk_publish(desk, 4, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(report(desk, 3, 100, false), AQ_RUN_RUNNING);
    assert_true(desk->best);
    assert_int_equal(report(desk, 4, 90, false), AQ_RUN_RUNNING);
    assert_false(desk->best);
    assert_int_equal(report(desk, 4, 480, true), AQ_RUN_RUNNING); /* in int8 alone */
    assert_int_equal(confirm_in_both(desk, 4, 480), AQ_RUN_SOLVED);
    assert_true(desk->best);
    assert_int_equal(desk->evaluated, 4);
    assert_int_equal(desk->result.version, 4);
    assert_int_equal(desk->result.format, AQ_FORMAT_INT8_CHANNEL);
    assert_false(desk->result.fell_back);
    assert_int_equal(desk->result.episodes, 100);
    assert_true(desk->result.return_mean == 480 && desk->result.return_std == 1);
    assert_true(desk->result.return_min == 479 && desk->result.return_max == 481);
    assert_true(desk->result.confirmed);
}

/* Its answer was lost. */
TEST_IN(service_desk, desk, what_is_told_again_counts_once)
{
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    report(desk, 3, 100, true);
    const Actorq__V1__EvaluationReport request = report_of(desk, 3, 90, true);
    for (int i = 0; i < 3; i++) {
        const Actorq__V1__EvaluationReply *reply = loopback_ask(&desk->loop, &request.base);
        assert_int_equal(reply->leader, 3);
    }
    assert_int_equal(desk->evaluated, 2);
    assert_int_equal(aq_coordinator_best(desk->coordinator)->episodes, 200);
    assert_true(aq_coordinator_best(desk->coordinator)->return_mean == 95);
}

TEST_IN(service_desk, desk, a_version_that_fails_in_fp32_does_not_end_the_run)
{
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(confirm_in_both(desk, 3, -500), AQ_RUN_RUNNING);
    assert_true(desk->best); /* of what there is */
    assert_true(desk->result.in_both);
    assert_true(desk->result.fp32_mean == -500 && desk->result.fp32_std == 1);
    assert_int_equal(aq_learner_service_gap(desk->service)->versions, 0);
    desk_publish(desk, 4, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(confirm_in_both(desk, 4, 490), AQ_RUN_SOLVED);
}

TEST_IN(service_desk, desk, a_version_that_has_left_the_shelf_is_not_the_best)
{
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(report(desk, 2, 480, true), AQ_RUN_RUNNING);
    assert_false(desk->best);
    assert_int_equal(report(desk, 3, 10, false), AQ_RUN_RUNNING);
    assert_true(desk->best);
}

TEST_IN(service_desk, desk, a_version_that_fell_back_to_fp32_is_not_the_best)
{
    aq_publication publication;
    learner_kit_publication(&desk->kit, 3, AQ_FORMAT_F32, &publication);
    publication.fell_back = true; /* in a run that asked for int8 */
    aq_policy_shelf_put(desk->shelf, &publication);
    assert_int_equal(report(desk, 3, 480, true), AQ_RUN_RUNNING);
    assert_false(desk->best);
    assert_true(desk->result.fell_back);
}

TEST_IN(service_desk, desk, of_a_version_that_is_gone_the_evaluator_says_whether_it_fell_back)
{
    Actorq__V1__EvaluationReport request = report_of(desk, 3, 480, true);
    loopback_ask(&desk->loop, &request.base);
    assert_false(desk->result.fell_back);
    request = report_of(desk, 3, 480, true);
    request.format = AQ_FORMAT_F32;
    loopback_ask(&desk->loop, &request.base);
    assert_true(desk->result.fell_back);
}

TEST_IN(service_desk, desk, the_best_version_may_be_confirmed_after_it_has_left_the_shelf)
{
    desk_publish(desk, 1, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(report(desk, 1, 480, false), AQ_RUN_RUNNING);
    for (uint64_t version = 2; version < 300; version++) {
        desk_publish(desk, version, AQ_FORMAT_F32);
    }
    report(desk, 299, 1, false); /* which is held now */
    assert_null(aq_policy_shelf_find(desk->shelf, 1));
    assert_int_equal(confirm_in_both(desk, 1, 490), AQ_RUN_SOLVED);
    assert_true(desk->best);
}

static uint64_t leader_after(service_desk *desk, const Actorq__V1__EvaluationReport *request)
{
    return ((const Actorq__V1__EvaluationReply *)loopback_ask(&desk->loop, &request->base))->leader;
}

/* Policies leave the shelf while the evaluator plays one on. */
TEST_IN(service_desk, desk, a_version_that_leads_is_held_until_it_was_played_afresh)
{
    Actorq__V1__EvaluationReport screened = report_of(desk, 1, 100, false);
    const Actorq__V1__EvaluationReport confirmed = report_of(desk, 2, 80, true);
    desk_publish(desk, 1, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(leader_after(desk, &screened), 1);
    desk_publish(desk, 2, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(leader_after(desk, &confirmed), 2);
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    screened = report_of(desk, 3, 70, false);
    assert_int_equal(leader_after(desk, &screened), 2);
    screened = report_of(desk, 3, 90, false);
    assert_int_equal(leader_after(desk, &screened), 3);
    for (uint64_t version = 4; version < 300; version++) {
        desk_publish(desk, version, AQ_FORMAT_INT8_CHANNEL);
    }
    screened = report_of(desk, 3, 90, false);
    screened.ranks_only = true;
    assert_int_equal(leader_after(desk, &screened), 3);
    assert_true(desk->best && desk->result.confirmed);
}

/* A confirmation is two hundred episodes, and another evaluator screens meanwhile. */
TEST_IN(service_desk, desk, what_one_evaluator_screens_costs_no_other_what_it_confirms)
{
    Actorq__V1__EvaluationReport others = report_of(desk, 2, 1, false);
    others.member = desk_join(desk, AQ_ROLE_EVALUATOR, 51);
    others.incarnation = 51;
    desk_publish(desk, 1, AQ_FORMAT_INT8_CHANNEL);
    desk_publish(desk, 2, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(report(desk, 2, 481, false), AQ_RUN_RUNNING); /* which stays the best */
    assert_int_equal(report(desk, 1, 480, false), AQ_RUN_RUNNING);
    for (; others.version < 300; others.version++, others.number++) {
        loopback_ask(&desk->loop, &others.base);
        desk_publish(desk, others.version + 1, AQ_FORMAT_INT8_CHANNEL);
    }
    assert_int_equal(confirm_in_both(desk, 1, 490), AQ_RUN_SOLVED);
    assert_true(desk->best);
}

TEST_IN(service_desk, desk, a_result_of_another_run_is_refused)
{
    Actorq__V1__EvaluationReport request = report_of(desk, 3, 480, true);
    request.run_id = KIT_RUN_ID + 1;
    loopback_refuses(&desk->loop, &request.base, AQ_RPC_FAILED_PRECONDITION, "1122334455667789");
    request.run_id = 0;
    loopback_refuses(&desk->loop, &request.base, AQ_RPC_FAILED_PRECONDITION, "not run");
    assert_int_equal(desk->evaluated, 0);
}

TEST_IN(service_desk, desk, a_result_that_can_not_be_is_refused)
{
    const struct {
        double mean, std, min, max;
        uint64_t version;
        uint32_t episodes;
        const char *words;
    } rows[] = {
        {NAN, 1, 479, 481, 3, 100, "finite"},        {INFINITY, 1, 479, 481, 3, 100, "finite"},
        {-INFINITY, 1, 479, 481, 3, 100, "finite"},  {480, NAN, 479, 481, 3, 100, "finite"},
        {480, INFINITY, 479, 481, 3, 100, "finite"}, {480, -INFINITY, 479, 481, 3, 100, "finite"},
        {480, 1, NAN, 481, 3, 100, "finite"},        {480, 1, INFINITY, 481, 3, 100, "finite"},
        {480, 1, -INFINITY, 481, 3, 100, "finite"},  {480, 1, 479, NAN, 3, 100, "finite"},
        {480, 1, 479, INFINITY, 3, 100, "finite"},   {480, 1, 479, -INFINITY, 3, 100, "finite"},
        {-1e200, 1, -1e200, 481, 3, 100, "finite"},  {480, 1e101, 479, 481, 3, 100, "finite"},
        {480, -1, 479, 481, 3, 100, "contradict"},   {480, 1, 482, 481, 3, 100, "contradict"},
        {480, 1, 479, 481, 3, 0, "episodes"},        {480, 1, 479, 481, 0, 100, "version"},
    };
    EACH_ROW(i, rows) {
        Actorq__V1__EvaluationReport request = report_of(desk, rows[i].version, rows[i].mean, true);
        request.return_std = rows[i].std;
        request.return_min = rows[i].min;
        request.return_max = rows[i].max;
        request.episodes = rows[i].episodes;
        loopback_refuses(&desk->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, rows[i].words);
    }
    Actorq__V1__EvaluationReport request = report_of(desk, 3, 480, true);
    request.format = AQ_FORMAT_COUNT + 1;
    loopback_refuses(&desk->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "format");
    assert_int_equal(desk->evaluated, 0);
    assert_int_equal(aq_coordinator_state(desk->coordinator), AQ_RUN_RUNNING);
}

static void compare(service_desk *desk, uint64_t version, double mean, double std)
{
    Actorq__V1__EvaluationReport request = report_of(desk, version, 100, false);
    Actorq__V1__PrecisionGap gap = ACTORQ__V1__PRECISION_GAP__INIT;
    gap.episodes = 10;
    gap.return_fp32 = 100 - mean;
    gap.mean = mean;
    gap.std = std;
    request.gap = &gap;
    loopback_ask(&desk->loop, &request.base);
}

TEST_IN(service_desk, desk, a_comparison_counts_for_the_gap_alone)
{
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    compare(desk, 3, -2, 3);
    compare(desk, 4, 1, 0);
    assert_int_equal(desk->evaluated, 0);
    assert_int_equal(aq_coordinator_evaluations(desk->coordinator), 0);
    const aq_precision_gap *gap = aq_learner_service_gap(desk->service);
    assert_int_equal(gap->versions, 2);
    assert_int_equal(gap->episodes, 20);
    assert_true(gap->mean == -0.5);
    assert_int_equal(gap->latest_version, 4);
    assert_true(gap->latest_mean == 1);
}

TEST_IN(service_desk, desk, no_comparison_counts_while_the_last_checkpoint_is_written)
{
    compare(desk, 3, -2, 3);
    aq_coordinator_end_evaluations(desk->coordinator);
    compare(desk, 4, 1, 0);
    assert_int_equal(aq_learner_service_gap(desk->service)->versions, 1);
}

TEST_IN(service_desk, desk, the_status_has_the_gap_once_something_was_compared)
{
    const Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    const Actorq__V1__StatusReply *reply = loopback_ask(&desk->loop, &request.base);
    assert_null(reply->learner->precision_gap);
    compare(desk, 3, -2, 3);
    compare(desk, 4, 1, 0);
    reply = loopback_ask(&desk->loop, &request.base);
    const Actorq__V1__PrecisionGapStatus *gap = reply->learner->precision_gap;
    assert_non_null(gap);
    assert_int_equal(gap->versions, 2);
    assert_true(gap->mean == -0.5);
    /* Means of -2 and 1: a deviation of 3 / sqrt(2), and so an error of 1.5. */
    assert_near(gap->ci95, 12.706204736174707 * 1.5, 1e-9);
    assert_true(gap->latest_mean == 1);
}

TEST_IN(service_desk, desk, of_a_resumed_gap_no_version_is_the_latest)
{
    const Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    const aq_precision_gap kept = {.versions = 2, .episodes = 20, .mean = -0.5, .squares = 4.5};
    aq_learner_service_restore_gap(desk->service, &kept);
    const Actorq__V1__StatusReply *reply = loopback_ask(&desk->loop, &request.base);
    const Actorq__V1__PrecisionGapStatus *gap = reply->learner->precision_gap;
    assert_true(gap->mean == -0.5);
    assert_true(isnan(gap->latest_mean));
    compare(desk, 4, 1, 0);
    reply = loopback_ask(&desk->loop, &request.base);
    assert_true(reply->learner->precision_gap->latest_mean == 1);
}

TEST_IN(service_desk, desk, a_comparison_that_can_not_be_is_refused)
{
    const struct {
        uint32_t episodes;
        double mean, std;
        const char *words;
    } rows[] = {{0, 0, 0, "episodes"},
                {1, 0, -1, "below 0"},
                {1, NAN, 0, "finite"},
                {1, -1e200, 0, "finite"},
                {1, 0, 1e200, "finite"}};
    EACH_ROW(i, rows) {
        Actorq__V1__EvaluationReport request = report_of(desk, 3, 100, false);
        Actorq__V1__PrecisionGap gap = ACTORQ__V1__PRECISION_GAP__INIT;
        gap.episodes = rows[i].episodes;
        gap.mean = rows[i].mean;
        gap.std = rows[i].std;
        request.gap = &gap;
        loopback_refuses(&desk->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, rows[i].words);
    }
    assert_int_equal(aq_learner_service_gap(desk->service)->versions, 0);
}

TEST(one_version_has_no_interval)
{
    const aq_version_gap first = {.version = 1, .episodes = 4, .mean = 2, .std = 3};
    const aq_version_gap second = {.version = 2, .episodes = 1, .mean = 4};
    aq_precision_gap gap = {0};
    aq_precision_gap_add(&gap, &first);
    assert_true(isnan(aq_precision_gap_ci95(&gap)));
    assert_near(aq_version_gap_ci95(&first), 3.182446305284263 * 1.5, 1e-12);
    aq_precision_gap_add(&gap, &second);
    assert_near(aq_precision_gap_ci95(&gap), 12.706204736174707, 1e-10); /* sqrt(2 / 1 / 2) of it */
    assert_true(isnan(aq_version_gap_ci95(&second)));                    /* nor has one episode */
}

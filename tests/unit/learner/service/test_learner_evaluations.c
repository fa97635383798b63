/*
 * Results of evaluations as the learner is told of them, honest and hostile.
 */
#include <math.h>

#include "tests/support/test.h"
#include "tests/unit/learner/service_desk.h"

static Actorq__V1__EvaluationReport report_of(uint64_t version, double mean, bool confirmed)
{
    Actorq__V1__EvaluationReport report = ACTORQ__V1__EVALUATION_REPORT__INIT;
    report.run_id = KIT_RUN_ID;
    report.version = version;
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
    Actorq__V1__EvaluationReport request = report_of(version, mean, confirmed);
    desk_answer answer;
    desk_call(desk, &desk->membership, "ReportEvaluation", &request.base, &answer);
    assert_int_equal(answer.status.code, AQ_RPC_OK);
    enum aq_run_state state =
        (enum aq_run_state)((Actorq__V1__EvaluationReply *)(void *)answer.reply)->state;
    desk_answer_fini(&answer);
    return state;
}

TEST_WITH(a_result_is_handed_on_and_may_end_the_run, service_desk_setup, service_desk_teardown)
{
    service_desk *desk = *state;
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    desk_publish(desk, 4, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(report(desk, 3, 100, false), AQ_RUN_RUNNING);
    assert_true(desk->best);
    assert_int_equal(report(desk, 4, 90, false), AQ_RUN_RUNNING);
    assert_false(desk->best);
    assert_int_equal(report(desk, 4, 480, true), AQ_RUN_SOLVED);
    assert_true(desk->best);
    assert_int_equal(desk->evaluated, 3);
    assert_int_equal(desk->result.version, 4);
    assert_int_equal(desk->result.episodes, 100);
    assert_true(desk->result.return_mean == 480 && desk->result.return_std == 1);
    assert_true(desk->result.return_min == 479 && desk->result.return_max == 481);
    assert_true(desk->result.confirmed);
}

TEST_WITH(a_version_that_has_left_the_shelf_is_not_the_best, service_desk_setup,
          service_desk_teardown)
{
    service_desk *desk = *state;
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(report(desk, 2, 480, true), AQ_RUN_RUNNING);
    assert_false(desk->best);
    assert_int_equal(report(desk, 3, 10, false), AQ_RUN_RUNNING);
    assert_true(desk->best);
}

TEST_WITH(a_version_that_fell_back_to_fp32_is_not_the_best, service_desk_setup,
          service_desk_teardown)
{
    service_desk *desk = *state;
    aq_publication publication;
    learner_kit_publication(&desk->kit, 3, AQ_FORMAT_F32, &publication);
    publication.fell_back = true; /* in a run that asked for int8 */
    aq_policy_shelf_put(desk->shelf, &publication);
    assert_int_equal(report(desk, 3, 480, true), AQ_RUN_RUNNING);
    assert_false(desk->best);
}

TEST_WITH(the_best_version_may_be_confirmed_after_it_has_left_the_shelf, service_desk_setup,
          service_desk_teardown)
{
    service_desk *desk = *state;
    desk_publish(desk, 1, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(report(desk, 1, 480, false), AQ_RUN_RUNNING);
    for (uint64_t version = 2; version < 300; version++) {
        desk_publish(desk, version, AQ_FORMAT_F32);
    }
    assert_null(aq_policy_shelf_find(desk->shelf, 1));
    assert_int_equal(report(desk, 1, 479, true), AQ_RUN_SOLVED);
    assert_true(desk->best);
}

TEST_WITH(a_result_of_another_run_is_refused, service_desk_setup, service_desk_teardown)
{
    service_desk *desk = *state;
    Actorq__V1__EvaluationReport request = report_of(3, 480, true);
    request.run_id = KIT_RUN_ID + 1;
    desk_expect_failure(desk, &desk->membership, "ReportEvaluation", &request.base,
                        AQ_RPC_FAILED_PRECONDITION, "1122334455667789");
    request.run_id = 0;
    desk_expect_failure(desk, &desk->membership, "ReportEvaluation", &request.base,
                        AQ_RPC_FAILED_PRECONDITION, "not run");
    assert_int_equal(desk->evaluated, 0);
}

TEST_WITH(a_result_that_can_not_be_is_refused, service_desk_setup, service_desk_teardown)
{
    service_desk *desk = *state;
    double *numbers[4];
    Actorq__V1__EvaluationReport request = report_of(3, 480, true);
    numbers[0] = &request.return_mean;
    numbers[1] = &request.return_std;
    numbers[2] = &request.return_min;
    numbers[3] = &request.return_max;
    for (int i = 0; i < 4; i++) {
        static const double rubbish[] = {NAN, INFINITY, -INFINITY};
        double good = *numbers[i];
        for (int k = 0; k < 3; k++) {
            *numbers[i] = rubbish[k];
            desk_expect_failure(desk, &desk->membership, "ReportEvaluation", &request.base,
                                AQ_RPC_INVALID_ARGUMENT, "finite");
        }
        *numbers[i] = good;
    }
    request.return_std = -1;
    desk_expect_failure(desk, &desk->membership, "ReportEvaluation", &request.base,
                        AQ_RPC_INVALID_ARGUMENT, "contradict");
    request = report_of(3, 480, true);
    request.return_min = request.return_max + 1;
    desk_expect_failure(desk, &desk->membership, "ReportEvaluation", &request.base,
                        AQ_RPC_INVALID_ARGUMENT, "contradict");
    request = report_of(3, 480, true);
    request.episodes = 0;
    desk_expect_failure(desk, &desk->membership, "ReportEvaluation", &request.base,
                        AQ_RPC_INVALID_ARGUMENT, "episodes");
    request = report_of(0, 480, true);
    desk_expect_failure(desk, &desk->membership, "ReportEvaluation", &request.base,
                        AQ_RPC_INVALID_ARGUMENT, "version");
    assert_int_equal(desk->evaluated, 0);
    assert_int_equal(aq_coordinator_state(desk->coordinator), AQ_RUN_RUNNING);
}

static void compare(service_desk *desk, uint64_t version, double mean, double std)
{
    Actorq__V1__EvaluationReport request = report_of(version, 100, false);
    Actorq__V1__PrecisionGap gap = ACTORQ__V1__PRECISION_GAP__INIT;
    desk_answer answer;
    gap.episodes = 10;
    gap.return_fp32 = 100 - mean;
    gap.mean = mean;
    gap.std = std;
    request.gap = &gap;
    desk_call(desk, &desk->membership, "ReportEvaluation", &request.base, &answer);
    assert_int_equal(answer.status.code, AQ_RPC_OK);
    desk_answer_fini(&answer);
}

TEST_WITH(a_comparison_counts_for_the_gap_alone, service_desk_setup, service_desk_teardown)
{
    service_desk *desk = *state;
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    compare(desk, 3, -2, 3);
    compare(desk, 4, 1, 0);
    assert_int_equal(desk->evaluated, 0);
    assert_int_equal(aq_coordinator_evaluations(desk->coordinator), 0);
    const aq_precision_gap *gap = aq_learner_service_gap(desk->service);
    assert_int_equal(gap->versions, 2);
    assert_int_equal(gap->episodes, 20);
    assert_true(gap->mean == -0.5);
    assert_int_equal(gap->latest.version, 4);
    assert_true(gap->latest.return_fp32 == 99);
}

TEST_WITH(the_status_has_the_gap_once_something_was_compared, service_desk_setup,
          service_desk_teardown)
{
    service_desk *desk = *state;
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    desk_answer answer;
    desk_call(desk, &desk->operations, "Status", &request.base, &answer);
    assert_null(((Actorq__V1__StatusReply *)(void *)answer.reply)->learner->precision_gap);
    desk_answer_fini(&answer);
    compare(desk, 3, -2, 3);
    compare(desk, 4, 1, 0);
    desk_call(desk, &desk->operations, "Status", &request.base, &answer);
    const Actorq__V1__PrecisionGapStatus *gap =
        ((Actorq__V1__StatusReply *)(void *)answer.reply)->learner->precision_gap;
    assert_non_null(gap);
    assert_int_equal(gap->versions, 2);
    assert_true(gap->mean == -0.5);
    /* Means of -2 and 1: a deviation of 3 / sqrt(2), and so an error of 1.5. */
    assert_true(fabs(gap->ci95 - 1.959963984540054 * 1.5) < 1e-12);
    assert_int_equal(gap->latest_version, 4);
    assert_int_equal(gap->latest_episodes, 10);
    assert_true(gap->latest_ci95 == 0);
    desk_answer_fini(&answer);
}

TEST_WITH(a_comparison_that_can_not_be_is_refused, service_desk_setup, service_desk_teardown)
{
    service_desk *desk = *state;
    Actorq__V1__EvaluationReport request = report_of(3, 100, false);
    Actorq__V1__PrecisionGap gap = ACTORQ__V1__PRECISION_GAP__INIT;
    request.gap = &gap;
    desk_expect_failure(desk, &desk->membership, "ReportEvaluation", &request.base,
                        AQ_RPC_INVALID_ARGUMENT, "episodes");
    gap.episodes = 1;
    gap.std = -1;
    desk_expect_failure(desk, &desk->membership, "ReportEvaluation", &request.base,
                        AQ_RPC_INVALID_ARGUMENT, "below 0");
    gap.std = 0;
    gap.mean = NAN;
    desk_expect_failure(desk, &desk->membership, "ReportEvaluation", &request.base,
                        AQ_RPC_INVALID_ARGUMENT, "finite");
    assert_int_equal(aq_learner_service_gap(desk->service)->versions, 0);
}

TEST(one_version_has_no_interval)
{
    aq_precision_gap gap = {0};
    aq_precision_gap_add(&gap, &(aq_version_gap){.version = 1, .episodes = 4, .mean = 2, .std = 3});
    assert_true(isnan(aq_precision_gap_ci95(&gap)));
    assert_true(fabs(aq_version_gap_ci95(&gap.latest) - 1.959963984540054 * 1.5) < 1e-12);
}

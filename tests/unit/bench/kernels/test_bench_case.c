/*
 * A case gives a row for each format and peer; peers and ours compute the same; nobody's wrong
 * result is timed.
 */
#include "bench/kernels/bench_case.h"
#include "tests/support/test.h"

static size_t peers_there(void)
{
    size_t count = 0;
    for (size_t i = 0; i < AQ_BENCH_PEERS; i++) {
        count += aq_bench_peer_at(i)->create != NULL;
    }
    return count;
}

static aq_bench_plan quick_plan(void)
{
    aq_bench_plan plan;
    aq_bench_plan_init(0, &plan);
    plan.timing = (aq_timing_plan){.rounds = 1, .slice_ns = 1};
    return plan;
}

TEST(each_format_and_peer_is_a_row)
{
    aq_bench_problem problem;
    aq_bench_row rows[AQ_BENCH_CASE_ROWS_MAX];
    size_t count = 0;
    const aq_bench_plan plan = quick_plan();
    const size_t peers = peers_there() > 0 ? peers_there() : 1;
    assert_int_equal(aq_bench_problem_layer(48, 33, 3, &problem), 0);
    assert_succeeds(
        aq_bench_case_run(&plan, aq_qkernels_scalar(), &problem, rows, &count, &refusal));
    assert_int_equal(count, AQ_FORMAT_COUNT * peers);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].format, rows[i / peers * peers].format);
        assert_int_equal(rows[i].inputs, 48);
        assert_int_equal(rows[i].outputs, 33);
        assert_int_equal(rows[i].batch, 3);
        assert_true(rows[i].bytes > 0);
        assert_true(rows[i].operations > 0);
        assert_true(rows[i].limit_us > 0);
    }
    aq_bench_problem_fini(&problem);
}

TEST(an_int8_layer_reads_a_quarter_of_the_bytes)
{
    aq_bench_problem problem;
    aq_bench_row rows[AQ_BENCH_CASE_ROWS_MAX];
    size_t count = 0;
    size_t bytes[AQ_QKERNEL_FORMATS] = {0};
    const aq_bench_plan plan = quick_plan();
    assert_int_equal(aq_bench_problem_layer(256, 256, 1, &problem), 0);
    assert_succeeds(
        aq_bench_case_run(&plan, aq_qkernels_scalar(), &problem, rows, &count, &refusal));
    for (size_t i = 0; i < count; i++) {
        bytes[rows[i].format] = rows[i].bytes;
        if (rows[i].format == AQ_FORMAT_INT8_CHANNEL) {
            assert_true(rows[i].operations == 2.0 * 256 * 256);
        }
    }
    assert_true(bytes[AQ_FORMAT_INT8_CHANNEL] * 3 < bytes[AQ_FORMAT_F32]);
    assert_true(bytes[AQ_FORMAT_INT4] * 3 < bytes[AQ_FORMAT_INT8_CHANNEL] * 2);
    aq_bench_problem_fini(&problem);
}

/* Every peer of this build, over a whole policy: static scales of every layer's input. */
TEST(peers_compute_the_policy)
{
    aq_bench_problem problem;
    assert_int_equal(aq_bench_problem_policy(40, 2, &problem), 0);
    for (size_t i = 0; i < AQ_BENCH_PEERS; i++) {
        const aq_bench_peer *peer = aq_bench_peer_at(i);
        void *self = NULL;
        if (peer->create == NULL) {
            continue;
        }
        if (peer->create(&problem, &self, &refusal) != 0) {
            fail_msg("%s: %s", peer->name, refusal.text);
        }
        peer->run(self);
        const double distance =
            aq_bench_problem_distance(&problem, peer->result(self), problem.expected);
        assert_true(distance <= (peer->is_integer ? 0.08 : 1e-4));
        peer->destroy(self);
        peer->destroy(NULL);
    }
    aq_bench_problem_fini(&problem);
}

TEST(a_wrong_result_is_not_near)
{
    aq_bench_problem problem;
    float got[2 * 33];
    assert_int_equal(aq_bench_problem_layer(48, 33, 2, &problem), 0);
    memcpy(got, problem.expected, sizeof(got));
    assert_true(aq_bench_problem_distance(&problem, got, problem.expected) == 0.0);
    got[40] += 1.0f;
    assert_true(aq_bench_problem_distance(&problem, got, problem.expected) > 0.02);
    got[40] = (float)NAN;
    assert_true(isinf(aq_bench_problem_distance(&problem, got, problem.expected)));
    aq_bench_problem_fini(&problem);
}

TEST(every_failed_allocation_is_survived)
{
    aq_bench_row rows[AQ_BENCH_CASE_ROWS_MAX];
    size_t count = 0;
    aq_bench_plan plan = quick_plan();
    memset(plan.formats, 0, sizeof(plan.formats));
    plan.formats[AQ_FORMAT_INT8_CHANNEL] = true;
    int rc = 0;
    EACH_ALLOCATION_FAILS(rc) {
        aq_bench_problem problem = {0};
        rc = aq_bench_problem_layer(8, 8, 1, &problem);
        if (rc == 0) {
            rc = aq_bench_case_run(&plan, aq_qkernels_scalar(), &problem, rows, &count, &refusal);
        }
        aq_bench_problem_fini(&problem);
    }
}

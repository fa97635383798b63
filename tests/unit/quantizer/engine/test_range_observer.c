/*
 * Ranges of the layers' inputs: what is observed, how batches are combined, what is refused.
 */
#include "quantizer/engine/range_observer.h"

#include "common/sys/cpu.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"
#include "tests/unit/quantizer/random_policy.h"

enum { ROWS = 2000 };

/* x -> 2 x -> relu, 1 wide: the second layer sees max(0, 2 x). */
static void quantizer_fixture_setup(quantizer_fixture *fixture)
{
    const uint32_t hidden[] = {1, 0};
    quantizer_fixture_init(fixture, 1, hidden, 1, AQ_ACTIVATION_RELU);
    fixture->params.weight[0][0] = 2.0f;
    fixture->params.bias[0][0] = 0.0f;
}

static aq_range_observer observer_by(enum aq_range_method method)
{
    aq_range_observer observer;
    aq_range_observer_init(&observer, method);
    return observer;
}

/* Anew, as a version of the policy is. */
static aq_engine *exact(const quantizer_fixture *fixture)
{
    return quantizer_fixture_engine(quantizer_fixture_snapshot(fixture, AQ_FORMAT_F32), ROWS,
                                    aq_cpu_flags());
}

static void observe(aq_range_observer *observer, const quantizer_fixture *fixture, float a, float b)
{
    const float obs[] = {a, b};
    assert_int_equal(aq_range_observe(observer, exact(fixture), obs, 2), 0);
}

static void assert_range(const aq_range_observer *observer, uint32_t layer, float low, float high)
{
    assert_true(fabsf(observer->ranges.low[layer] - low) <= 1e-6f * fabsf(low));
    assert_true(fabsf(observer->ranges.high[layer] - high) <= 1e-6f * fabsf(high));
}

TEST_IN(quantizer_fixture, fixture, what_goes_into_each_layer_is_observed)
{
    aq_range_observer observer = observer_by(AQ_RANGE_MIN_MAX);
    assert_range(&observer, 0, 0.0f, 0.0f);
    observe(&observer, fixture, -3.0f, 5.0f);
    assert_range(&observer, 0, -3.0f, 5.0f);
    assert_range(&observer, 1, 0.0f, 10.0f);
    assert_int_equal(observer.batches, 1);
}

TEST_IN(quantizer_fixture, fixture, min_max_keeps_the_least_and_the_greatest_ever)
{
    aq_range_observer observer = observer_by(AQ_RANGE_MIN_MAX);
    observe(&observer, fixture, -3.0f, 5.0f);
    observe(&observer, fixture, -4.0f, 1.0f);
    observe(&observer, fixture, -1.0f, 2.0f);
    assert_range(&observer, 0, -4.0f, 5.0f);
    assert_int_equal(observer.batches, 3);
}

TEST_IN(quantizer_fixture, fixture, a_range_holds_zero)
{
    aq_range_observer observer = observer_by(AQ_RANGE_MIN_MAX);
    observe(&observer, fixture, 3.0f, 5.0f);
    assert_range(&observer, 0, 0.0f, 5.0f);
    aq_range_observer_init(&observer, AQ_RANGE_MIN_MAX);
    observe(&observer, fixture, -3.0f, -5.0f);
    assert_range(&observer, 0, -5.0f, 0.0f);
}

TEST_IN(quantizer_fixture, fixture, a_moving_average_begins_with_the_first_batch)
{
    aq_range_observer observer = observer_by(AQ_RANGE_MOVING_AVERAGE);
    observe(&observer, fixture, -2.0f, 10.0f);
    assert_range(&observer, 0, -2.0f, 10.0f);
    observe(&observer, fixture, -1.0f, 20.0f);
    assert_range(&observer, 0, -1.9f, 11.0f);
    observe(&observer, fixture, 0.0f, 1.0f);
    assert_range(&observer, 0, -1.71f, 10.0f);
}

/* 2,000 values, of which a thousandth is beyond each end: two of them. */
TEST_IN(quantizer_fixture, fixture, a_percentile_leaves_out_the_ends)
{
    aq_range_observer observer;
    float *obs = quantizer_fixture_floats(ROWS);
    for (int i = 0; i < ROWS; i++) {
        obs[i] = (float)((i * 7) % ROWS - ROWS / 2); /* each of -1000 to 999 once */
    }
    aq_range_observer_init(&observer, AQ_RANGE_PERCENTILE);
    assert_int_equal(aq_range_observe(&observer, exact(fixture), obs, ROWS), 0);
    assert_range(&observer, 0, -998.0f, 997.0f);
    assert_range(&observer, 1, 0.0f, 2.0f * 997.0f);
}

TEST_IN(quantizer_fixture, fixture, a_percentile_of_one_sign_still_holds_zero)
{
    aq_range_observer observer;
    float *obs = quantizer_fixture_floats(ROWS);
    for (int i = 0; i < ROWS; i++) {
        obs[i] = 5.0f + (float)i;
    }
    aq_range_observer_init(&observer, AQ_RANGE_PERCENTILE);
    assert_int_equal(aq_range_observe(&observer, exact(fixture), obs, ROWS), 0);
    assert_range(&observer, 0, 0.0f, 2002.0f);
    for (int i = 0; i < ROWS; i++) {
        obs[i] = -obs[i];
    }
    aq_range_observer_init(&observer, AQ_RANGE_PERCENTILE);
    assert_int_equal(aq_range_observe(&observer, exact(fixture), obs, ROWS), 0);
    assert_range(&observer, 0, -2002.0f, 0.0f);
}

/* A batch of first steps does not show what a state comes to. */
TEST(behind_a_layer_that_remembers_no_range_is_known)
{
    const aq_net_spec spec = random_policy_spec(NET_GRU);
    quantizer_fixture *fixture = quantizer_fixture_of_spec(&spec);
    const float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_range_observer observer = observer_by(AQ_RANGE_MIN_MAX);
    assert_int_equal(aq_range_observe(&observer, exact(fixture), obs, ROWS), 0);
    assert_true(observer.ranges.high[0] > observer.ranges.low[0]);
    for (uint32_t i = 1; i < spec.layer_count; i++) {
        assert_range(&observer, i, 0.0f, 0.0f);
    }
}

TEST(nor_is_it_two_layers_behind)
{
    const aq_layer_spec layers[] = {aq_layer_linear(5, 3 * 6, AQ_ACTIVATION_NONE), aq_layer_gru(6),
                                    aq_layer_linear(6, 4, AQ_ACTIVATION_RELU),
                                    aq_layer_linear(4, 3, AQ_ACTIVATION_NONE)};
    aq_net_spec spec = net_of(layers);
    quantizer_fixture *fixture = quantizer_fixture_of_spec(&spec);
    const float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_range_observer observer = observer_by(AQ_RANGE_MIN_MAX);
    assert_succeeds(aq_range_observe(&observer, exact(fixture), obs, ROWS));
    assert_range(&observer, 2, 0.0f, 0.0f);
    assert_range(&observer, 3, 0.0f, 0.0f);
}

/* Wherever on the way it appears: in the observation, or behind the first layer. */
TEST_IN(quantizer_fixture, fixture, a_batch_that_breaks_is_not_taken_in)
{
    const float obs[2][2] = {{1.0f, NAN}, {2e38f, 1.0f}};
    for (uint32_t method = AQ_RANGE_NONE + 1; method < AQ_RANGE_METHOD_END; method++) {
        for (int i = 0; i < 2; i++) {
            aq_range_observer observer, before;
            aq_range_observer_init(&observer, (enum aq_range_method)method);
            observe(&observer, fixture, -3.0f, 5.0f);
            before = observer;
            assert_int_equal(aq_range_observe(&observer, exact(fixture), obs[i], 2), AQ_E_CORRUPT);
            assert_memory_equal(&observer, &before, sizeof(before));
        }
    }
}

TEST_IN(quantizer_fixture, fixture, a_failed_allocation_is_an_error)
{
    aq_range_observer observer;
    const float obs[] = {1.0f, 2.0f};
    aq_engine *engine = exact(fixture);
    int rc;
    aq_range_observer_init(&observer, AQ_RANGE_PERCENTILE);
    EACH_ALLOCATION_FAILS(rc) {
        rc = aq_range_observe(&observer, engine, obs, 2);
        assert_int_equal(observer.batches, rc == 0 ? 1 : 0);
    }
}

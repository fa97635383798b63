/*
 * Parts of on-policy updates: advantages, and the loss of a step.
 */
#include "learner/algorithms/on_policy/advantage.h"
#include "learner/algorithms/on_policy/policy_gradient.h"
#include "tests/support/test.h"

enum { LENGTH = 5 };

static const float reward[LENGTH] = {1, -0.5f, 0.25f, 2, -1};
static const float value[LENGTH + 1] = {0.3f, -0.2f, 0.9f, 0.1f, 0.5f, 0.7f};
static const float weight[LENGTH] = {0.5f, 2, 1, 0.25f, 3};

/* As the definitions say, as sums over the steps that follow. */
static double gae(const float *bootstrap, double lambda, double scale, int t)
{
    double sum = 0, share = 1;
    for (int k = t; k < LENGTH; k++) {
        const double error = scale * (double)reward[k] +
                             (double)bootstrap[k] * (double)value[k + 1] - (double)value[k];
        sum += share * error;
        share *= (double)bootstrap[k] * lambda;
    }
    return sum;
}

static double vtrace(const float *bootstrap, double lambda, int t)
{
    double sum = value[t], share = 1;
    for (int k = t; k < LENGTH; k++) {
        const double rho = fmin(1, (double)weight[k]);
        const double error =
            (double)reward[k] + (double)bootstrap[k] * (double)value[k + 1] - (double)value[k];
        sum += share * rho * error;
        share *= (double)bootstrap[k] * lambda * rho;
    }
    return sum;
}

/* Goes on in time, is cut by a time limit (the last bootstraps), or ends within. */
static const float bootstraps[][LENGTH] = {
    {0.9f, 0.9f, 0.9f, 0.9f, 0.9f}, {0.9f, 0.9f, 0.9f, 0.9f, 0}, {1, 1, 1, 1, 1}};

TEST(advantages_are_what_their_definition_says)
{
    static const float lambdas[] = {0, 0.5f, 1};
    EACH_ROW(b, bootstraps) {
        EACH_ROW(l, lambdas) {
            float advantage[LENGTH], target[LENGTH];
            const aq_advantage_steps steps = {LENGTH, reward, bootstraps[b], value,
                                              NULL,   0.5f,   lambdas[l]};
            aq_advantages_of(&steps, advantage, target);
            for (int t = 0; t < LENGTH; t++) {
                const double expected = gae(bootstraps[b], (double)lambdas[l], 0.5, t);
                assert_near((double)advantage[t], expected, 1e-5);
                assert_near((double)target[t], expected + (double)value[t], 1e-5);
            }
        }
    }
}

TEST(v_trace_is_what_its_definition_says)
{
    EACH_ROW(b, bootstraps) {
        float advantage[LENGTH], target[LENGTH];
        const aq_advantage_steps steps = {LENGTH, reward, bootstraps[b], value, weight, 1, 0.95f};
        aq_advantages_of(&steps, advantage, target);
        for (int t = 0; t < LENGTH; t++) {
            const double next =
                t + 1 < LENGTH ? vtrace(bootstraps[b], 0.95, t + 1) : (double)value[LENGTH];
            assert_near((double)target[t], vtrace(bootstraps[b], 0.95, t), 1e-5);
            assert_near((double)advantage[t],
                        (double)reward[t] + (double)bootstraps[b][t] * next - (double)value[t],
                        1e-5);
        }
    }
}

/* ---- the loss of a step --------------------------------------------------------------------- */

static const uint32_t corrections[] = {AQ_CORRECTION_NONE, AQ_CORRECTION_CLIPPED,
                                       AQ_CORRECTION_BYPASS, AQ_CORRECTION_VTRACE};

TEST(the_slope_of_a_loss_agrees_with_finite_differences)
{
    static const double nows[] = {-2.5, -1.5, -1.2, -1.05, -0.9, -0.3}, clips[] = {0, 0.2};
    static const double advantages[] = {1.5, -0.7};
    EACH_ROW(c, corrections) {
        EACH_ROW(n, nows) {
            for (int i = 0; i < 4; i++) {
                const aq_policy_gradient_rule rule = {corrections[c], 1.3, clips[i % 2]};
                aq_policy_gradient_step step = {exp(0.5), -1.1, nows[n], advantages[i / 2]};
                const double slope = aq_policy_gradient_of(&rule, &step).slope;
                step.now += 1e-6;
                const double more = aq_policy_gradient_of(&rule, &step).loss;
                step.now -= 2e-6;
                const double less = aq_policy_gradient_of(&rule, &step).loss;
                assert_near(slope, (more - less) / 2e-6, 1e-6);
            }
        }
    }
}

TEST(weights_are_held_as_the_correction_says)
{
    static const struct {
        uint32_t correction;
        double clip, ratio, weight;
        bool is_held;
    } rows[] = {
        {AQ_CORRECTION_NONE, 0.2, 5, 1, false},        {AQ_CORRECTION_CLIPPED, 0.2, 5, 2, true},
        {AQ_CORRECTION_CLIPPED, 0.2, 0.1, 0.1, false}, {AQ_CORRECTION_CLIPPED, 0, 5, 2, true},
        {AQ_CORRECTION_BYPASS, 0.2, 5, 1, false}, /* its ratios are held, not its weights */
        {AQ_CORRECTION_BYPASS, 0, 5, 5, false},        {AQ_CORRECTION_VTRACE, 0, 5, 1, true},
        {AQ_CORRECTION_VTRACE, 0, 0.5, 0.5, false},
    };
    EACH_ROW(i, rows) {
        const aq_policy_gradient_rule rule = {rows[i].correction, 2, rows[i].clip};
        assert_near(aq_importance_weight(&rule, rows[i].ratio), rows[i].weight, 1e-12);
        assert_int_equal(aq_importance_is_held(&rule, rows[i].ratio), rows[i].is_held);
    }
    assert_true(isfinite(aq_importance_ratio(0, -1e30)));
    assert_true(aq_importance_ratio(-1e30, 0) > 0);
}

/* An advantage that is taken already pulls no further, on either side; one that is not, does. */
TEST(the_clipped_objective_holds_only_what_went_too_far)
{
    const aq_policy_gradient_rule rule = {AQ_CORRECTION_NONE, 2, 0.2};
    const double high = log(1.3), low = log(0.7);
    assert_true(aq_policy_gradient_of(&rule, &(aq_policy_gradient_step){1, 0, high, 1}).is_clipped);
    assert_true(aq_policy_gradient_of(&rule, &(aq_policy_gradient_step){1, 0, low, -1}).is_clipped);
    assert_false(aq_policy_gradient_of(&rule, &(aq_policy_gradient_step){1, 0, low, 1}).is_clipped);
    assert_false(
        aq_policy_gradient_of(&rule, &(aq_policy_gradient_step){1, 0, high, -1}).is_clipped);
}

/*
 * DQN's loss: targets by hand, gradients by central finite differences of the loss in double
 * precision (h = 1e-5, tolerance 1e-6: what single precision leaves of slopes up to 1).
 */
#include "learner/algorithms/q_learning/q_loss.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

/*
 * Two states, two actions. In state 0 the learned network likes action 1 best, which the target
 * network values at 5; its own favourite is action 0, at 7. Double Q-learning takes the 5.
 */
TEST(target_is_the_targets_value_of_the_learned_networks_choice)
{
    const float online_next[2][2] = {{1, 2}, {-1, -3}};
    const float target_next[2][2] = {{7, 5}, {0.5f, 40}};
    assert_true(aq_q_target(1, 0.5f, online_next[0], target_next[0], 2) == 1 + 0.5f * 5);
    assert_true(aq_q_target(-2, 0.25f, online_next[1], target_next[1], 2) == -2 + 0.25f * 0.5f);
}

TEST(a_termination_cuts_the_bootstrap)
{
    const float online_next[] = {1, 2}, target_next[] = {1e30f, -1e30f};
    assert_true(aq_q_target(3, 0, online_next, target_next, 2) == 3);
}

enum { VALUES = FIXTURE_ROWS * FIXTURE_ACTIONS };

typedef struct fixture {
    aq_batch *batch;
    float online[VALUES], online_next[VALUES], target_next[VALUES], d_online[VALUES];
} fixture;

static fixture make(uint64_t seed)
{
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    fixture f = {.batch = fixture_batch(&schema, FIXTURE_ROWS)};
    aq_rng rng = rng_of(seed, 0);
    fixture_randomize(f.batch, FIXTURE_ACTIONS, &rng);
    for (size_t i = 0; i < VALUES; i++) {
        f.online[i] = (float)aq_rng_normal(&rng);
        f.online_next[i] = (float)aq_rng_normal(&rng);
        f.target_next[i] = (float)aq_rng_normal(&rng);
        f.d_online[i] = NAN;
    }
    return f;
}

static int find_loss(fixture *f, float delta, aq_q_loss *ret_loss)
{
    const aq_value_kind kind = {.learns = AQ_Q_VALUES};
    const aq_q_values values = {.actions = FIXTURE_ACTIONS,
                                .width = 1,
                                .huber_delta = delta,
                                .online = f->online,
                                .chooser = f->online_next,
                                .target_next = f->target_next};
    return aq_q_loss_of(&kind, f->batch, &values, f->d_online, ret_loss);
}

static aq_q_loss loss_of(fixture *f, float delta)
{
    aq_q_loss loss;
    assert_int_equal(find_loss(f, delta, &loss), 0);
    return loss;
}

/* The loss, in double, with `shift` added to one of the values in the present state. */
static double loss_in_double(const fixture *f, double delta, size_t shifted, double shift)
{
    double loss = 0;
    for (uint32_t i = 0; i < FIXTURE_ROWS; i++) {
        size_t at = i * FIXTURE_ACTIONS + fixture_action(f->batch, i), best = 0;
        for (size_t a = 1; a < FIXTURE_ACTIONS; a++) {
            if (f->online_next[i * FIXTURE_ACTIONS + a] >
                f->online_next[i * FIXTURE_ACTIONS + best]) {
                best = a;
            }
        }
        const double error =
            fabs(f->online[at] + (at == shifted ? shift : 0) - f->batch->reward[i] -
                 (double)f->batch->bootstrap[i] * f->target_next[i * FIXTURE_ACTIONS + best]);
        loss += f->batch->weight[i] *
                (error <= delta ? error * error / 2 : delta * (error - delta / 2));
    }
    return loss / FIXTURE_ROWS;
}

TEST(a_rows_priority_is_the_size_of_its_error)
{
    fixture f = make(7);
    (void)loss_of(&f, 0.5f);
    for (uint32_t i = 0; i < FIXTURE_ROWS; i++) {
        size_t row = (size_t)i * FIXTURE_ACTIONS;
        float target = aq_q_target(f.batch->reward[i], f.batch->bootstrap[i], f.online_next + row,
                                   f.target_next + row, FIXTURE_ACTIONS);
        const float value = f.online[row + fixture_action(f.batch, i)];
        assert_float_equal(f.batch->priority[i], fabsf(value - target), 0);
    }
}

/* Of the squared part of the loss, of its linear part, and of both. */
TEST(loss_and_gradient_are_those_of_double_precision)
{
    const double h = 1e-5;
    const float deltas[] = {100, 0.01f, 1};
    EACH_ROW(d, deltas) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            const float delta = deltas[d];
            fixture f = make(seed);
            assert_near(loss_of(&f, delta).loss, loss_in_double(&f, delta, SIZE_MAX, 0), 1e-6);
            for (size_t i = 0; i < VALUES; i++) {
                const double above = loss_in_double(&f, delta, i, h);
                const double below = loss_in_double(&f, delta, i, -h);
                assert_near(f.d_online[i], (above - below) / (2 * h), 1e-6);
            }
        }
    }
}

TEST(figures_are_those_of_the_chosen_actions)
{
    double sum = 0, least = INFINITY, greatest = -INFINITY, squares = 0, errors = 0;
    fixture f = make(1);
    const aq_value_figures values = loss_of(&f, 1).values;
    for (uint32_t i = 0; i < FIXTURE_ROWS; i++) {
        const size_t row = (size_t)i * FIXTURE_ACTIONS;
        const double q = f.online[row + fixture_action(f.batch, i)];
        const double error =
            q - aq_q_target(f.batch->reward[i], f.batch->bootstrap[i], f.online_next + row,
                            f.target_next + row, FIXTURE_ACTIONS);
        sum += q;
        least = fmin(least, q);
        greatest = fmax(greatest, q);
        errors += error;
        squares += error * error;
    }
    double told[AQ_VALUE_METRICS];
    aq_value_figures_tell(&values, told);
    const double mean = errors / FIXTURE_ROWS;
    assert_near(told[AQ_VALUE_MEAN], sum / FIXTURE_ROWS, 1e-12);
    assert_true(told[AQ_VALUE_LEAST] == least);
    assert_true(told[AQ_VALUE_GREATEST] == greatest);
    assert_near(told[AQ_VALUE_ERROR_SPREAD], sqrt(squares / FIXTURE_ROWS - mean * mean), 1e-5);
}

TEST(figures_of_parts_are_those_of_the_whole)
{
    aq_value_figures whole = {0};
    const aq_value_figures parts[] = {
        {.rows = 2, .value = 16, .least = 7, .greatest = 9, .mass_below = 0.5, .mass_above = 0.1},
        {.rows = 0, .least = -99, .greatest = 99},
        {.rows = 1, .value = 5, .least = 5, .greatest = 5, .mass_below = 0.25, .mass_above = 0.2}};
    static const double least[] = {7, 7, 5};
    double told[AQ_VALUE_METRICS];
    EACH_ROW(i, parts) {
        aq_value_figures_merge(&whole, &parts[i]);
        aq_value_figures_tell(&whole, told);
        assert_near(told[AQ_VALUE_LEAST], least[i], 0);
        assert_near(told[AQ_VALUE_GREATEST], 9, 0);
    }
    assert_near(told[AQ_VALUE_MEAN], 7, 1e-12);
    assert_near(whole.mass_below, 0.75, 1e-12);
    assert_near(whole.mass_above, 0.3, 1e-12);
}

TEST(an_action_that_does_not_exist_is_corrupt)
{
    const int32_t wrong[] = {-1, FIXTURE_ACTIONS, INT32_MIN, INT32_MAX};
    aq_q_loss loss;
    fixture f = make(1);
    EACH_ROW(i, wrong) {
        fixture_set_action(f.batch, FIXTURE_ROWS - 1, wrong[i]);
        assert_int_equal(find_loss(&f, 1, &loss), AQ_E_CORRUPT);
    }
}

TEST(what_is_not_finite_shows_in_the_loss)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    EACH_ROW(i, bad) {
        fixture f = make(1);
        f.batch->reward[2] = bad[i];
        assert_false(isfinite(loss_of(&f, 1).loss));
        f.batch->reward[2] = 0;
        f.batch->weight[2] = bad[i];
        assert_false(isfinite(loss_of(&f, 1).loss));
    }
}

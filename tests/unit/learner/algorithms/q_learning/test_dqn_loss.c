/*
 * DQN's loss: targets by hand, gradients by central finite differences of the loss in double
 * precision (h = 1e-5, tolerance 1e-6: what single precision leaves of slopes up to 1).
 */
#include <string.h>

#include <math.h>

#include "learner/algorithms/q_learning/dqn_loss.h"
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

    assert_true(aq_dqn_target(1, 0.5f, online_next[0], target_next[0], 2) == 1 + 0.5f * 5);
    assert_true(aq_dqn_target(-2, 0.25f, online_next[1], target_next[1], 2) == -2 + 0.25f * 0.5f);
}

TEST(a_termination_cuts_the_bootstrap)
{
    const float online_next[] = {1, 2}, target_next[] = {1e30f, -1e30f};

    assert_true(aq_dqn_target(3, 0, online_next, target_next, 2) == 3);
}

TEST(of_equal_values_the_first_is_chosen)
{
    const float values[] = {1, 4, 4, 4};

    assert_int_equal(aq_dqn_argmax(values, 4), 1);
    assert_int_equal(aq_dqn_argmax(values, 1), 0);
}

typedef struct fixture {
    aq_schema schema;
    aq_batch *batch;
    float online[FIXTURE_ROWS * FIXTURE_ACTIONS];
    float online_next[FIXTURE_ROWS * FIXTURE_ACTIONS];
    float target_next[FIXTURE_ROWS * FIXTURE_ACTIONS];
    float d_online[FIXTURE_ROWS * FIXTURE_ACTIONS];
    aq_dqn_values values;
} fixture;

static void init(fixture *f, uint64_t seed)
{
    aq_rng rng;

    memset(f, 0, sizeof(*f));
    fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS, &f->schema);
    f->batch = fixture_batch(&f->schema, FIXTURE_ROWS);
    aq_rng_init(&rng, seed, 0);
    fixture_randomize(f->batch, FIXTURE_ACTIONS, &rng);
    for (size_t i = 0; i < FIXTURE_ROWS * FIXTURE_ACTIONS; i++) {
        f->online[i] = (float)aq_rng_normal(&rng);
        f->online_next[i] = (float)aq_rng_normal(&rng);
        f->target_next[i] = (float)aq_rng_normal(&rng);
        f->d_online[i] = NAN;
    }
    f->values = (aq_dqn_values){.actions = FIXTURE_ACTIONS,
                                .online = f->online,
                                .online_next = f->online_next,
                                .target_next = f->target_next};
}

static int32_t action_of(const aq_batch *batch, uint32_t row)
{
    int32_t action;

    memcpy(&action, batch->action + row * sizeof(action), sizeof(action));
    return action;
}

/* The loss, in double, with `shift` added to one of the values in the present state. */
static double loss_in_double(const fixture *f, double delta, size_t shifted, double shift)
{
    double loss = 0;

    for (uint32_t i = 0; i < FIXTURE_ROWS; i++) {
        size_t at = i * FIXTURE_ACTIONS + (size_t)action_of(f->batch, i), best = 0;
        double error;

        for (size_t a = 1; a < FIXTURE_ACTIONS; a++) {
            if (f->online_next[i * FIXTURE_ACTIONS + a] >
                f->online_next[i * FIXTURE_ACTIONS + best]) {
                best = a;
            }
        }
        error = fabs(f->online[at] + (at == shifted ? shift : 0) - f->batch->reward[i] -
                     (double)f->batch->bootstrap[i] * f->target_next[i * FIXTURE_ACTIONS + best]);
        loss += f->batch->weight[i] *
                (error <= delta ? error * error / 2 : delta * (error - delta / 2));
    }
    return loss / FIXTURE_ROWS;
}

TEST(a_rows_priority_is_the_size_of_its_error)
{
    aq_dqn_loss loss;
    fixture f;

    init(&f, 7);
    assert_int_equal(aq_dqn_loss_of(f.batch, &f.values, 0.5f, f.d_online, &loss), 0);
    for (uint32_t i = 0; i < FIXTURE_ROWS; i++) {
        size_t row = (size_t)i * FIXTURE_ACTIONS;
        float target = aq_dqn_target(f.batch->reward[i], f.batch->bootstrap[i], f.online_next + row,
                                     f.target_next + row, FIXTURE_ACTIONS);
        int32_t action;

        memcpy(&action, f.batch->action + i * sizeof(action), sizeof(action));
        assert_float_equal(f.batch->priority[i], fabsf(f.online[row + (size_t)action] - target), 0);
    }
    aq_batch_destroy(f.batch);
}

static void check_loss(float delta)
{
    const double h = 1e-5;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        aq_dqn_loss loss;
        fixture f;

        init(&f, seed);
        assert_int_equal(aq_dqn_loss_of(f.batch, &f.values, delta, f.d_online, &loss), 0);
        assert_near(loss.loss, loss_in_double(&f, delta, SIZE_MAX, 0), 1e-6);
        for (size_t i = 0; i < FIXTURE_ROWS * FIXTURE_ACTIONS; i++) {
            double slope =
                (loss_in_double(&f, delta, i, h) - loss_in_double(&f, delta, i, -h)) / (2 * h);

            assert_near(f.d_online[i], slope, 1e-6);
        }
        aq_batch_destroy(f.batch);
    }
}

TEST(gradient_of_the_squared_part_is_right)
{
    check_loss(100);
}

TEST(gradient_of_the_linear_part_is_right)
{
    check_loss(0.01f);
}

TEST(gradient_of_both_parts_together_is_right)
{
    check_loss(1);
}

TEST(q_mean_is_that_of_the_chosen_actions)
{
    aq_dqn_loss loss;
    double sum = 0;
    fixture f;

    init(&f, 1);
    for (uint32_t i = 0; i < FIXTURE_ROWS; i++) {
        sum += f.online[i * FIXTURE_ACTIONS + (size_t)action_of(f.batch, i)];
    }
    assert_int_equal(aq_dqn_loss_of(f.batch, &f.values, 1, f.d_online, &loss), 0);
    assert_near(loss.q_mean, sum / FIXTURE_ROWS, 1e-12);
    aq_batch_destroy(f.batch);
}

TEST(an_action_that_does_not_exist_is_corrupt)
{
    const int32_t wrong[] = {-1, FIXTURE_ACTIONS, INT32_MIN, INT32_MAX};
    aq_dqn_loss loss;
    fixture f;

    init(&f, 1);
    EACH_ROW(i, wrong) {
        fixture_set_action(f.batch, FIXTURE_ROWS - 1, wrong[i]);
        assert_int_equal(aq_dqn_loss_of(f.batch, &f.values, 1, f.d_online, &loss), AQ_E_CORRUPT);
    }
    aq_batch_destroy(f.batch);
}

TEST(what_is_not_finite_shows_in_the_loss)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};

    for (size_t i = 0; i < 3; i++) {
        aq_dqn_loss loss;
        fixture f;

        init(&f, 1);
        f.batch->reward[2] = bad[i];
        assert_int_equal(aq_dqn_loss_of(f.batch, &f.values, 1, f.d_online, &loss), 0);
        assert_false(isfinite(loss.loss));
        f.batch->reward[2] = 0;
        f.batch->weight[2] = bad[i];
        assert_int_equal(aq_dqn_loss_of(f.batch, &f.values, 1, f.d_online, &loss), 0);
        assert_false(isfinite(loss.loss));
        aq_batch_destroy(f.batch);
    }
}

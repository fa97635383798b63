/*
 * R2D2's loss: what a step should be worth, at the end of a sequence, too; and what is rescaled.
 * That its numbers are right over whole updates is in test_golden_steps.c.
 */
#include "learner/algorithms/q_learning/sequence_loss.h"
#include "tests/support/test.h"

enum { STEPS = 4, ACTIONS = 2 };

static const uint32_t rows[STEPS + 1] = {0, 1, 2, 3, 4};
static const float target[(STEPS + 1) * ACTIONS] = {0, 9, 0, 20, 0, 30, 0, 40, 0, 50};
static const float chooser[(STEPS + 1) * ACTIONS] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
static const int32_t actions[STEPS] = {1, 0, 1, 0};

static aq_sequence_values values_of(const float *online, const float *reward,
                                    const float *bootstrap)
{
    return (aq_sequence_values){.steps = STEPS,
                                .row = rows,
                                .online = online,
                                .chooser = chooser,
                                .target = target,
                                .action = (const uint8_t *)actions,
                                .reward = reward,
                                .bootstrap = bootstrap};
}

/* With values of zero an error is what the step should be worth. */
TEST(steps_near_the_end_look_as_far_as_there_is)
{
    static const struct {
        uint32_t n_step;
        float last; /* what is left of the value at the end */
        float wanted[STEPS];
    } cases[] = {
        {1, 0.5f, {11, 17, 24, 33}},
        {2, 0.5f, {9.5f, 14, 20.5f, 33}},
        {3, 0.0f, {8, 6, 8, 8}},
        {9, 0.0f, {4, 6, 8, 8}},
    };
    static const float online[(STEPS + 1) * ACTIONS], reward[STEPS] = {1, 2, 4, 8};
    EACH_ROW(i, cases) {
        const float bootstrap[STEPS] = {0.5f, 0.5f, 0.5f, cases[i].last};
        const aq_sequence_values values = values_of(online, reward, bootstrap);
        const aq_sequence_rule rule = {
            .actions = ACTIONS, .n_step = cases[i].n_step, .huber_delta = 1000};
        float room[STEPS + 1], d[(STEPS + 1) * ACTIONS] = {0}, priority, greatest = 0, mean = 0;
        aq_value_figures figures = {0};
        double loss;
        assert_int_equal(
            aq_sequence_loss_of(&rule, &values, 2, room, d, &priority, &figures, &loss), 0);
        for (uint32_t t = 0; t < STEPS; t++) {
            const float should = cases[i].wanted[t];
            assert_float_equal(d[t * ACTIONS + (uint32_t)actions[t]], -2 * should, 1e-4f);
            assert_float_equal(d[t * ACTIONS + 1 - (uint32_t)actions[t]], 0, 0);
            greatest = fmaxf(greatest, should);
            mean += should / STEPS;
        }
        assert_float_equal(priority, 0.9f * greatest + 0.1f * mean, 1e-4f);
        assert_int_equal(figures.rows, STEPS);
    }
}

TEST(what_is_rescaled_comes_back)
{
    static const float values[] = {0, 1e-3f, 0.5f, -1, 30, -500, 1e6f};
    EACH_ROW(i, values) {
        const float there = aq_value_rescaled(values[i]);
        const float size = fabsf(values[i]);
        assert_float_equal(aq_value_restored(there), values[i], 1e-5f * (1 + size));
        assert_float_equal(fabsf(there), sqrtf(size + 1) - 1 + 1e-3f * size, 1e-5f * (1 + size));
    }
}

TEST(values_are_told_as_rewards_are_counted)
{
    static const float reward[STEPS], bootstrap[STEPS];
    float online[(STEPS + 1) * ACTIONS] = {0}, room[STEPS + 1], d[(STEPS + 1) * ACTIONS], priority;
    const aq_sequence_rule rule = {
        .actions = ACTIONS, .n_step = 1, .huber_delta = 1, .is_rescaled = true};
    const aq_sequence_values values = values_of(online, reward, bootstrap);
    aq_value_figures figures = {0};
    double loss;
    EACH_ROW(i, online) {
        online[i] = aq_value_rescaled(i == 1 ? 500 : -30);
    }
    assert_int_equal(aq_sequence_loss_of(&rule, &values, 1, room, d, &priority, &figures, &loss),
                     0);
    assert_float_equal(figures.greatest, 500, 0.1);
    assert_float_equal(figures.least, -30, 0.01);
}

/*
 * What is drawn at random, and what is added to greedy actions.
 */
#include "common/policy/exploration.h"

#include "tests/support/test.h"

enum { CHOICES = 4, ELEMENTS = 3 };

static const float low[ELEMENTS] = {-2.0f, 0.0f, -0.1f};
static const float high[ELEMENTS] = {2.0f, 1.0f, 0.3f};
static aq_space choices, box;

static int make_spaces(void **state)
{
    (void)state;
    aq_space_init_discrete(&choices, CHOICES);
    aq_space_init_box(&box, ELEMENTS, low, high);
    return 0;
}

TEST(random_choices_are_even)
{
    enum { DRAWS = 40000 };
    int seen[CHOICES] = {0};
    aq_rng rng = rng_of(1, 0);
    for (int i = 0; i < DRAWS; i++) {
        int32_t choice = -1;
        aq_action_random(&choices, &rng, &choice);
        assert_true(choice >= 0 && choice < CHOICES);
        seen[choice]++;
    }
    for (int i = 0; i < CHOICES; i++) {
        assert_true(abs(seen[i] - DRAWS / CHOICES) < 500);
    }
}

TEST(random_boxes_fill_their_bounds_evenly)
{
    enum { DRAWS = 20000 };
    double sum[ELEMENTS] = {0};
    float least[ELEMENTS] = {INFINITY, INFINITY, INFINITY};
    float most[ELEMENTS] = {-INFINITY, -INFINITY, -INFINITY};
    aq_rng rng = rng_of(1, 0);
    for (int draw = 0; draw < DRAWS; draw++) {
        float action[ELEMENTS];
        aq_action_random(&box, &rng, action);
        for (int i = 0; i < ELEMENTS; i++) {
            sum[i] += (double)action[i];
            least[i] = fminf(least[i], action[i]);
            most[i] = fmaxf(most[i], action[i]);
        }
    }
    for (int i = 0; i < ELEMENTS; i++) {
        const double range = (double)(high[i] - low[i]);
        assert_true(least[i] >= low[i] && (double)(least[i] - low[i]) < 0.01 * range);
        assert_true(most[i] <= high[i] && (double)(high[i] - most[i]) < 0.01 * range);
        assert_true(fabs(sum[i] / DRAWS - (double)(low[i] + high[i]) / 2) < 0.02 * range);
    }
}

/* A joint that is locked has one value. */
TEST(bounds_that_are_equal_leave_one_value)
{
    enum { LOCKED = 1 };
    aq_space joints = box;
    aq_rng rng = rng_of(1, 0);
    joints.low[LOCKED] = joints.high[LOCKED] = 0.3f;
    for (int draw = 0; draw < 100; draw++) {
        float action[ELEMENTS];
        aq_action_random(&joints, &rng, action);
        assert_true(action[LOCKED] == 0.3f);
        assert_true(action[0] >= low[0] && action[0] <= high[0]);
    }
}

TEST(epsilon_is_the_share_of_random_choices)
{
    enum { DRAWS = 40000, GREEDY = 2 };
    int others = 0;
    aq_rng rng = rng_of(1, 0);
    for (int i = 0; i < DRAWS; i++) {
        int32_t choice = GREEDY;
        aq_action_epsilon_greedy(&choices, &(aq_exploration){.epsilon = 0.2}, &rng, &choice);
        others += choice != GREEDY;
    }
    /* A random choice is the greedy one now and then. */
    assert_near((double)others / DRAWS, 0.2 * (CHOICES - 1) / CHOICES, 0.01);
}

TEST(noise_has_its_spread_and_stays_between_the_bounds)
{
    enum { DRAWS = 20000 };
    double squares = 0.0;
    aq_rng rng = rng_of(1, 0);
    for (int draw = 0; draw < DRAWS; draw++) {
        float action[ELEMENTS] = {0.0f, 0.99f, -0.1f};
        aq_action_perturb(&box, &(aq_exploration){.sigma = 0.1}, &rng, action);
        squares += (double)(action[0] * action[0]);
        for (int i = 0; i < ELEMENTS; i++) {
            assert_true(action[i] >= low[i] && action[i] <= high[i]);
        }
    }
    assert_true(fabs(sqrt(squares / DRAWS) - 0.1 * 2.0) < 0.005); /* half the range is 2 */
    float still[ELEMENTS] = {0.5f, 0.5f, 0.1f};
    aq_action_perturb(&box, &(aq_exploration){.sigma = 0.0}, &rng, still);
    assert_true(still[0] == 0.5f && still[1] == 0.5f && still[2] == 0.1f);
}

TEST_GROUP(make_spaces, NULL);

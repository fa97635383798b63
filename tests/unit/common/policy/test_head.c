/*
 * Heads: what is so for each of them, and how each acts.
 */
#include "common/policy/head.h"

#include "common/policy/exploration.h"
#include "common/policy/snapshot.h"
#include "tests/support/test.h"
#include "tests/unit/common/policy/head_kit.h"

enum { INPUTS = 3, OUTPUTS = 4, ROWS = 200 };

typedef struct acting {
    aq_head_terms terms; /* of the space below, and of ones as arrays */
    aq_net_spec spec;
    aq_space space;
} acting;

enum { ARRAYS_MAX = 64 };
static const float arrays[ARRAYS_MAX] = {0.1f, -0.2f, 0.3f, -0.4f, 0.5f, -0.6f, 0.7f, -0.8f};

static aq_net_spec network(enum aq_activation last)
{
    aq_net_spec spec;
    assert_int_equal(
        aq_net_spec_init_mlp(INPUTS, NULL, 0, OUTPUTS, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    spec.layers[0].activation = last;
    return spec;
}

/* NULL: the head makes no row of choices. */
static acting *acting_of(uint32_t head)
{
    static acting it;
    it = (acting){.spec = network(AQ_ACTIVATION_NONE)};
    if (!head_kit_fit(head, &it.spec, &it.space)) {
        it.spec = network(AQ_ACTIVATION_TANH);
        if (!head_kit_fit(head, &it.spec, &it.space)) {
            assert_true(head >= HEAD_KIT_ROW);
            return NULL;
        }
    }
    assert_true(aq_net_spec_array_values(&it.spec) <= ARRAYS_MAX);
    it.terms = (aq_head_terms){.head = aq_head_of(head_kit_number(head)),
                               .action = &it.space,
                               .width = OUTPUTS,
                               .arrays = arrays};
    return &it;
}

static void assert_lies_in(const aq_space *space, const void *action)
{
    if (space->kind == AQ_SPACE_DISCRETE) {
        assert_true(aq_space_has(space, action));
        return;
    }
    for (size_t i = 0; i < aq_space_elements(space); i++) {
        const float element = ((const float *)action)[i];
        assert_true(element >= space->low[i] && element <= space->high[i]);
    }
}

/* ---- of each head --------------------------------------------------------------------------- */

TEST(each_head_has_a_name_of_its_own)
{
    assert_null(aq_head_of(0));
    assert_null(aq_head_of(AQ_HEADS_END));
    assert_string_equal(aq_head_name(AQ_HEADS_END), "unknown");
    for (uint32_t a = 1; a < AQ_HEADS_END; a++) {
        for (uint32_t b = 1; b < a; b++) {
            assert_string_not_equal(aq_head_name(a), aq_head_name(b));
        }
    }
    assert_string_equal(aq_head_name(AQ_HEAD_ARGMAX), "argmax");
    assert_string_equal(aq_head_name(AQ_HEAD_TANH_BOX), "continuous");
}

/* Whether its actions are outputs that are spread between the bounds. */
static bool spreads(const aq_head *head)
{
    return head == aq_head_of(AQ_HEAD_TANH_BOX) ||
           (head->drawing != NULL && head->drawing->gaussian != NULL);
}

TEST(what_is_no_number_acts_in_the_middle_of_the_bounds)
{
    for (uint32_t head = 1; head < HEAD_KIT_END; head++) {
        const acting *it = acting_of(head);
        if (it == NULL || !spreads(it->terms.head)) {
            continue;
        }
        float outputs[OUTPUTS], actions[OUTPUTS];
        for (size_t i = 0; i < OUTPUTS; i++) {
            outputs[i] = NAN;
        }
        it->terms.head->act(&it->terms, outputs, 1, actions);
        for (size_t i = 0; i < aq_space_elements(&it->space); i++) {
            const size_t bound = aq_space_bound(&it->space, i);
            const float low = it->space.low[bound], high = it->space.high[bound];
            assert_true(actions[i] == low + 0.5f * (high - low));
        }
    }
}

TEST(actions_lie_in_their_space_whatever_the_outputs)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, -0.0f};
    for (uint32_t head = 1; head < HEAD_KIT_END; head++) {
        const acting *it = acting_of(head);
        if (it == NULL) {
            continue;
        }
        const size_t bytes = aq_space_bytes(&it->space);
        float outputs[ROWS * OUTPUTS];
        uint8_t actions[ROWS * OUTPUTS * sizeof(float)];
        aq_rng rng = rng_of(head, 0);
        for (size_t i = 0; i < ROWS * OUTPUTS; i++) {
            outputs[i] = i % 5 == 0 ? odd[i / 5 % 6] : (float)aq_rng_normal(&rng);
        }
        it->terms.head->act(&it->terms, outputs, ROWS, actions);
        for (size_t row = 0; row < ROWS; row++) {
            assert_lies_in(&it->space, actions + row * bytes);
        }
    }
}

TEST(several_choices_at_once_are_greedy_each_by_itself)
{
    static const uint32_t heads[] = {AQ_HEAD_ARGMAX, AQ_HEAD_CATEGORICAL};
    const float outputs[2][5] = {{0, 1, 2, 5, 4}, {9, 8, 7, NAN, 6}};
    EACH_ROW(i, heads) {
        int32_t actions[2][2];
        aq_space space;
        aq_space_init_choices(&space, 2, (uint32_t[]){3, 2});
        const aq_head_terms terms = {.head = aq_head_of(heads[i]), .action = &space, .width = 5};
        terms.head->act(&terms, &outputs[0][0], 2, &actions[0][0]);
        assert_memory_equal(actions, ((int32_t[2][2]){{2, 0}, {0, 1}}), sizeof(actions));
    }
}

TEST(exploring_moves_an_action_within_its_space_and_by_nothing_not_at_all)
{
    for (uint32_t head = 1; head < HEAD_KIT_END; head++) {
        const acting *it = acting_of(head);
        const float outputs[OUTPUTS] = {0.1f, 0.9f, -0.9f, 0.2f};
        uint8_t greedy[OUTPUTS * sizeof(float)], action[OUTPUTS * sizeof(float)];
        int moved = 0;
        aq_rng rng = rng_of(head, 0);
        if (it == NULL || it->terms.head->explore == NULL) {
            continue;
        }
        const size_t bytes = aq_space_bytes(&it->space);
        it->terms.head->act(&it->terms, outputs, 1, greedy);
        for (int row = 0; row < ROWS; row++) {
            memcpy(action, greedy, bytes);
            it->terms.head->explore(&it->space, &(aq_exploration){0}, &rng, action);
            assert_memory_equal(action, greedy, bytes);
            it->terms.head->explore(&it->space, &(aq_exploration){.epsilon = 0.8, .sigma = 0.8},
                                    &rng, action);
            assert_lies_in(&it->space, action);
            moved += memcmp(action, greedy, bytes) != 0;
        }
        assert_true(moved > ROWS / 3);
    }
}

TEST(what_differs_in_nothing_costs_nothing)
{
    const float outputs[OUTPUTS] = {0.1f, 0.9f, -0.9f, 0.2f};
    for (uint32_t head = 1; head < HEAD_KIT_END; head++) {
        const acting *it = acting_of(head);
        if (it == NULL) {
            continue;
        }
        const aq_head_cost cost = it->terms.head->cost(&it->terms, outputs, outputs);
        assert_true(cost.lost == 0);
        assert_true(cost.at_stake > 0);
    }
}

static void refuse(uint32_t head, enum aq_activation last, const aq_space *space, const char *words)
{
    const aq_net_spec spec = network(last);
    assert_refused(aq_head_of(head)->check(&spec, space, &refusal), AQ_E_SCHEMA, words);
}

TEST(what_a_head_cannot_act_in_is_refused)
{
    aq_space choices = {0}, row = {0}, box = {0}, wide = {0}, bytes;
    const float low[OUTPUTS + 1] = {0}, high[OUTPUTS + 1] = {1, 1, 1, 1, 1};
    aq_space_init_discrete(&choices, OUTPUTS + 1);
    aq_space_init_choices(&row, 2, (uint32_t[]){4, 2});
    aq_space_init_box(&box, OUTPUTS, low, high);
    aq_space_init_box(&wide, OUTPUTS + 1, low, high);
    bytes = box;
    bytes.dtype = AQ_DTYPE_U8;
    const struct {
        uint32_t head;
        enum aq_activation last;
        const aq_space *space;
        const char *words;
    } rows[] = {
        {AQ_HEAD_ARGMAX, AQ_ACTIVATION_NONE, &choices, "gives 4 values for 5 choices"},
        {AQ_HEAD_ARGMAX, AQ_ACTIVATION_NONE, &row, "gives 4 values for 6 choices"},
        {AQ_HEAD_ARGMAX, AQ_ACTIVATION_NONE, &box, "only a discrete action"},
        {AQ_HEAD_TANH_BOX, AQ_ACTIVATION_TANH, &row, "only to an action of numbers"},
        {AQ_HEAD_TANH_BOX, AQ_ACTIVATION_TANH, &choices, "only to an action of numbers"},
        {AQ_HEAD_TANH_BOX, AQ_ACTIVATION_TANH, &bytes, "only to an action of numbers"},
        {AQ_HEAD_TANH_BOX, AQ_ACTIVATION_TANH, &wide, "gives 4 values for an action of 5"},
        {AQ_HEAD_TANH_BOX, AQ_ACTIVATION_NONE, &box, "must end in tanh"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        refuse(rows[i].head, rows[i].last, rows[i].space, rows[i].words);
    }
}

/* ---- argmax --------------------------------------------------------------------------------- */

TEST(the_greatest_value_wins_and_the_first_of_equals)
{
    const float values[] = {-3.0f, 2.0f, 5.0f, 5.0f, -INFINITY};
    assert_int_equal(aq_argmax(values, 5), 2);
    assert_int_equal(aq_argmax(values, 1), 0);
}

TEST(nan_never_wins)
{
    const float values[] = {NAN, -INFINITY, NAN, -1.0f, NAN};
    const float none[] = {NAN, NAN};
    assert_int_equal(aq_argmax(values, 5), 3);
    assert_int_equal(aq_argmax(values, 2), 1);
    assert_int_equal(aq_argmax(none, 2), 0);
}

TEST(argmax_chooses_row_by_row_and_costs_the_value_that_it_loses)
{
    const aq_head *argmax = aq_head_of(AQ_HEAD_ARGMAX);
    const float outputs[2][3] = {{0, 2, 1}, {0, 1, 2}};
    aq_space space = {0};
    const aq_head_terms terms = {.head = argmax, .action = &space, .width = 3};
    const aq_head_cost cost = argmax->cost(&terms, outputs[0], outputs[1]);
    int32_t choices[2];
    aq_space_init_discrete(&space, 3);
    argmax->act(&terms, &outputs[0][0], 2, choices);
    assert_int_equal(choices[0], 1);
    assert_int_equal(choices[1], 2);
    assert_near(cost.lost, 1, 1e-12);     /* 2 less 1 */
    assert_near(cost.at_stake, 1, 1e-12); /* 2 less the mean of all */
    assert_true(argmax->cost(&terms, outputs[0], outputs[0]).lost == 0);
}

/* ---- tanh box ------------------------------------------------------------------------------- */

TEST(outputs_are_spread_between_the_bounds)
{
    enum { ELEMENTS = 3 };
    static const float low[ELEMENTS] = {-2.0f, 0.0f, -0.1f}, high[ELEMENTS] = {2.0f, 1.0f, 0.3f};
    const float outputs[][ELEMENTS] = {
        {-1, -1, -1}, {1, 1, 1}, {0, 0, 0}, {0.1f, 2, 1.5f}, {0.5f, -0.5f, 0.25f}, {-2, 9, -0.3f}};
    const uint32_t rows = sizeof(outputs) / sizeof(outputs[0]);
    float actions[sizeof(outputs) / sizeof(outputs[0])][ELEMENTS];
    aq_space space = {0};
    aq_space_init_box(&space, ELEMENTS, low, high);
    const aq_head_terms terms = {.action = &space, .width = ELEMENTS};
    aq_head_of(AQ_HEAD_TANH_BOX)->act(&terms, &outputs[0][0], rows, actions);
    for (uint32_t row = 0; row < rows; row++) {
        for (int i = 0; i < ELEMENTS; i++) {
            /* The formula of exported policies, in floats. */
            float spread = low[i] + (outputs[row][i] + 1.0f) / 2.0f * (high[i] - low[i]);
            spread = fminf(fmaxf(spread, low[i]), high[i]);
            assert_memory_equal(&actions[row][i], &spread, sizeof(spread));
        }
    }
    assert_true(actions[2][0] == 0.0f && actions[2][1] == 0.5f);
}

TEST(one_bound_holds_for_all_elements)
{
    const float outputs[] = {-1.0f, 0.0f, 1.0f};
    float action[3];
    aq_space space = {.kind = AQ_SPACE_BOX,
                      .dtype = AQ_DTYPE_F32,
                      .rank = 1,
                      .shape = {3},
                      .bound_count = 1,
                      .low = {-4.0f},
                      .high = {2.0f}};
    const aq_head_terms terms = {.action = &space, .width = 3};
    aq_head_of(AQ_HEAD_TANH_BOX)->act(&terms, outputs, 1, action);
    assert_true(action[0] == -4.0f && action[1] == -1.0f && action[2] == 2.0f);
}

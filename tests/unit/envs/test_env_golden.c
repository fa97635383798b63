/*
 * Values of a recording are found by name and length, and what is missing is said.
 */
#include "envs/env_golden.h"
#include "tests/support/test.h"

static const double positions[] = {1, 2};
static const double speeds[] = {3};

static const aq_golden_values values = {
    .count = 2,
    .rows = {{"qpos", 2, positions}, {"qvel", 1, speeds}},
};

TEST(a_value_is_found_by_its_name_and_length)
{
    assert_ptr_equal(aq_golden_find(&values, "qpos", 2), positions);
    assert_ptr_equal(aq_golden_find(&values, "qvel", 1), speeds);
    assert_null(aq_golden_find(&values, "qpos", 1));
    assert_null(aq_golden_find(&values, "act", 1));
}

TEST(a_value_is_copied)
{
    double out[3] = {-1, -1, -1};
    assert_succeeds(aq_golden_copy(&values, "qpos", 2, out, &refusal));
    assert_true(out[0] == 1 && out[1] == 2 && out[2] == -1);
}

TEST(what_is_missing_or_of_another_length_is_said)
{
    double out = -1;
    assert_int_equal(aq_golden_copy(&values, "act", 1, &out, &refusal), AQ_E_INVALID);
    assert_string_equal(refusal.text, "the recording has no 'act'");
    assert_int_equal(aq_golden_copy(&values, "qpos", 1, &out, &refusal), AQ_E_INVALID);
    assert_string_equal(refusal.text, "the recording's 'qpos' has 2 numbers, not 1");
    assert_true(out == -1);
}

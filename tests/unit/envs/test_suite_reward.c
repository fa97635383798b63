/*
 * The tolerance function gives the original's values.
 */
#include "envs/mujoco/suite_reward.h"
#include "tests/support/test.h"
#include "tests/unit/envs/golden_suite.h"

enum { X, LOW, HIGH, MARGIN, VALUE_AT_MARGIN, RESULT, COLUMNS };

static double ours(const char *falloff, const double *row)
{
    if (strcmp(falloff, "gaussian") == 0) {
        assert_true(row[VALUE_AT_MARGIN] == 0.1);
        return aq_tolerance_gaussian(row[X], row[LOW], row[HIGH], row[MARGIN]);
    }
    assert_string_equal(falloff, "linear");
    return aq_tolerance_linear(row[X], row[LOW], row[HIGH], row[MARGIN], row[VALUE_AT_MARGIN]);
}

TEST(tolerance_is_the_originals)
{
    suite_line line;
    size_t rows = 0;
    FILE *file = suite_golden_open("dmc/tolerance.csv");
    while (suite_golden_next(file, &line)) {
        double row[SUITE_NUMBERS_MAX];
        assert_int_equal(suite_golden_numbers(&line, row), COLUMNS);
        const double value = ours(line.kind, row);
        if (!(suite_golden_error(value, row[RESULT]) <= 1e-15)) {
            fail_msg("%s of %g is %.17g and not %.17g", line.kind, row[X], value, row[RESULT]);
        }
        rows++;
    }
    (void)fclose(file);
    assert_true(rows > 100);
}

TEST(without_a_margin_nothing_is_left_outside)
{
    assert_true(aq_tolerance_gaussian(0.71, -0.5, 0.7, 0) == 0);
    assert_true(aq_tolerance_gaussian(0.7, -0.5, 0.7, 0) == 1);
}

TEST(far_away_nothing_is_left)
{
    assert_true(aq_tolerance_gaussian(1e9, 0, 1, 1) == 0);
    assert_true(aq_tolerance_gaussian(-INFINITY, 0, 1, 1) == 0);
    assert_true(aq_tolerance_linear(2, 0, 1, 1, 0) == 0);
}

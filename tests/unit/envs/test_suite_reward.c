/*
 * The tolerance function gives the original's values.
 */
#include "envs/mujoco/suite_reward.h"
#include "tests/support/test.h"
#include "tests/unit/envs/golden_suite.h"

enum { X, LOW, HIGH, MARGIN, VALUE_AT_MARGIN, RESULT, COLUMNS };

static enum aq_falloff falloff_of(const char *name)
{
    if (strcmp(name, "gaussian") == 0) {
        return AQ_FALLOFF_GAUSSIAN;
    }
    if (strcmp(name, "linear") == 0) {
        return AQ_FALLOFF_LINEAR;
    }
    assert_string_equal(name, "quadratic");
    return AQ_FALLOFF_QUADRATIC;
}

TEST(tolerance_is_the_originals)
{
    suite_line line;
    size_t rows = 0;
    FILE *file = golden_open("dmc/tolerance.csv");
    while (suite_golden_next(file, &line)) {
        double row[SUITE_NUMBERS_MAX];
        assert_int_equal(suite_golden_numbers(&line, row), COLUMNS);
        const double ours = aq_tolerance(row[X], row[LOW], row[HIGH], row[MARGIN],
                                         row[VALUE_AT_MARGIN], falloff_of(line.kind));
        if (!(suite_golden_error(ours, row[RESULT]) <= 1e-15)) {
            fail_msg("%s of %g is %.17g and not %.17g", line.kind, row[X], ours, row[RESULT]);
        }
        rows++;
    }
    (void)fclose(file);
    assert_true(rows > 200);
}

TEST(the_defaults_are_those_of_the_full_form)
{
    for (double x = -3; x < 3; x += 0.01) {
        const double full = aq_tolerance(x, -0.5, 0.7, 1.3, 0.1, AQ_FALLOFF_GAUSSIAN);
        assert_true(fabs(aq_tolerance_gaussian(x, -0.5, 0.7, 1.3) - full) <= 1e-15);
    }
    assert_true(aq_tolerance_gaussian(0.71, -0.5, 0.7, 0) == 0);
    assert_true(aq_tolerance_gaussian(0.7, -0.5, 0.7, 0) == 1);
}

TEST(far_away_nothing_is_left)
{
    assert_true(aq_tolerance_gaussian(1e9, 0, 1, 1) == 0);
    assert_true(aq_tolerance_gaussian(-INFINITY, 0, 1, 1) == 0);
    assert_true(aq_tolerance(2, 0, 1, 1, 0, AQ_FALLOFF_LINEAR) == 0);
    assert_true(aq_tolerance(2, 0, 1, 1, 0, AQ_FALLOFF_QUADRATIC) == 0);
}

/*
 * A spark line has few cells however many values there are, from the least to the greatest.
 */
#include "cli/text/spark_line.h"
#include "tests/support/test.h"

static const char *drawn(size_t count, double slope)
{
    static char out[AQ_SPARK_BYTES];
    aq_spark spark = {0};
    for (size_t i = 0; i < count; i++) {
        aq_spark_add(&spark, slope * (double)i);
    }
    return aq_spark_draw(&spark, out);
}

TEST(the_least_is_low_and_the_greatest_high)
{
    assert_string_equal(drawn(0, 1), "");
    assert_string_equal(drawn(1, 1), "");
    assert_string_equal(drawn(2, 1), "▁█");
    assert_string_equal(drawn(3, -1), "█▅▁");
    assert_string_equal(drawn(4, 0), "▁▁▁▁");
}

TEST(many_values_share_the_cells)
{
    for (size_t count = AQ_SPARK_CELLS; count < 5000; count += 7) {
        const char *line = drawn(count, 1);
        assert_in_range(strlen(line), 3 * AQ_SPARK_CELLS / 2, 3 * AQ_SPARK_CELLS);
        assert_true(strncmp(line, "▁", 3) == 0);
        assert_string_equal(line + strlen(line) - 3, "█");
    }
}

TEST(what_is_no_number_is_passed_over)
{
    char out[AQ_SPARK_BYTES];
    aq_spark spark = {0};
    aq_spark_add(&spark, 1);
    aq_spark_add(&spark, (double)NAN);
    aq_spark_add(&spark, (double)INFINITY);
    aq_spark_add(&spark, 2);
    assert_string_equal(aq_spark_draw(&spark, out), "▁█");
}

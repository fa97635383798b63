/*
 * Numbers from JSON that somebody else wrote: rows of one width, or a sentence that says why not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/text/number_matrix.h"
#include "common/base/memory.h"
#include "tests/unit/cli/cli_fixture.h"

static json_t *parse(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    return value;
}

static aq_number_matrix read_whole(const char *text)
{
    aq_number_matrix matrix;
    aq_error error = {0};
    json_t *value = parse(text);
    assert_int_equal(aq_number_matrix_read(value, "x", &matrix, &error), 0);
    json_decref(value);
    return matrix;
}

static void assert_refused(const char *text, int code, const char *words)
{
    aq_number_matrix matrix = {.rows = 77};
    aq_error error = {0};
    json_t *value = parse(text);
    assert_int_equal(aq_number_matrix_read(value, "x", &matrix, &error), code);
    assert_int_equal(matrix.rows, 77);
    cli_assert_in(error.text, words);
    json_decref(value);
}

static void test_rows_of_numbers_are_read(void **state)
{
    (void)state;
    aq_number_matrix matrix = read_whole("[[1, 2.5], [-3, 4e-3]]");
    assert_int_equal(matrix.rows, 2);
    assert_int_equal(matrix.width, 2);
    assert_true(aq_number_matrix_row(&matrix, 1)[0] == -3.0);
    assert_true(aq_number_matrix_row(&matrix, 1)[1] == 4e-3);
    aq_number_matrix_fini(&matrix);
    assert_null(aq_number_matrix_row(&matrix, 0));
}

static void test_plain_numbers_and_truths_are_rows_of_one(void **state)
{
    (void)state;
    aq_number_matrix matrix = read_whole("[1, true, false]");
    assert_int_equal(matrix.rows, 3);
    assert_int_equal(matrix.width, 1);
    assert_true(matrix.numbers[1] == 1.0 && matrix.numbers[2] == 0.0);
    aq_number_matrix_fini(&matrix);
}

static void test_rows_may_be_none_or_empty(void **state)
{
    (void)state;
    aq_number_matrix matrix = read_whole("[]");
    assert_int_equal(matrix.rows, 0);
    aq_number_matrix_fini(&matrix);
    matrix = read_whole("[[], []]");
    assert_int_equal(matrix.rows, 2);
    assert_int_equal(matrix.width, 0);
    aq_number_matrix_fini(&matrix);
}

static void test_what_is_no_matrix_is_refused_by_name_and_row(void **state)
{
    (void)state;
    assert_refused("{}", AQ_E_CORRUPT, "'x' is missing or no array");
    assert_refused("[[1, 2], [3]]", AQ_E_CORRUPT,
                   "row 1 of 'x' has 1 numbers, but the first has 2");
    assert_refused("[[1], [\"a\"]]", AQ_E_CORRUPT,
                   "row 1 of 'x' holds something that is no number");
    assert_refused("[[[1]]]", AQ_E_CORRUPT, "no number");
    assert_refused("[null]", AQ_E_CORRUPT, "no number");
    aq_number_matrix matrix;
    aq_error error = {0};
    assert_int_equal(aq_number_matrix_read(NULL, "x", &matrix, &error), AQ_E_CORRUPT);
    assert_int_equal(aq_number_row_read(NULL, "x", &matrix, &error), AQ_E_CORRUPT);
    cli_assert_in(error.text, "'x' is missing");
}

static void test_one_row_is_an_array_or_a_number(void **state)
{
    aq_number_matrix matrix;
    aq_error error = {0};
    (void)state;
    json_t *value = parse("[1, 2, 3]");
    assert_int_equal(aq_number_row_read(value, "x", &matrix, &error), 0);
    assert_int_equal(matrix.rows, 1);
    assert_int_equal(matrix.width, 3);
    aq_number_matrix_fini(&matrix);
    json_decref(value);
    value = parse("7");
    assert_int_equal(aq_number_row_read(value, "x", &matrix, &error), 0);
    assert_int_equal(matrix.width, 1);
    assert_true(matrix.numbers[0] == 7.0);
    aq_number_matrix_fini(&matrix);
    json_decref(value);
}

static void test_without_memory_there_is_no_matrix(void **state)
{
    aq_number_matrix matrix;
    aq_error error = {0};
    (void)state;
    json_t *value = parse("[1]");
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_number_matrix_read(value, "x", &matrix, &error), AQ_E_NOMEM);
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_number_row_read(value, "x", &matrix, &error), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    json_decref(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_numbers_are_read),
        cmocka_unit_test(test_plain_numbers_and_truths_are_rows_of_one),
        cmocka_unit_test(test_rows_may_be_none_or_empty),
        cmocka_unit_test(test_what_is_no_matrix_is_refused_by_name_and_row),
        cmocka_unit_test(test_one_row_is_an_array_or_a_number),
        cmocka_unit_test(test_without_memory_there_is_no_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

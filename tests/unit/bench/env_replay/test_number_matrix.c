/*
 * Numbers from JSON that somebody else wrote: rows of one width, or a sentence that says why not.
 */
#include "bench/env_replay/number_matrix.h"
#include "tests/support/test.h"
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
    json_t *value = parse(text);
    assert_succeeds(aq_number_matrix_read(value, "x", &matrix, &refusal));
    json_decref(value);
    return matrix;
}

static void refuse(const char *text, int code, const char *words)
{
    aq_number_matrix matrix = {.rows = 77};
    json_t *value = parse(text);
    assert_int_equal(aq_number_matrix_read(value, "x", &matrix, &refusal), code);
    assert_int_equal(matrix.rows, 77);
    assert_says(refusal.text, words);
    json_decref(value);
}

TEST(rows_of_numbers_are_read)
{
    aq_number_matrix matrix = read_whole("[[1, 2.5], [-3, 4e-3]]");
    assert_int_equal(matrix.rows, 2);
    assert_int_equal(matrix.width, 2);
    assert_true(aq_number_matrix_row(&matrix, 1)[0] == -3.0);
    assert_true(aq_number_matrix_row(&matrix, 1)[1] == 4e-3);
    aq_number_matrix_fini(&matrix);
    assert_null(aq_number_matrix_row(&matrix, 0));
}

TEST(plain_numbers_and_truths_are_rows_of_one)
{
    aq_number_matrix matrix = read_whole("[1, true, false]");
    assert_int_equal(matrix.rows, 3);
    assert_int_equal(matrix.width, 1);
    assert_true(matrix.numbers[1] == 1.0 && matrix.numbers[2] == 0.0);
    aq_number_matrix_fini(&matrix);
}

TEST(rows_may_be_none_or_empty)
{
    aq_number_matrix matrix = read_whole("[]");
    assert_int_equal(matrix.rows, 0);
    aq_number_matrix_fini(&matrix);
    matrix = read_whole("[[], []]");
    assert_int_equal(matrix.rows, 2);
    assert_int_equal(matrix.width, 0);
    aq_number_matrix_fini(&matrix);
}

TEST(what_is_no_matrix_is_refused_by_name_and_row)
{
    refuse("{}", AQ_E_CORRUPT, "'x' is missing or no array");
    refuse("[[1, 2], [3]]", AQ_E_CORRUPT, "row 1 of 'x' has 1 numbers, but the first has 2");
    refuse("[[1], [\"a\"]]", AQ_E_CORRUPT, "row 1 of 'x' holds something that is no number");
    refuse("[[[1]]]", AQ_E_CORRUPT, "no number");
    refuse("[null]", AQ_E_CORRUPT, "no number");
    aq_number_matrix matrix;
    assert_int_equal(aq_number_matrix_read(NULL, "x", &matrix, &refusal), AQ_E_CORRUPT);
    assert_refused(aq_number_row_read(NULL, "x", &matrix, &refusal), AQ_E_CORRUPT,
                   "'x' is missing");
}

TEST(one_row_is_an_array_or_a_number)
{
    aq_number_matrix matrix;
    json_t *value = parse("[1, 2, 3]");
    assert_succeeds(aq_number_row_read(value, "x", &matrix, &refusal));
    assert_int_equal(matrix.rows, 1);
    assert_int_equal(matrix.width, 3);
    aq_number_matrix_fini(&matrix);
    json_decref(value);
    value = parse("7");
    assert_succeeds(aq_number_row_read(value, "x", &matrix, &refusal));
    assert_int_equal(matrix.width, 1);
    assert_true(matrix.numbers[0] == 7.0);
    aq_number_matrix_fini(&matrix);
    json_decref(value);
}

TEST(without_memory_there_is_no_matrix)
{
    aq_number_matrix matrix;
    json_t *value = parse("[1]");
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_number_matrix_read(value, "x", &matrix, &refusal), AQ_E_NOMEM);
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_number_row_read(value, "x", &matrix, &refusal), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    json_decref(value);
}

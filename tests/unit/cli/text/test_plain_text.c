/*
 * Nothing that a peer says can move a cursor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text/plain_text.h"

static void assert_plain(const char *text, size_t size, const char *expected)
{
    char out[64];
    memset(out, 'x', sizeof(out));
    assert_ptr_equal(aq_plain_text(out, size, text), out);
    assert_string_equal(out, expected);
}

static void test_plain_characters_stay(void **state)
{
    (void)state;
    assert_plain("box-1 (\xc3\xa4\xe2\x82\xac)", 64, "box-1 (\xc3\xa4\xe2\x82\xac)");
    assert_plain("", 64, "");
}

static void test_control_characters_become_question_marks(void **state)
{
    (void)state;
    assert_plain("a\033[2Jb\r\n\tc\x7f", 64, "a?[2Jb???c?");
    assert_plain("a\xc2\x9b"
                 "2J",
                 64, "a?2J"); /* CSI in one character */
}

static void test_bytes_that_are_not_utf8_become_question_marks(void **state)
{
    (void)state;
    assert_plain("a\xff\xfe"
                 "b",
                 64, "a??b");
    assert_plain("a\xe2\x82", 64, "a??"); /* cut within a character */
    assert_plain("\xc0\xaf", 64, "??");   /* overlong */
}

static void test_a_long_text_is_cut_between_characters(void **state)
{
    (void)state;
    assert_plain("abcdef", 4, "abc");
    assert_plain("ab\xe2\x82\xac", 5, "ab");
    assert_plain("abc", 1, "");
}

static void test_columns_count_characters(void **state)
{
    (void)state;
    assert_int_equal(aq_plain_columns(""), 0);
    assert_int_equal(aq_plain_columns("a\xc3\xa4\xe2\x82\xac"), 3);
}

static void test_a_fact_is_one_aligned_line(void **state)
{
    char *text = NULL;
    size_t size = 0;
    (void)state;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    aq_print_fact(out, "run", "%s of %d", "first\nsecond", 3);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "  run             first?second of 3\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_characters_stay),
        cmocka_unit_test(test_control_characters_become_question_marks),
        cmocka_unit_test(test_bytes_that_are_not_utf8_become_question_marks),
        cmocka_unit_test(test_a_long_text_is_cut_between_characters),
        cmocka_unit_test(test_columns_count_characters),
        cmocka_unit_test(test_a_fact_is_one_aligned_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

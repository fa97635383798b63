/*
 * Nothing that a peer says can move a cursor.
 */
#include "common/base/plain_text.h"
#include "tests/support/test.h"

static void assert_plain(const char *text, size_t size, const char *expected)
{
    char out[64];
    memset(out, 'x', sizeof(out));
    assert_ptr_equal(aq_plain_text(out, size, text), out);
    assert_string_equal(out, expected);
}

TEST(plain_characters_stay)
{
    assert_plain("box-1 (\xc3\xa4\xe2\x82\xac)", 64, "box-1 (\xc3\xa4\xe2\x82\xac)");
    assert_plain("", 64, "");
}

TEST(control_characters_become_question_marks)
{
    assert_plain("a\033[2Jb\r\n\tc\x7f", 64, "a?[2Jb???c?");
    assert_plain("a\xc2\x9b"
                 "2J",
                 64, "a?2J"); /* CSI in one character */
}

TEST(bytes_that_are_not_utf8_become_question_marks)
{
    assert_plain("a\xff\xfe"
                 "b",
                 64, "a??b");
    assert_plain("a\xe2\x82", 64, "a??"); /* cut within a character */
    assert_plain("\xc0\xaf", 64, "??");   /* overlong */
}

TEST(a_long_text_is_cut_between_characters)
{
    assert_plain("abcdef", 4, "abc");
    assert_plain("ab\xe2\x82\xac", 5, "ab");
    assert_plain("abc", 1, "");
}

TEST(columns_count_characters)
{
    assert_int_equal(aq_plain_columns(""), 0);
    assert_int_equal(aq_plain_columns("a\xc3\xa4\xe2\x82\xac"), 3);
}

TEST(a_line_is_one_line)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    aq_print_fact(out, "run", "%s of %d", "first\nsecond", 3);
    aq_print_line(out, "%s: %s", "task", "a\033]0;title\a\nb");
    aq_print_failure(out, "actorq", "Traceback:\n  in step\n\033boom");
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "  run             first?second of 3\ntask: a?]0;title??b\n"
                              "actorq: Traceback:\n    in step\n  ?boom\n");
    free(text);
}

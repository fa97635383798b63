/*
 * What a shell is given is what it makes of it.
 */
#include "cli/text/shell_text.h"
#include "tests/support/test.h"

TEST(a_word_is_quoted_where_a_shell_would_read_something_into_it)
{
    static const struct {
        const char *word, *shown;
    } cases[] = {
        {"runs/gym-CartPole-v1", "runs/gym-CartPole-v1"},
        {"so:./a.so?x=1", "'so:./a.so?x=1'"},
        {"my runs", "'my runs'"},
        {"it's", "'it'\\''s'"},
        {"~/a", "'~/a'"},
        {"", "''"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char shown[64];
        assert_string_equal(aq_shell_word(shown, sizeof(shown), cases[i].word), cases[i].shown);
    }
}

TEST(a_word_that_does_not_fit_is_cut)
{
    char shown[16];
    assert_true(strlen(aq_shell_word(shown, sizeof(shown), "a word that is longer")) < 16);
    assert_true(strlen(aq_shell_word(shown, sizeof(shown), "''''''''''''''''''''")) < 16);
}

TEST(the_program_is_called_as_it_was)
{
    char shown[64];
    assert_int_equal(unsetenv("ACTORQ_CALLED_AS"), 0);
    assert_string_equal(aq_shell_program(shown, sizeof(shown)), "actorq");
    assert_int_equal(setenv("ACTORQ_CALLED_AS", "./run", 1), 0);
    assert_string_equal(aq_shell_program(shown, sizeof(shown)), "./run");
    assert_int_equal(unsetenv("ACTORQ_CALLED_AS"), 0);
}

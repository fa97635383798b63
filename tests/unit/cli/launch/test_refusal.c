/*
 * What a daemon said is found in its log, whatever stands around it.
 */
#include "cli/launch/refusal.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST_IN_FOLDER(the_last_words_of_a_program_are_found)
{
    char words[64] = "";
    const char *log = cli_path(state, "a.log");
    assert_false(aq_refusal_read(log, 0, words, sizeof(words)));
    file_put_text(log, "ts=1 level=info event=joined\nactorq-actor: one\nactorq-actor: two\n"
                       "level=info event=left msg=\"actorq-actor: three\"\n");
    assert_true(aq_refusal_read(log, 0, words, sizeof(words)));
    assert_string_equal(words, "two");
}

TEST_IN_FOLDER(words_of_an_earlier_life_are_passed_over)
{
    static const char before[] = "actorq-learner: the disk is full\n";
    char words[64] = "";
    const char *log = cli_path(state, "a.log");
    file_put_text(log, "actorq-learner: the disk is full\nlevel=info event=resumed\n");
    assert_false(aq_refusal_read(log, sizeof(before) - 1, words, sizeof(words)));
    assert_string_equal(words, "");
}

/* What it is to who asks: a folder may only be removed of a run that was refused at its start. */
TEST_IN_FOLDER(only_a_first_start_is_refused_by_a_peer)
{
    const char *log = cli_path(state, "a.log");
    file_put_text(log, "actorq-learner: the port is taken\n");
    aq_child_end end = {.name = "learner",
                        .log_path = log,
                        .how = "exit status 1",
                        .has_refused = true,
                        .is_first = true};
    aq_error error = {0};
    aq_refusal_tell(&end, &error);
    assert_int_equal(error.code, AQ_E_PEER);
    assert_string_equal(error.text, "learner: the port is taken");
    end.is_first = false;
    aq_refusal_tell(&end, &error);
    assert_int_equal(error.code, AQ_E_IO);
    assert_string_equal(error.text, "learner: the port is taken");
    end.has_refused = false;
    aq_refusal_tell(&end, &error);
    assert_int_equal(error.code, AQ_E_IO);
    assert_says(error.text, "learner keeps dying (exit status 1)");
}

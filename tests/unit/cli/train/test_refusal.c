/*
 * What a daemon said is found in its log, whatever stands around it.
 */
#include "cli/train/refusal.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST_IN_FOLDER(the_last_words_of_a_program_are_found)
{
    char words[64] = "";
    const char *log = cli_path(state, "a.log");
    assert_false(aq_refusal_read(log, words, sizeof(words)));
    file_put_text(log, "ts=1 level=info event=joined\nactorq-actor: one\nactorq-actor: two\n"
                       "level=info event=left msg=\"actorq-actor: three\"\n");
    assert_true(aq_refusal_read(log, words, sizeof(words)));
    assert_string_equal(words, "two");
}

/*
 * What a daemon said is found in its log, whatever stands around it.
 */
#include "cli/train/refusal.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static const char failed[] =
    "ts=2026-01-31T12:00:00.000Z level=warn role=actor id=0 event=env_failed failures=%d "
    "reason=\"py:a:B: Traceback:\\n  a said \\\"no\\\"\\nKeyError: %d\" msg=\"another is begun\"\n";

TEST_IN_FOLDER(the_last_words_of_a_program_are_found)
{
    char words[64] = "";
    const char *log = cli_path(state, "a.log");
    assert_false(aq_refusal_read(log, words, sizeof(words)));
    cli_write_text(log, "ts=1 level=info event=joined\nactorq-actor: one\nactorq-actor: two\n"
                        "level=info event=left msg=\"actorq-actor: three\"\n");
    assert_true(aq_refusal_read(log, words, sizeof(words)));
    assert_string_equal(words, "two");
}

TEST_IN_FOLDER(why_an_environment_failed_last_is_read_as_it_was_written)
{
    char reason[128] = "", log[1024];
    const char *path = cli_path(state, "a.log");
    cli_write_text(path, "ts=1 level=info event=joined reason=\"none\"\n");
    assert_false(aq_env_failure_read(path, reason, sizeof(reason)));
    int used = snprintf(log, sizeof(log), failed, 1, 1);
    used += snprintf(log + used, sizeof(log) - (size_t)used, failed, 2, 2);
    (void)snprintf(log + used, sizeof(log) - (size_t)used, "ts=2 level=info event=left\n");
    cli_write_text(path, log);
    assert_true(aq_env_failure_read(path, reason, sizeof(reason)));
    assert_string_equal(reason, "py:a:B: Traceback:\n  a said \"no\"\nKeyError: 2");
}

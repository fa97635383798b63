/*
 * Logs of several daemons come as one, in the order of time, however they are written.
 */
#include "cli/watch/log_merge.h"
#include "cli/watch/log_view.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static void append(void **state, const char *name, const char *text)
{
    FILE *file = fopen(file_in(cli_path(state, "logs"), name), "a");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
    const int rc = cli_fixture_setup(state);
    cli_make_folder(cli_path(state, "logs"));
    return rc;
}

#define TEST_OF_LOGS(name) TEST_WITH(name, make_folder, cli_fixture_teardown)

TEST_ENDING(end_merge, aq_log_merge_close);

static aq_log_merge *open_all(void **state)
{
    aq_log_merge *merge = NULL;
    assert_succeeds(aq_log_merge_open(*state, &merge, &refusal));
    at_end(end_merge, merge);
    return merge;
}

/* What is there now, as it is shown. */
static void expect(aq_log_merge *merge, bool is_final, bool as_json, const char *shown)
{
    const char *name, *time;
    const aq_log_line *line;
    aq_log_view view = {.as_json = as_json};
    FILE *out = cli_print_begin();
    while ((line = aq_log_merge_next(merge, is_final, &name, &time)) != NULL) {
        aq_log_view_print(&view, out, line, name, time);
    }
    assert_string_equal(cli_print_end(), shown);
}

TEST_OF_LOGS(lines_of_several_logs_come_in_the_order_of_time)
{
    append(state, "actor-0.log",
           "ts=2026-11-20T10:00:01.000Z level=info role=actor id=0 event=b x=1\n"
           "ts=2026-11-21T00:00:00.000Z level=error role=actor id=0 event=d\n");
    append(state, "learner.log",
           "{\"ts\":\"2026-11-20T10:00:00.500Z\",\"level\":\"info\",\"role\":\"learner\","
           "\"event\":\"a\",\"msg\":\"so it \\\"goes\\\"\"}\n"
           "{\"ts\":\"2026-11-20T10:00:02.000Z\",\"level\":\"warn\",\"role\":\"learner\","
           "\"event\":\"c\"}\n");
    append(state, "notes.txt", "no log\n");
    aq_log_merge *merge = open_all(state);
    expect(merge, true, false,
           "2026-11-20 (UTC)\n"
           "10:00:00.500 info  learner      a  so it \"goes\"\n"
           "10:00:01.000 info  actor-0      b x=1\n"
           "10:00:02.000 warn  learner      c\n"
           "2026-11-21 (UTC)\n"
           "00:00:00.000 error actor-0      d\n");
}

/* Some machines begin with a wrong time. */
TEST_OF_LOGS(a_clock_that_was_ahead_once_is_believed_again)
{
    append(state, "learner.log",
           "ts=2027-01-01T00:00:00.000Z level=info role=learner event=a\n"
           "ts=2026-11-20T10:00:00.000Z level=info role=learner event=b\n"
           "words\n");
    append(state, "actor-0.log",
           "ts=2026-11-20T11:00:00.000Z level=info role=actor id=0 event=c\n"
           "ts=2027-01-01T00:00:01.000Z level=info role=actor id=0 event=d\n");
    expect(open_all(state), true, false,
           "2026-11-20 (UTC)\n"
           "11:00:00.000 info  actor-0      c\n"
           "2027-01-01 (UTC)\n"
           "00:00:00.000 info  learner      a\n"
           "2026-11-20 (UTC)\n"
           "10:00:00.000 info  learner      b\n"
           "10:00:00.000 -     learner      words\n"
           "2027-01-01 (UTC)\n"
           "00:00:01.000 info  actor-0      d\n");
}

TEST_OF_LOGS(a_text_stands_where_the_line_above_it_stands)
{
    append(state, "learner.log",
           "ts=2026-11-20T10:00:00.000Z level=info role=learner event=a\n"
           "==1==ERROR: overflow\n");
    append(state, "actor-0.log",
           "ts=2026-11-20T10:00:00.001Z level=info role=actor id=0 event=b\n");
    aq_log_merge *merge = open_all(state);
    expect(merge, true, true,
           "{\"ts\":\"2026-11-20T10:00:00.000Z\",\"level\":\"info\",\"role\":\"learner\","
           "\"event\":\"a\"}\n"
           "{\"ts\":\"2026-11-20T10:00:00.000Z\",\"file\":\"learner\",\"text\":\"==1==ERROR: "
           "overflow\"}\n"
           "{\"ts\":\"2026-11-20T10:00:00.001Z\",\"level\":\"info\",\"role\":\"actor\",\"id\":0,"
           "\"event\":\"b\"}\n");
}

TEST_OF_LOGS(a_line_without_its_end_waits_for_it)
{
    append(state, "learner.log", "ts=2026-11-20T10:00:00.000Z level=info role=lear");
    aq_log_merge *merge = open_all(state);
    expect(merge, false, false, "");
    append(state, "learner.log", "ner event=a\n");
    expect(merge, false, false, "2026-11-20 (UTC)\n10:00:00.000 info  learner      a\n");
    append(state, "learner.log", "the last words");
    expect(merge, true, false,
           "2026-11-20 (UTC)\n10:00:00.000 -     learner      the last words\n");
}

TEST_OF_LOGS(a_log_that_begins_later_is_found)
{
    append(state, "learner.log", "ts=2026-11-20T10:00:00.000Z level=info role=learner event=a\n");
    aq_log_merge *merge = open_all(state);
    expect(merge, false, false, "2026-11-20 (UTC)\n10:00:00.000 info  learner      a\n");
    append(state, "actor-9.log",
           "ts=2026-11-20T10:00:01.000Z level=debug role=actor id=9 event=b\n");
    assert_int_equal(aq_log_merge_refresh(merge, NULL), 0);
    expect(merge, false, false, "2026-11-20 (UTC)\n10:00:01.000 debug actor-9      b\n");
}

TEST_OF_LOGS(nothing_that_was_logged_reaches_the_terminal_as_a_command)
{
    append(state, "learner.log",
           "ts=2026-11-20T10:00:00.000Z level=info role=learner event=a x=\x1b[2J\n"
           "\x1b[31mred\n"
           "ts=\x1b[31m2026-11-21T10:00:01.000Z level=info role=learner event=b x=\"\x1b[2J\" "
           "msg=\"\xc2\x9b\"\n");
    append(state, "\x1b[2J.log", "words\n");
    expect(open_all(state), true, false,
           "             -     ?[2J         words\n"
           "2026-11-20 (UTC)\n10:00:00.000 info  learner      a x=?[2J\n"
           "10:00:00.000 -     learner      ?[31mred\n"
           "10:00:00.000 info  learner      b x=\"?[2J\"  ?\n");
    expect(open_all(state), true, true,
           "{\"ts\":\"\",\"file\":\"?[2J\",\"text\":\"words\"}\n"
           "{\"ts\":\"2026-11-20T10:00:00.000Z\",\"level\":\"info\",\"role\":\"learner\","
           "\"event\":\"a\",\"x\":\"?[2J\"}\n"
           "{\"ts\":\"2026-11-20T10:00:00.000Z\",\"file\":\"learner\",\"text\":\"?[31mred\"}\n"
           "{\"ts\":\"\",\"level\":\"info\",\"role\":\"learner\",\"event\":\"b\","
           "\"x\":\"?[2J\",\"msg\":\"?\"}\n");
}

static void expect_refusal(const char *path, int code, const char *word)
{
    aq_log_merge *merge = NULL;
    assert_refused(aq_log_merge_open(path, &merge, &refusal), code, word);
}

TEST_OF_LOGS(where_there_are_no_logs_it_says_where_they_are)
{
    expect_refusal(*state, AQ_E_NOT_FOUND, "holds no logs");
    expect_refusal("tcp://learner:5550", AQ_E_INVALID, "give a folder");
    expect_refusal("/tmp/aq-logs-none", AQ_E_NOT_FOUND, "/tmp/aq-logs-none");
}

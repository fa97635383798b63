/*
 * A line is whole, honest and cannot be forged; levels and limits drop what they should.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>

#include "common/sys/log.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/common/sys/stderr_capture.h"

#define OUTPUT_SIZE    65536
#define LINE_MAX_BYTES 2048

static char output[OUTPUT_SIZE];

/* The size of what is written to stderr in the meantime, which `output` has then. */
#define captured(call) (stderr_capture_begin(), (call), stderr_capture_end(output, sizeof(output)))

static int open_log(void **state)
{
    (void)state;
    aq_log_set_level(AQ_LOG_INFO);
    aq_log_open("actor", 3);
    return 0;
}

#define TEST_OF_LOG(name) TEST_WITH(name, open_log, NULL)

TEST_OF_LOG(a_line_has_time_level_names_event_fields_and_message)
{
    (void)captured(aq_log(AQ_LOG_WARN, "policy_stale", "keeps acting with it",
                          "version=%d latest=%d", 118, 131));
    /* ts=2026-01-31T12:00:00.123Z */
    assert_memory_equal(output, "ts=20", 5);
    for (size_t i = 0; i < 24; i++) {
        static const char shape[] = "0000-00-00T00:00:00.000Z";
        char letter = output[3 + i];
        if (shape[i] == '0') {
            assert_in_range(letter, '0', '9');
        } else {
            assert_int_equal(letter, shape[i]);
        }
    }
    assert_string_equal(output + 27, " level=warn role=actor id=3 event=policy_stale version=118 "
                                     "latest=131 msg=\"keeps acting with it\"\n");
}

TEST_OF_LOG(no_fields_leave_no_gap)
{
    (void)captured(aq_log(AQ_LOG_INFO, "ready", "serving", ""));
    assert_says(output, " event=ready msg=\"serving\"\n");
}

TEST_OF_LOG(no_message_leaves_no_gap)
{
    (void)captured(aq_log(AQ_LOG_INFO, "evaluated", "", "score=%d", 500));
    assert_says(output, " event=evaluated score=500\n");
}

TEST_OF_LOG(a_negative_id_is_left_out)
{
    aq_log_open("learner", -1);
    (void)captured(aq_log(AQ_LOG_INFO, "ready", "serving", ""));
    assert_says(output, " level=info role=learner event=ready ");
}

TEST_OF_LOG(lines_below_the_level_are_dropped)
{
    aq_log_set_level(AQ_LOG_WARN);
    stderr_capture_begin();
    aq_log(AQ_LOG_INFO, "a", "dropped", "");
    aq_log(AQ_LOG_WARN, "b", "kept", "");
    aq_log_set_level(AQ_LOG_OFF);
    aq_log(AQ_LOG_ERROR, "c", "dropped", "");
    stderr_capture_end(output, sizeof(output));
    assert_null(strstr(output, "event=a"));
    assert_says(output, "event=b");
    assert_null(strstr(output, "event=c"));
}

TEST_OF_LOG(errno_survives_a_line)
{
    stderr_capture_begin();
    errno = ENOSPC;
    aq_log(AQ_LOG_INFO, "ready", "serving", "");
    assert_int_equal(errno, ENOSPC);
    stderr_capture_end(output, sizeof(output));
}

static size_t count_newlines(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += *text == '\n';
    }
    return count;
}

TEST_OF_LOG(a_value_cannot_forge_a_line)
{
    (void)captured(aq_log(AQ_LOG_INFO, "join", "from \"x\"\nts=forged \\ \x1b[31m", "peer=%s q=%s",
                          "a\nts=forged", "\"\\\n\""));
    assert_int_equal(count_newlines(output), 1);
    assert_says(output, " peer=a?ts=forged q=\"\\?\" ");
    assert_says(output, "msg=\"from \\\"x\\\"\\nts=forged \\\\ \\u001b[31m\"\n");
}

TEST_OF_LOG(a_long_message_is_cut_and_the_line_stays_whole)
{
    char message[10000];
    memset(message, '"', sizeof(message) - 1);
    message[sizeof(message) - 1] = '\0';
    const size_t size = captured(aq_log(AQ_LOG_INFO, "join", message, "peer=%s", "a"));
    assert_true(size <= LINE_MAX_BYTES);
    assert_says(output, " peer=a msg=\"\\\"");
    assert_string_equal(output + size - 7, "\\\"...\"\n");
    assert_int_equal(count_newlines(output), 1);
}

TEST_OF_LOG(long_fields_lose_whole_pairs_and_keep_the_message)
{
    char value[3000];
    char quoted[3000];
    memset(value, ' ', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    const size_t size = captured(aq_log(AQ_LOG_INFO, "join", "told to leave", "peer=%s why=%s", "a",
                                        aq_log_quote(quoted, sizeof(quoted), value)));
    assert_true(size <= LINE_MAX_BYTES);
    assert_says(output, " event=join peer=a cut=true msg=\"told to leave\"\n");
}

TEST_OF_LOG(a_quoted_text_of_any_length_leaves_room_for_other_fields)
{
    char value[3000];
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    (void)captured(
        aq_log(AQ_LOG_INFO, "join", "", "peer=%s why=%s step=%d", "a", AQ_LOG_QUOTED(value), 3));
    assert_says(output, " event=join peer=a why=\"xxx");
    assert_says(output, "xxx...\" step=3\n");
}

TEST_OF_LOG(a_single_field_too_long_is_said_to_be_cut)
{
    char value[3000];
    memset(value, 'x', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    (void)captured(aq_log(AQ_LOG_INFO, "join", "told to leave", "why=%s", value));
    assert_says(output, " event=join cut=true msg=\"told to leave\"\n");
}

TEST(a_quoted_text_is_escaped)
{
    char out[64];
    assert_string_equal(aq_log_quote(out, sizeof(out), ""), "\"\"");
    assert_string_equal(aq_log_quote(out, sizeof(out), "a b=\"c\"\\"), "\"a b=\\\"c\\\"\\\\\"");
    assert_string_equal(aq_log_quote(out, sizeof(out), "\t\r\n\x7f"), "\"\\t\\u000d\\n\\u007f\"");
    assert_string_equal(aq_log_quote(out, sizeof(out), "\xc3\xbc \xf0\x9f\x98\x80"),
                        "\"\xc3\xbc \xf0\x9f\x98\x80\"");
    assert_string_equal(aq_log_quote(out, sizeof(out), "a\xff\xc3"), "\"a\\ufffd\\ufffd\"");
    assert_string_equal(aq_log_quote(out, sizeof(out), "\xc2\x9b"), "\"\\u009b\"");
}

TEST(a_quoted_text_is_cut_at_a_character)
{
    char out[10];
    assert_string_equal(aq_log_quote(out, sizeof(out), "1234567"), "\"1234567\"");
    assert_string_equal(aq_log_quote(out, sizeof(out), "12345678"), "\"1234...\"");
    assert_string_equal(aq_log_quote(out, sizeof(out),
                                     "123\xc3\xbc"
                                     "5678"),
                        "\"123...\"");
    assert_string_equal(aq_log_quote(out, sizeof(out), "\n\n\n\n"), "\"\\n\\n...\"");
    assert_string_equal(aq_log_quote(out, 8, "\x01\x01"), "\"...\"");
}

TEST(levels_have_names)
{
    enum aq_log_level level = AQ_LOG_OFF;

    assert_int_equal(aq_log_level_from_text("debug", &level), 0);
    assert_int_equal(level, AQ_LOG_DEBUG);
    assert_int_equal(aq_log_level_from_text("off", &level), 0);
    assert_int_equal(level, AQ_LOG_OFF);
    assert_int_equal(aq_log_level_from_text("loud", &level), AQ_E_INVALID);
    assert_int_equal(level, AQ_LOG_OFF);
}

TEST(the_level_of_the_run_goes_over_that_of_the_process)
{
    aq_log_set_run_level(AQ_LOG_DEBUG + 1);
    stderr_capture_begin();
    aq_log(AQ_LOG_DEBUG, "a", "kept", "");
    aq_log_set_run_level(AQ_LOG_OFF + 1);
    aq_log(AQ_LOG_ERROR, "b", "dropped", "");
    aq_log_set_run_level(0);
    aq_log(AQ_LOG_DEBUG, "c", "dropped", "");
    aq_log(AQ_LOG_INFO, "d", "kept", "");
    stderr_capture_end(output, sizeof(output));
    assert_says(output, "event=a");
    assert_null(strstr(output, "event=b"));
    assert_null(strstr(output, "event=c"));
    assert_says(output, "event=d");
}

TEST(formats_have_names)
{
    enum aq_log_format format = AQ_LOG_LOGFMT;

    assert_int_equal(aq_log_format_from_text("json", &format), 0);
    assert_int_equal(format, AQ_LOG_JSON);
    assert_int_equal(aq_log_format_from_text("logfmt", &format), 0);
    assert_int_equal(format, AQ_LOG_LOGFMT);
    assert_int_equal(aq_log_format_from_text("xml", &format), AQ_E_INVALID);
    assert_null(aq_log_format_problem());
}

TEST(an_unknown_level_in_the_environment_is_told)
{
    assert_string_equal(aq_log_problem(), "loud"); /* set by main */
}

TEST(a_limiter_allows_one_line_a_second)
{
    aq_log_limit limit = {0};
    assert_true(aq_log_allowed(&limit, 0));
    assert_false(aq_log_allowed(&limit, 1));
    assert_false(aq_log_allowed(&limit, AQ_NS_PER_S - 1));
    assert_true(aq_log_allowed(&limit, AQ_NS_PER_S));
    assert_true(aq_log_allowed(&limit, 5 * AQ_NS_PER_S));
}

TEST(a_limiter_allows_as_many_more_as_it_says)
{
    aq_log_limit limit = {.more = 2};
    for (int64_t second = 0; second < 3; second++) {
        for (int i = 0; i < 10; i++) {
            assert_int_equal(aq_log_allowed(&limit, second * AQ_NS_PER_S + i), i < 3);
        }
    }
    assert_int_equal(limit.suppressed, 3 * 7);
}

static void log_at(aq_log_limit *limit, int64_t now_ns, const char *peer)
{
    (void)captured(aq_log_limited(limit, now_ns, AQ_LOG_WARN, "lost", "", "peer=%s", peer));
}

TEST_OF_LOG(a_limited_line_counts_those_that_were_not_written)
{
    aq_log_limit limit = {0};
    log_at(&limit, 0, "a");
    assert_says(output, " event=lost peer=a suppressed=0\n");
    log_at(&limit, 1, "a");
    assert_string_equal(output, "");
    log_at(&limit, AQ_NS_PER_S - 1, "a");
    assert_string_equal(output, "");
    log_at(&limit, AQ_NS_PER_S, "b");
    assert_says(output, " event=lost peer=b suppressed=2\n");
    log_at(&limit, 5 * AQ_NS_PER_S, "b");
    assert_says(output, " event=lost peer=b suppressed=0\n");
}

/* As by a full disk. */
TEST_OF_LOG(a_line_that_was_cut_short_does_not_swallow_the_next)
{
    struct rlimit before;
    const char *path = file_in(file_folder(), "log");
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int kept = dup(STDERR_FILENO);
    assert_true(file >= 0 && kept >= 0 && getrlimit(RLIMIT_FSIZE, &before) == 0);
    const struct rlimit few = {.rlim_cur = 10, .rlim_max = before.rlim_max};
    const bool is_ready = dup2(file, STDERR_FILENO) >= 0 && setrlimit(RLIMIT_FSIZE, &few) == 0;
    aq_log(AQ_LOG_INFO, "cut", "", "");
    (void)setrlimit(RLIMIT_FSIZE, &before);
    aq_log(AQ_LOG_INFO, "next", "", "");
    aq_log(AQ_LOG_INFO, "last", "", "");
    (void)dup2(kept, STDERR_FILENO);
    (void)close(kept);
    (void)close(file);
    assert_true(is_ready);
    const char *text = file_text(path);
    assert_int_equal(count_newlines(text), 3);
    assert_memory_equal(text + 10, "\nts=", 4);
    assert_says(text, "event=next\nts=");
}

#define THREADS          4
#define LINES_PER_THREAD 50

static void *log_lines(void *argument)
{
    for (int i = 0; i < LINES_PER_THREAD; i++) {
        aq_log_open("actor", i % 2);
        aq_log(AQ_LOG_INFO, "tick", "one of many", "i=%d", i);
    }
    return argument;
}

TEST_OF_LOG(lines_of_threads_do_not_mix)
{
    pthread_t threads[THREADS];
    const char *line = output;
    stderr_capture_begin();
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, log_lines, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    stderr_capture_end(output, sizeof(output));
    assert_int_equal(count_newlines(output), THREADS * LINES_PER_THREAD);
    while (*line != '\0') {
        const char *end = strchr(line, '\n');
        assert_memory_equal(line, "ts=", 3);
        assert_memory_equal(end - 17, "msg=\"one of many\"", 17);
        line = end + 1;
    }
}

int main(void)
{
    setenv("ACTORQ_LOG", "loud", 1); /* read at the first use */
    return aq_test_run(NULL);
}

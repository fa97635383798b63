/*
 * What every program of ours does first, and what its common options refuse.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "common/sys/daemon.h"
#include "common/sys/log.h"
#include "tests/support/test.h"
#include "tests/unit/common/sys/stderr_capture.h"

/* Begins in a child of its own, since a process reads its environment once; what it wrote to
 * standard error comes back in out[size]. */
static void begin_with(const char *log, const char *log_format, const char *cpu, char *out,
                       size_t size)
{
    int status = 0;
    stderr_capture_begin();
    pid_t child = fork();
    if (child == 0) {
        struct sigaction broken_pipe;
        setenv("ACTORQ_LOG", log, 1);
        setenv("ACTORQ_CPU", cpu, 1);
        setenv("ACTORQ_LOG_FORMAT", log_format, 1);
        close(STDIN_FILENO);
        aq_daemon_begin("actor", 7);
        if (fcntl(STDIN_FILENO, F_GETFD) >= 0) {
            aq_log(AQ_LOG_INFO, "begun", "", "");
        }
        _exit(sigaction(SIGPIPE, NULL, &broken_pipe) == 0 && broken_pipe.sa_handler == SIG_IGN ? 0
                                                                                               : 1);
    }
    pid_t waited = waitpid(child, &status, 0);
    stderr_capture_end(out, size);
    assert_true(child > 0);
    assert_int_equal(waited, child);
    assert_int_equal(status, 0);
}

TEST(a_program_names_itself_and_survives_broken_pipes)
{
    char text[4096];
    begin_with("info", "", "avx2", text, sizeof(text));
    assert_says(text, "level=info role=actor id=7 event=begun");
    assert_null(strstr(text, "environment_ignored"));
}

TEST(an_environment_that_nobody_understands_is_said)
{
    char text[4096];
    begin_with("lo ud", "xml", "avx\"3", text, sizeof(text));
    assert_says(text, "event=environment_ignored value=\"lo ud\" msg=\"ACTORQ_LOG");
    assert_says(text, "event=environment_ignored value=\"avx\\\"3\" msg=\"ACTORQ_CPU");
    assert_says(text, "event=environment_ignored value=\"xml\" msg=\"ACTORQ_LOG_FORMAT");
    assert_says(text, "event=begun"); /* info is used */
}

typedef struct program_arguments {
    aq_daemon_options daemon;
} program_arguments;

/* Gives an option to the daemons' common ones, as a program does. */
static int apply(aq_daemon_options *options, const char *name, const char *value, aq_error *error)
{
    static const aq_option rows[] = {AQ_DAEMON_OPTION_ROWS(program_arguments, daemon)};
    static const aq_options page = {.rows = rows, .count = sizeof(rows) / sizeof(rows[0])};
    static char option[64]; /* arguments live on */
    char program[] = "program";
    char *argv[] = {program, option};
    (void)snprintf(option, sizeof(option), "--%s=%s", name, value);
    program_arguments arguments = {*options};
    int rc = aq_options_parse(&page, 2, argv, &arguments, error);
    *options = arguments.daemon;
    return rc;
}

TEST(a_parent_must_be_a_process_number)
{
    static const char *const texts[] = {"", "x", "0", "-5", "1x", "99999999999999999999", " 1"};
    aq_daemon_options options = {0};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_refused(apply(&options, "parent", texts[i], &refusal), AQ_E_INVALID,
                       "is not a process id");
    }
}

TEST(a_log_level_is_one_of_the_words)
{
    static const char *const words[] = {"debug", "warn", "error", "off", "info"};
    aq_daemon_options options = {0};
    char text[4096];
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        assert_int_equal(apply(&options, "log-level", words[i], NULL), 0);
    }
    assert_refused(apply(&options, "log-level", "loud", &refusal), AQ_E_INVALID, "'loud'");
    assert_says(refusal.text, "debug, info, warn, error, off");

    assert_int_equal(apply(&options, "log-level", "error", NULL), 0);
    stderr_capture_begin();
    aq_log(AQ_LOG_WARN, "quiet", "", "");
    aq_log(AQ_LOG_ERROR, "loud", "", "");
    stderr_capture_end(text, sizeof(text));
    assert_null(strstr(text, "event=quiet"));
    assert_says(text, "event=loud");
    assert_int_equal(apply(&options, "log-level", "info", NULL), 0);
}

TEST(a_log_format_is_one_of_the_words)
{
    aq_daemon_options options = {0};
    char text[4096];
    assert_int_equal(apply(&options, "log-format", "json", NULL), 0);
    stderr_capture_begin();
    aq_log(AQ_LOG_ERROR, "loud", "", "");
    stderr_capture_end(text, sizeof(text));
    assert_says(text, "\"event\":\"loud\"}");
    assert_int_equal(apply(&options, "log-format", "logfmt", NULL), 0);
    assert_refused(apply(&options, "log-format", "xml", &refusal), AQ_E_INVALID,
                   "'xml' is neither logfmt nor json");
}

TEST(an_option_wins_over_the_environment)
{
    aq_daemon_options options = {0};
    setenv("ACTORQ_CERTS", "/etc/a", 1);
    setenv("ACTORQ_TOKEN_FILE", "", 1);
    setenv("ACTORQ_HTTP", "127.0.0.1:1", 1);
    setenv("ACTORQ_INSECURE", "1", 1);
    assert_int_equal(aq_daemon_read_environment(&options, NULL), 0);
    assert_string_equal(options.certs_dir, "/etc/a");
    assert_null(options.token_file);
    assert_true(options.insecure);
    assert_int_equal(apply(&options, "http", "127.0.0.1:2", NULL), 0);
    assert_string_equal(options.http, "127.0.0.1:2");
    assert_int_equal(apply(&options, "certs", "", NULL), AQ_E_INVALID);
    assert_string_equal(options.certs_dir, "");
}

TEST(insecure_is_meant_or_refused)
{
    aq_daemon_options options = {0};
    setenv("ACTORQ_INSECURE", "0", 1);
    assert_int_equal(aq_daemon_read_environment(&options, NULL), 0);
    assert_false(options.insecure);
    setenv("ACTORQ_INSECURE", "yes", 1);
    assert_refused(aq_daemon_read_environment(&options, &refusal), AQ_E_INVALID, "ACTORQ_INSECURE");
}

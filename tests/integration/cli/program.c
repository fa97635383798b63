/*
 * Running a program and looking at what it said. Standard output goes to a file, which takes any
 * amount; standard error comes through a pipe, so that a word on it can be waited for.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/wait.h>

#include "common/base/clock.h"
#include "tests/integration/cli/program.h"
#include "tests/support/chance.h"
#include "tests/support/test.h"

enum { ARGUMENTS_MAX = 16, LINE_BYTES_MAX = 1024, SECONDS_MAX = 300 };

static const char *chosen;
static program_result result;
static pid_t running;
static FILE *out_file;
static int err_pipe; /* the end to read from */
static size_t err_size;

void program_choose(const char *path)
{
    chosen = path;
}

const char *program_path(void)
{
    return chosen;
}

/* In the child, where only async-signal-safe things may happen. */
static void become(char *const *argv, int out, int err)
{
    int nothing = open("/dev/null", O_RDONLY);
    (void)alarm(SECONDS_MAX); /* outlives exec: a program that hangs fails its test */
    (void)dup2(nothing, STDIN_FILENO);
    (void)dup2(out, STDOUT_FILENO);
    (void)dup2(err, STDERR_FILENO);
    (void)execv(chosen, argv);
    _exit(127);
}

static void start(char *const *argv)
{
    assert_int_equal(running, 0);
    out_file = tmpfile();
    int ends[2];
    assert_non_null(out_file);
    assert_int_equal(pipe(ends), 0);
    running = fork();
    assert_true(running >= 0);
    if (running == 0) {
        become(argv, fileno(out_file), ends[1]);
    }
    (void)close(ends[1]);
    err_pipe = ends[0];
    err_size = 0;
    result.err[0] = '\0';
}

static void start_list(const char *first, va_list more)
{
    char *argv[ARGUMENTS_MAX + 2] = {(char *)(uintptr_t)chosen, (char *)(uintptr_t)first};
    size_t count = 2;
    while (count < ARGUMENTS_MAX && (argv[count] = va_arg(more, char *)) != NULL) {
        count++;
    }
    start(argv);
}

/* Waits for more on standard error; false at its end. */
static bool read_err(void)
{
    assert_true(err_size + 1 < PROGRAM_TEXT_MAX);
    ssize_t got = read(err_pipe, result.err + err_size, PROGRAM_TEXT_MAX - err_size - 1);
    assert_true(got >= 0);
    err_size += (size_t)got;
    result.err[err_size] = '\0';
    return got > 0;
}

void program_wait_for_words(const char *words)
{
    while (!strstr(result.err, words)) {
        assert_true(read_err());
    }
}

static void read_out(void)
{
    const ssize_t size = pread(fileno(out_file), result.out, PROGRAM_TEXT_MAX, 0);
    assert_true(size >= 0 && size < PROGRAM_TEXT_MAX);
    result.out[size] = '\0';
}

static void fail_shown(const char *what)
{
    fail_msg("%s; exit status %d\nstandard output: %s\nstandard error: %s", what,
             result.exit_status, result.out, result.err);
}

/* It is still to be waited for. */
static bool has_ended(void)
{
    siginfo_t end = {0};
    assert_int_equal(waitid(P_PID, (id_t)running, &end, WEXITED | WNOHANG | WNOWAIT), 0);
    return end.si_pid != 0;
}

void program_wait_for_out(const char *words, size_t times)
{
    size_t found = 0;
    while (found < times) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + 20 * AQ_NS_PER_MS);
        const bool is_over = has_ended(); /* then what is out is all */
        read_out();
        found = 0;
        for (const char *at = result.out; (at = strstr(at, words)) != NULL; at++) {
            found++;
        }
        if (is_over && found < times) {
            (void)program_wait();
            print_error("waited for: %s\n", words);
            fail_shown("it ended without the words");
        }
    }
}

const program_result *program_wait(void)
{
    int status = 0;
    while (read_err()) {
    }
    (void)close(err_pipe);
    assert_int_equal(waitpid(running, &status, 0), running);
    running = 0;
    read_out();
    (void)fclose(out_file);
    result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return &result;
}

void program_start(const char *first, ...)
{
    va_list more;
    va_start(more, first);
    start_list(first, more);
    va_end(more);
}

/* A body for those that run it with a list of arguments. */
#define RUN_LIST(first)                                                                            \
    va_list more;                                                                                  \
    va_start(more, first);                                                                         \
    start_list(first, more);                                                                       \
    va_end(more)

const program_result *program_run(const char *first, ...)
{
    RUN_LIST(first);
    return program_wait();
}

const program_result *program_run_line(const char *line)
{
    char text[LINE_BYTES_MAX];
    char *argv[ARGUMENTS_MAX + 2] = {(char *)(uintptr_t)chosen};
    char *at = text;
    size_t count = 1;
    assert_true(strlen(line) < sizeof(text));
    strcpy(text, line);
    while (*at != '\0' && count < ARGUMENTS_MAX) {
        const char *end = *at == '\'' ? "'" : " ";
        at += *at == '\'';
        argv[count++] = at;
        at += strcspn(at, end);
        at += *at == '\'' ? (*at = '\0', 1) : 0;
        at += *at == ' ' ? (*at = '\0', 1) : 0;
    }
    start(argv);
    return program_wait();
}

pid_t program_pid(void)
{
    return running;
}

/* A daemon on a busy machine may take so long to answer that a command says it waits for it. */
static const char *said_besides_waiting(void)
{
    static const char waits[] = "waiting for ";
    const char *said = result.err;
    for (const char *end; strncmp(said, waits, strlen(waits)) == 0; said = end + 1) {
        end = strchr(said, '\n');
        assert_non_null(end);
    }
    return said;
}

void program_assert_success(void)
{
    if (result.exit_status != 0 || said_besides_waiting()[0] != '\0') {
        fail_shown("it did not succeed in silence");
    }
}

void program_assert_failure(int exit_status, const char *words)
{
    const char *newline = strchr(said_besides_waiting(), '\n');
    if (result.exit_status != exit_status || result.out[0] != '\0') {
        fail_shown("it did not fail as it should");
    }
    if (!newline || newline[1] != '\0') {
        fail_shown("standard error is not one line");
    }
    if (!strstr(result.err, words)) {
        print_error("looked for: %s\n", words);
        fail_shown("standard error lacks the words");
    }
}

void program_assert_out(const char *words)
{
    if (!strstr(result.out, words)) {
        print_error("looked for: %s\n", words);
        fail_shown("standard output lacks the words");
    }
}

void program_succeeds(const char *first, ...)
{
    RUN_LIST(first);
    program_wait();
    program_assert_success();
}

const char *program_short_run(uint64_t env_steps)
{
    static char setting[64];
    (void)snprintf(setting, sizeof(setting), "limits.env_steps=%" PRIu64, test_rounds(env_steps));
    return setting;
}

void program_refuses(const char *words, const char *first, ...)
{
    RUN_LIST(first);
    program_wait();
    program_assert_failure(1, words);
}

TEST_ENDING(release, json_decref);

json_t *program_json(void)
{
    json_error_t where;
    json_t *object = json_loads(result.out, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(object)) {
        fail_shown(object ? "standard output is no object" : where.text);
    }
    at_end(release, object);
    return object;
}

json_t *program_gives(const char *first, ...)
{
    RUN_LIST(first);
    program_wait();
    program_assert_success();
    return program_json();
}

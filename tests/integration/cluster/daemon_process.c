/*
 * posix_spawn, waitpid and a log file; nothing waits for longer than a read takes.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/base/parse.h"
#include "common/sys/file.h"
#include "tests/integration/cluster/daemon_process.h"
#include "tests/support/test.h"

enum { LOG_BYTES_MAX = 64 << 20, TAIL_BYTES = 8192, LINE_MAX_BYTES = 4096 };

extern char **environ;

void daemon_process_init(daemon_process *process, const char *folder, const char *name)
{
    *process = (daemon_process){0};
    assert_int_equal(aq_text_set(process->name, sizeof(process->name), name), 0);
    assert_int_equal(
        aq_text_format(process->log_path, sizeof(process->log_path), "%s/%s.log", folder, name), 0);
}

static size_t log_size(const daemon_process *process)
{
    struct stat info;
    return stat(process->log_path, &info) == 0 ? (size_t)info.st_size : 0;
}

void daemon_process_start(daemon_process *process, const char *const *argv)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    assert_int_equal(process->pid, 0);
    process->life_at = log_size(process);
    (void)sigemptyset(&none);
    assert_int_equal(posix_spawnattr_init(&attributes), 0);
    assert_int_equal(posix_spawnattr_setsigmask(&attributes, &none), 0);
    assert_int_equal(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, process->log_path,
                                           O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    int problem = posix_spawn(&process->pid, argv[0], &actions, &attributes,
                              (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    if (problem != 0) {
        process->pid = 0;
        fail_msg("%s could not be started from %s: %s", process->name, argv[0], strerror(problem));
    }
    process->lives++;
}

static void note_end(daemon_process *process, int status)
{
    process->pid = 0;
    process->exit_code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

bool daemon_process_runs(daemon_process *process)
{
    int status;
    if (process->pid != 0 && waitpid(process->pid, &status, WNOHANG) == process->pid) {
        note_end(process, status);
    }
    return process->pid != 0;
}

void daemon_process_signal(const daemon_process *process, int number)
{
    assert_true(process->pid > 0);
    assert_int_equal(kill(process->pid, number), 0);
}

void daemon_process_kill(daemon_process *process)
{
    int status;
    if (process->pid == 0) {
        return;
    }
    (void)kill(process->pid, SIGKILL);
    pid_t ended;
    do {
        ended = waitpid(process->pid, &status, 0);
    } while (ended < 0 && errno == EINTR);
    note_end(process, status);
}

/* ---- the log -------------------------------------------------------------------------------- */

/* The file from there on; "" when there is none. */
static char *read_log(const char *path, size_t from)
{
    aq_buffer text;
    aq_buffer_init(&text, LOG_BYTES_MAX);
    if (aq_path_exists(path)) {
        assert_int_equal(aq_file_read(path, &text, NULL), 0);
    }
    size_t size = text.size > from ? text.size - from : 0;
    char *copy = aq_alloc(size + 1, 1);
    assert_non_null(copy);
    if (size > 0) {
        memcpy(copy, text.data + from, size);
    }
    aq_buffer_fini(&text);
    return copy;
}

char *daemon_process_log(const daemon_process *process, bool all_lives)
{
    return read_log(process->log_path, all_lives ? 0 : process->life_at);
}

bool daemon_process_line(const daemon_process *process, const char *words, char *ret_line,
                         size_t size)
{
    char *log = daemon_process_log(process, false);
    char *found = strstr(log, words);
    if (found != NULL) {
        char *start = found;
        while (start > log && start[-1] != '\n') {
            start--;
        }
        size_t length = strcspn(start, "\n");
        length = length < size - 1 ? length : size - 1;
        memcpy(ret_line, start, length);
        ret_line[length] = '\0';
    }
    aq_free(log);
    return found != NULL;
}

bool daemon_process_said(const daemon_process *process, const char *words)
{
    char line[LINE_MAX_BYTES];
    return daemon_process_line(process, words, line, sizeof(line));
}

uint64_t daemon_line_number(const char *line, const char *key)
{
    char start[64];
    char digits[32];
    uint64_t number = 0;
    (void)snprintf(start, sizeof(start), " %s=", key);
    const char *found = strstr(line, start);
    if (found == NULL) {
        fail_msg("there is no %s in: %s", key, line);
    } else {
        found += strlen(start);
        (void)snprintf(digits, sizeof(digits), "%.*s", (int)strspn(found, "0123456789"), found);
        assert_int_equal(aq_parse_u64(digits, &number), 0);
    }
    return number;
}

const char *daemon_log_fault(const char *path)
{
    static const char *const signs[] = {"AddressSanitizer", "LeakSanitizer", "ThreadSanitizer",
                                        "runtime error:", "assertion failed"};
    const char *fault = NULL;
    char *log = read_log(path, 0);
    for (size_t i = 0; fault == NULL && i < sizeof(signs) / sizeof(signs[0]); i++) {
        fault = strstr(log, signs[i]) != NULL ? signs[i] : NULL;
    }
    aq_free(log);
    return fault;
}

void daemon_process_print(const daemon_process *process)
{
    bool runs = process->pid != 0;
    (void)fprintf(stderr, "%s: %u lives, %s %d\n", process->name, process->lives,
                  runs ? "running as" : "ended with",
                  runs ? (int)process->pid : process->exit_code);
}

void daemon_log_print_tail(const char *path)
{
    char *log = read_log(path, 0);
    size_t size = strlen(log);
    (void)fprintf(stderr, "---- the end of %s:\n%s", path,
                  size > TAIL_BYTES ? log + size - TAIL_BYTES : log);
    aq_free(log);
}

uint64_t process_figure(pid_t pid, const char *key)
{
    char path[64];
    char line[256];
    char start[64];
    char digits[32] = "";
    uint64_t figure = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    (void)snprintf(start, sizeof(start), "%s:", key);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, start, strlen(start)) == 0) {
            const char *value = line + strlen(start);
            value += strspn(value, " \t");
            (void)snprintf(digits, sizeof(digits), "%.*s", (int)strspn(value, "0123456789"), value);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return aq_parse_u64(digits, &figure) == 0 ? figure : 0;
}

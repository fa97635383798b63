/*
 * Starting the interpreter with posix_spawn: between a fork and an exec in a program with threads
 * there is next to nothing that may be done. What the child needs beyond it, it does for itself.
 */
#include "envs/python/python_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/base/parse.h"

/* File descriptors of the child, as in protocol.py. Ours are moved out of their way first. */
enum { CHANNEL_FD = 3, LIFELINE_FD = 4, MEMORY_FD = 5, FREE_FD = 16 };
enum { FOLDERS_UP_MAX = 4, MESSAGES_LEFT_MAX = 16 };

#define PACKAGE_FILE "actorq_env/__main__.py"

/* ---- places --------------------------------------------------------------------------------- */

const char *aq_python_interpreter(uint32_t choice)
{
    /* A python3 that somebody put before the system's often lacks what the system's has. */
    static const char *const names[] = {"python3", "/usr/bin/python3"};
    const char *chosen = getenv("ACTORQ_PYTHON");
    if (chosen != NULL && chosen[0] != '\0') {
        return choice == 0 ? chosen : NULL;
    }
    return choice < sizeof(names) / sizeof(names[0]) ? names[choice] : NULL;
}

static bool has_package(const char *folder, const char *below, char *out, size_t size)
{
    char file[2 * PATH_MAX];
    return aq_text_format(out, size, "%s%s", folder, below) == 0 &&
           aq_text_format(file, sizeof(file), "%s/%s", out, PACKAGE_FILE) == 0 &&
           access(file, R_OK) == 0;
}

/* The folder that holds the package. */
static int find_package(char *out, size_t size, aq_error *error)
{
    char folder[PATH_MAX];
    const char *chosen = getenv("ACTORQ_PYTHONPATH");
    if (chosen != NULL && chosen[0] != '\0') {
        return has_package(chosen, "", out, size)
                   ? 0
                   : aq_fail(error, AQ_E_NOT_FOUND, "ACTORQ_PYTHONPATH is %s, where no %s is",
                             chosen, PACKAGE_FILE);
    }
    ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    folder[length > 0 ? length : 0] = '\0';
    for (int up = 0; up <= FOLDERS_UP_MAX; up++) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL) {
            break;
        }
        *slash = '\0';
        if (has_package(folder, "/python", out, size) ||
            has_package(folder, "/share/actorq/python", out, size)) {
            return 0;
        }
    }
    return aq_fail(error, AQ_E_NOT_FOUND,
                   "the Python package actorq_env is not near this program; ACTORQ_PYTHONPATH says "
                   "in which folder it is");
}

/* ---- the child's environment ---------------------------------------------------------------- */

extern char **environ;

typedef struct child_environment {
    char **rows; /* ends with NULL; all but the first `own_count` are ours to read alone */
    char *own[2];
} child_environment;

static void environment_fini(child_environment *environment)
{
    aq_free(environment->rows);
    for (size_t i = 0; i < sizeof(environment->own) / sizeof(environment->own[0]); i++) {
        aq_free(environment->own[i]);
    }
}

static char *join(const char *name, const char *first, const char *second)
{
    const size_t size = strlen(name) + strlen(first) + strlen(second) + 3;
    char *text = aq_alloc(1, size);
    if (text != NULL) {
        (void)snprintf(text, size, "%s=%s%s%s", name, first, second[0] != '\0' ? ":" : "", second);
    }
    return text;
}

/* Ours with the package in front of Python's path. One thread for NumPy, unless somebody asked for
 * more: each actor has a worker, and a core for it at best. */
static int environment_init(child_environment *environment, const char *package)
{
    size_t count = 0;
    const char *path = getenv("PYTHONPATH");
    while (environ[count] != NULL) {
        count++;
    }
    *environment = (child_environment){
        .rows = aq_alloc(count + 3, sizeof(char *)),
        .own = {join("PYTHONPATH", package, path != NULL ? path : ""),
                join("OPENBLAS_NUM_THREADS", "1", "")},
    };
    if (environment->rows == NULL || environment->own[0] == NULL || environment->own[1] == NULL) {
        environment_fini(environment);
        return AQ_E_NOMEM;
    }
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "PYTHONPATH=", strlen("PYTHONPATH=")) != 0) {
            environment->rows[used++] = environ[i];
        }
    }
    environment->rows[used++] = environment->own[0];
    if (getenv("OPENBLAS_NUM_THREADS") == NULL) {
        environment->rows[used++] = environment->own[1];
    }
    return 0;
}

/* ---- start ---------------------------------------------------------------------------------- */

/* The child: its own process group, so that a key that ends us is ours to act on; default signals;
 * output where ours cannot be spoiled. Returns an errno value. */
static int spawn(char *const *arguments, char *const *environment, const int fds[3], pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc != 0) {
        return rc;
    }
    rc = posix_spawnattr_init(&attributes);
    if (rc != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return rc;
    }
    rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    rc = rc != 0 ? rc : posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    for (int i = 0; rc == 0 && i < 3; i++) {
        rc = posix_spawn_file_actions_adddup2(&actions, fds[i], CHANNEL_FD + i);
    }
    rc = rc != 0 ? rc : posix_spawnattr_setpgroup(&attributes, 0);
    rc = rc != 0 ? rc : posix_spawnattr_setsigmask(&attributes, &none);
    rc = rc != 0 ? rc : posix_spawnattr_setsigdefault(&attributes, &all);
    rc = rc != 0 ? rc
                 : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                                             POSIX_SPAWN_SETSIGMASK |
                                                             POSIX_SPAWN_SETSIGDEF);
    rc = rc != 0
             ? rc
             : posix_spawnp(ret_pid, arguments[0], &actions, &attributes, arguments, environment);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return rc;
}

/* A descriptor's copy out of the way of the child's, closed when it is executed. */
static int moved(int *fd)
{
    const int copy = fcntl(*fd, F_DUPFD_CLOEXEC, FREE_FD);
    if (copy < 0) {
        return -1;
    }
    (void)close(*fd);
    *fd = copy;
    return 0;
}

static void close_all(int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
}

/* fds: our end of the channel and of the lifeline, then the child's. */
static int open_channels(int fds[4])
{
    int channel[2], lifeline[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) != 0) {
        return -1;
    }
    fds[0] = channel[0];
    fds[2] = channel[1];
    if (pipe2(lifeline, O_CLOEXEC) != 0) {
        return -1;
    }
    fds[1] = lifeline[1];
    fds[3] = lifeline[0];
    for (int i = 0; i < 4; i++) {
        if (moved(&fds[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

int aq_python_process_start(const char *interpreter, const char *task, int memory,
                            aq_python_process *ret_process, aq_error *error)
{
    char package[PATH_MAX];
    child_environment environment;
    int fds[4] = {-1, -1, -1, -1};
    pid_t pid = 0;
    int rc = find_package(package, sizeof(package), error);
    if (rc != 0) {
        return rc;
    }
    if (environment_init(&environment, package) != 0) {
        return aq_fail(error, AQ_E_NOMEM, "no memory to start Python");
    }
    /* posix_spawn has no const, and changes nothing. */
    char *const arguments[] = {(char *)(uintptr_t)interpreter, (char *)(uintptr_t) "-m",
                               (char *)(uintptr_t) "actorq_env", (char *)(uintptr_t)task, NULL};
    if (open_channels(fds) != 0) {
        rc =
            aq_fail(error, aq_error_from_errno(errno), "no channel to Python: %s", strerror(errno));
        goto fail;
    }
    const int inherited[] = {fds[2], fds[3], memory};
    const int failed = spawn(arguments, environment.rows, inherited, &pid);
    if (failed != 0) {
        rc = aq_fail(error, aq_error_from_errno(failed),
                     "%s can't be started: %s (ACTORQ_PYTHON chooses another Python)", interpreter,
                     strerror(failed));
        goto fail;
    }
    environment_fini(&environment);
    close_all(fds + 2, 2);
    *ret_process = (aq_python_process){.pid = pid, .channel = fds[0], .lifeline = fds[1]};
    return 0;
fail:
    environment_fini(&environment);
    close_all(fds, 4);
    return rc;
}

/* ---- end ------------------------------------------------------------------------------------ */

static void describe(int status, char *how, size_t how_bytes)
{
    if (status < 0) {
        (void)snprintf(how, how_bytes, "is gone");
    } else if (WIFSIGNALED(status)) {
        (void)snprintf(how, how_bytes, "was killed by signal %d", WTERMSIG(status));
    } else {
        (void)snprintf(how, how_bytes, "ended with status %d", WEXITSTATUS(status));
    }
}

void aq_python_process_forget(aq_python_process *process)
{
    if (process->pid != 0) {
        (void)close(process->channel);
        (void)close(process->lifeline);
        *process = (aq_python_process){.channel = -1, .lifeline = -1};
    }
}

/* Returns its status; -1: there is none. */
static int reap(aq_python_process *process)
{
    int status = 0;
    const pid_t pid = (pid_t)process->pid;
    (void)kill(-pid, SIGKILL);
    aq_python_process_forget(process);
    pid_t ended;
    do {
        ended = waitpid(pid, &status, 0);
    } while (ended < 0 && errno == EINTR);
    return ended > 0 ? status : -1;
}

void aq_python_process_kill(aq_python_process *process)
{
    if (process->pid != 0) {
        (void)reap(process);
    }
}

/* A signal begins the time anew. */
static bool wait_for_word(struct pollfd *poller, int timeout_ms)
{
    int ready;
    do {
        ready = poll(poller, 1, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

void aq_python_process_finish(aq_python_process *process, int timeout_ms, char *how,
                              size_t how_bytes)
{
    char rest[256];
    if (process->pid == 0) {
        return;
    }
    /* Its end of the channel closes when it ends, and what it still says is of no interest. */
    struct pollfd poller = {.fd = process->channel, .events = POLLIN};
    for (int i = 0; i < MESSAGES_LEFT_MAX && wait_for_word(&poller, timeout_ms) &&
                    recv(process->channel, rest, sizeof(rest), MSG_DONTWAIT) > 0;
         i++) {
    }
    /* One that has begun to end keeps its status even if it is killed now. */
    describe(reap(process), how, how_bytes);
}

int aq_python_memory_create(int *ret_memory, aq_error *error)
{
    int memory = memfd_create("actorq-python", MFD_CLOEXEC);
    if (memory < 0 || moved(&memory) != 0) {
        if (memory >= 0) {
            (void)close(memory);
        }
        return aq_fail(error, aq_error_from_errno(errno), "no shared memory: %s", strerror(errno));
    }
    *ret_memory = memory;
    return 0;
}

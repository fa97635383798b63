/*
 * Processes: see process.h.
 */
#include "common/sys/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "common/base/parse.h"
#include "common/sys/file.h"

/* That it follows; 0: none. */
static int64_t followed;

int aq_process_follow_parent(int64_t parent, aq_error *error)
{
#ifdef __linux__
    if (prctl(PR_SET_PDEATHSIG, (unsigned long)SIGTERM, 0ul, 0ul, 0ul)) {
        return aq_fail(error, aq_error_from_errno(errno), "the parent can't be followed: %s",
                       strerror(errno));
    }
    /* It may have died before the line above. */
    if ((int64_t)getppid() != parent) {
        return aq_fail(error, AQ_E_NOT_FOUND, "the parent, process %" PRId64 ", is gone", parent);
    }
    followed = parent;
    return 0;
#else
    return aq_fail(error, AQ_E_UNSUPPORTED, "process %" PRId64 " can't be followed on this system",
                   parent);
#endif
}

bool aq_process_lost_parent(void)
{
    return followed != 0 && (int64_t)getppid() != followed;
}

void aq_process_let_writes_fail(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigemptyset(&ignore.sa_mask);
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGXFSZ, &ignore, NULL);
}

void aq_process_fill_standard_files(void)
{
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        /* A result that has nowhere to go can't be written, which is then said. */
        const int mode = number == STDOUT_FILENO ? O_RDONLY : O_RDWR;
        if (fcntl(number, F_GETFD) < 0 && open("/dev/null", mode) < 0) {
            return;
        }
    }
}

static void end(int number)
{
    _exit(128 + number);
}

void aq_process_let_signals_end_it(void)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    struct sigaction ends = {.sa_handler = end}, now;
    (void)sigemptyset(&ends.sa_mask);
    for (size_t i = 0; getpid() == 1 && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
            (void)sigaction(numbers[i], &ends, NULL);
        }
    }
}

static int own_file(char *out, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", out, size - 1);
    if (length <= 0 || (size_t)length >= size - 1) {
        return AQ_E_NOT_FOUND;
    }
    out[length] = '\0';
    return 0;
}

int aq_process_start_anew(char **argv)
{
    char path[PATH_MAX];
    if (own_file(path, sizeof(path)) == 0) {
        (void)execv(path, argv);
    }
    (void)execv("/proc/self/exe", argv); /* also where its file is gone */
    return aq_error_from_errno(errno);
}

/* The folder that this program's file is in. */
static int own_folder(char *out, size_t size)
{
    if (own_file(out, size) != 0) {
        return AQ_E_NOT_FOUND;
    }
    char *slash = strrchr(out, '/');
    if (!slash) {
        return AQ_E_NOT_FOUND;
    }
    *slash = '\0';
    return 0;
}

void aq_process_allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* else it has those that it has */
    }
}

/* Of "PID (NAME) STATE PARENT ..."; a name may have blanks and brackets. */
static bool is_live_child(const char *pid, int64_t parent)
{
    char line[512];
    uint64_t its;
    (void)aq_file_peek(line, sizeof(line), "/proc/%s/stat", pid);
    char *rest = strrchr(line, ')');
    if (rest == NULL || strlen(rest) < sizeof(") S 1")) {
        return false; /* it has ended since */
    }
    const char state = rest[2];
    char *text = rest + 4;
    text[strcspn(text, " ")] = '\0';
    return aq_parse_u64(text, &its) == 0 && its == (uint64_t)parent && state != 'Z' && state != 'X';
}

int aq_process_signal_children(int64_t parent, int signal_number)
{
    DIR *processes = access("/proc/self/stat", R_OK) == 0 ? opendir("/proc") : NULL;
    int count = 0;
    if (processes == NULL) {
        return -1;
    }
    for (const struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        uint64_t pid;
        if (aq_parse_u64(entry->d_name, &pid) == 0 && is_live_child(entry->d_name, parent)) {
            count++;
            (void)kill((pid_t)pid, signal_number);
        }
    }
    (void)closedir(processes);
    return count;
}

static int find(const char *name, const char *folder, int mode, char *ret_path, size_t size,
                aq_error *error)
{
    char own[PATH_MAX];
    char beside[2 * PATH_MAX];
    char built[2 * PATH_MAX];
    if (own_folder(own, sizeof(own)) ||
        aq_text_format(beside, sizeof(beside), "%s/%s", own, name) != 0 ||
        aq_text_format(built, sizeof(built), "%s/../%s/%s", own, folder, name) != 0) {
        return aq_fail(error, AQ_E_NOT_FOUND, "%s: this program's own place can't be told", name);
    }
    const char *found = access(beside, mode) == 0 ? beside : built;
    if (access(found, mode) != 0) {
        return aq_fail(error, AQ_E_NOT_FOUND, "%s is neither at %s nor at %s", name, beside, built);
    }
    if (aq_text_set(ret_path, size, found) != 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "the path of %s is too long", name);
    }
    return 0;
}

int aq_process_find_program(const char *name, const char *folder, char *ret_path, size_t size,
                            aq_error *error)
{
    return find(name, folder, X_OK, ret_path, size, error);
}

int aq_process_find_module(const char *name, const char *folder, char *ret_path, size_t size,
                           aq_error *error)
{
    return find(name, folder, R_OK, ret_path, size, error);
}

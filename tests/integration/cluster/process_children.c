/*
 * One pass over /proc a question.
 */
#include <dirent.h>

#include "common/base/parse.h"
#include "tests/integration/cluster/daemon_process.h"
#include "tests/integration/cluster/process_children.h"
#include "tests/support/test.h"

/* The state's letter, of the line that begins "State:"; 0 when there is no such process. */
static char state_of(pid_t pid)
{
    char path[64];
    char line[256];
    char state = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "State:\t", 7) == 0) {
            state = line[7];
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return state;
}

bool process_lives(pid_t pid)
{
    char state = state_of(pid);
    return state != 0 && state != 'Z' && state != 'X';
}

static void read_name(pid_t pid, char *ret_name, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(ret_name, 1, size - 1, file) : 0;
    ret_name[length] = '\0'; /* the first word ends in a zero of its own */
    if (file != NULL) {
        (void)fclose(file);
    }
}

size_t process_children(pid_t parent, process_child *children)
{
    size_t count = 0;
    DIR *processes = opendir("/proc");
    assert_non_null(processes);
    for (const struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        uint64_t pid;
        if (aq_parse_u64(entry->d_name, &pid) != 0 ||
            process_figure((pid_t)pid, "PPid") != (uint64_t)parent || !process_lives((pid_t)pid)) {
            continue;
        }
        assert_true(count < PROCESS_CHILDREN_MAX);
        children[count].pid = (pid_t)pid;
        read_name((pid_t)pid, children[count].name, sizeof(children[count].name));
        count++;
    }
    (void)closedir(processes);
    return count;
}

pid_t process_child_named(pid_t parent, const char *name)
{
    process_child children[PROCESS_CHILDREN_MAX];
    size_t count = process_children(parent, children);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(children[i].name, name) == 0) {
            return children[i].pid;
        }
    }
    return 0;
}

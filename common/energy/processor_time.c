/*
 * Processor time from getrusage(2) and /proc; see proc(5).
 *
 * A child moves from those that run to those that were waited for with all its time, so the sum
 * never falls; a reading between its end and the wait finds it as a zombie, whose time is still
 * shown.
 */
#include "common/energy/processor_time.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/parse.h"
#include "common/sys/file.h"

enum { PATH_BYTES = 512, LINE_BYTES = 4096 };

static double ticks_to_s(uint64_t ticks)
{
    long per_second = sysconf(_SC_CLK_TCK);
    return per_second > 0 ? (double)ticks / (double)per_second : 0;
}

static double timeval_s(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

/* ---- children ------------------------------------------------------------------------------- */

/* "pid (name) state ppid …": the name may hold anything, so fields are counted from its end. The
 * 14th to 17th are user and system time, its own and that of its children. */
static double process_s(const char *proc_dir, const char *pid)
{
    enum { FIELD_FIRST = 3, USER_TIME = 14, CHILDREN_SYSTEM_TIME = 17 };
    char line[LINE_BYTES];
    if (!aq_file_peek(line, sizeof(line), "%s/%s/stat", proc_dir, pid)) {
        return 0;
    }
    char *rest = strrchr(line, ')');
    uint64_t ticks = 0;
    char *saved = NULL;
    char *field = rest ? strtok_r(rest + 1, " \n", &saved) : NULL;
    for (int i = FIELD_FIRST; field && i <= CHILDREN_SYSTEM_TIME; i++) {
        uint64_t value = 0;
        if (i >= USER_TIME && aq_parse_u64(field, &value) == 0) {
            ticks += value;
        }
        field = strtok_r(NULL, " \n", &saved);
    }
    return ticks_to_s(ticks);
}

double aq_processor_time_children_s(const char *proc_dir)
{
    char path[PATH_BYTES];
    char line[LINE_BYTES];
    double sum_s = 0;
    if (aq_text_format(path, sizeof(path), "%s/self/task", proc_dir) != 0) {
        return 0;
    }
    DIR *tasks = opendir(path);
    if (!tasks) {
        return 0;
    }
    for (const struct dirent *task = readdir(tasks); task; task = readdir(tasks)) {
        if (task->d_name[0] == '.' ||
            !aq_file_peek(line, sizeof(line), "%s/self/task/%s/children", proc_dir, task->d_name)) {
            continue;
        }
        char *saved = NULL;
        for (char *pid = strtok_r(line, " \n", &saved); pid; pid = strtok_r(NULL, " \n", &saved)) {
            sum_s += process_s(proc_dir, pid);
        }
    }
    (void)closedir(tasks);
    return sum_s;
}

double aq_processor_time_own_s(const char *proc_dir)
{
    struct rusage own = {0};
    struct rusage waited_for = {0};
    (void)getrusage(RUSAGE_SELF, &own);
    (void)getrusage(RUSAGE_CHILDREN, &waited_for);
    return timeval_s(own.ru_utime) + timeval_s(own.ru_stime) + timeval_s(waited_for.ru_utime) +
           timeval_s(waited_for.ru_stime) + aq_processor_time_children_s(proc_dir);
}

/* ---- the machine ---------------------------------------------------------------------------- */

/* "cpu user nice system idle iowait irq softirq steal ...": guests are within user and nice. */
int aq_processor_time_machine(const char *proc_dir, aq_machine_time *ret_time)
{
    enum { USER, NICE, SYSTEM, IDLE, WAITING, INTERRUPTS, SOFT_INTERRUPTS, FIELDS };
    char text[LINE_BYTES];
    if (!aq_file_peek(text, sizeof(text), "%s/stat", proc_dir)) {
        return AQ_E_IO;
    }
    char *saved = NULL;
    const char *field = strtok_r(text, " \n", &saved);
    uint64_t ticks[FIELDS];
    bool good = field && strcmp(field, "cpu") == 0;
    for (int i = 0; good && i < FIELDS; i++) {
        field = strtok_r(NULL, " \n", &saved);
        good = field && aq_parse_u64(field, &ticks[i]) == 0;
    }
    if (!good) {
        return AQ_E_CORRUPT;
    }
    *ret_time = (aq_machine_time){
        .busy_s = ticks_to_s(ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[INTERRUPTS] +
                             ticks[SOFT_INTERRUPTS]),
        .idle_s = ticks_to_s(ticks[IDLE] + ticks[WAITING]),
    };
    return 0;
}

/*
 * Daemon: see daemon.h.
 */
#include "common/sys/daemon.h"

#include "common/base/parse.h"
#include "common/sys/cpu.h"
#include "common/sys/log.h"
#include "common/sys/process.h"

enum { QUOTED_MAX = 256 };

void aq_daemon_begin(const char *role, int64_t id)
{
    char quoted[QUOTED_MAX];
    aq_log_open(role, id);
    aq_process_ignore_broken_pipes();
    if (aq_log_problem()) {
        aq_log(AQ_LOG_WARN, "environment_ignored", "ACTORQ_LOG is not a level; info is used",
               "value=%s", aq_log_quote(quoted, sizeof(quoted), aq_log_problem()));
    }
    if (aq_cpu_mask_problem()) {
        aq_log(AQ_LOG_WARN, "environment_ignored",
               "ACTORQ_CPU is not a rung; all that the processor can do is used", "value=%s",
               aq_log_quote(quoted, sizeof(quoted), aq_cpu_mask_problem()));
    }
}

int aq_daemon_follow(const char *parent, aq_error *error)
{
    int64_t pid = 0;
    if (aq_parse_i64(parent, &pid) || pid <= 0) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not a process id", parent);
    }
    return aq_process_follow_parent(pid, error);
}

int aq_daemon_log_level(const char *level, aq_error *error)
{
    enum aq_log_level parsed;
    if (aq_log_level_from_text(level, &parsed)) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not one of debug, info, warn, error, off",
                       level);
    }
    aq_log_set_level(parsed);
    return 0;
}

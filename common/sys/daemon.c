/*
 * Daemon: see daemon.h.
 */
#include "common/sys/daemon.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/command_page.h"
#include "common/sys/cpu.h"
#include "common/sys/log.h"
#include "common/sys/process.h"

void aq_daemon_begin(const char *role, int64_t id)
{
    aq_process_fill_standard_files();
    aq_memory_use_one_heap();
    aq_log_open(role, id);
    aq_process_let_writes_fail();
    aq_process_let_signals_end_it();
    aq_process_allow_descriptors();
    if (aq_log_problem()) {
        aq_log(AQ_LOG_WARN, "environment_ignored", "ACTORQ_LOG is not a level; info is used",
               "value=%s", AQ_LOG_QUOTED(aq_log_problem()));
    }
    if (aq_log_format_problem()) {
        aq_log(AQ_LOG_WARN, "environment_ignored",
               "ACTORQ_LOG_FORMAT is neither logfmt nor json; logfmt is used", "value=%s",
               AQ_LOG_QUOTED(aq_log_format_problem()));
    }
    if (aq_cpu_mask_problem()) {
        aq_log(AQ_LOG_WARN, "environment_ignored",
               "ACTORQ_CPU is not a rung; all that the processor can do is used", "value=%s",
               AQ_LOG_QUOTED(aq_cpu_mask_problem()));
    }
}

int aq_daemon_take_parent(void *unused, const char *value, aq_error *error)
{
    int64_t pid = 0;
    (void)unused;
    if (aq_parse_i64(value, &pid) != 0 || pid <= 0) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not a process id", value);
    }
    return aq_process_follow_parent(pid, error);
}

int aq_daemon_take_log_level(void *unused, const char *value, aq_error *error)
{
    enum aq_log_level level;
    (void)unused;
    if (aq_log_level_from_text(value, &level) != 0) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not one of debug, info, warn, error, off",
                       value);
    }
    aq_log_set_level(level);
    return 0;
}

int aq_daemon_take_log_format(void *unused, const char *value, aq_error *error)
{
    enum aq_log_format format;
    (void)unused;
    if (aq_log_format_from_text(value, &format) != 0) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is neither logfmt nor json", value);
    }
    aq_log_set_format(format);
    return 0;
}

/* What a container engine hands on of a setting that nobody made is an empty text. */
static const char *from_environment(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] != '\0' ? value : NULL;
}

int aq_daemon_read_environment(aq_daemon_options *options, aq_error *error)
{
    const char *insecure = from_environment("ACTORQ_INSECURE");
    if (insecure && strcmp(insecure, "0") != 0 && strcmp(insecure, "1") != 0) {
        return aq_fail(error, AQ_E_INVALID, "ACTORQ_INSECURE is '%s': 1 and 0 are understood",
                       insecure);
    }
    options->insecure = insecure && strcmp(insecure, "1") == 0;
    options->certs_dir = from_environment("ACTORQ_CERTS");
    options->token_file = from_environment("ACTORQ_TOKEN_FILE");
    options->http = from_environment("ACTORQ_HTTP");
    return 0;
}

static int set_variable(const char *name, const char *value, aq_error *error)
{
    if (value[0] == '\0') {
        return aq_fail(error, AQ_E_INVALID, "the value is empty");
    }
    return setenv(name, value, 1) == 0 ? 0 : aq_fail(error, AQ_E_NOMEM, "out of memory");
}

int aq_credentials_take_certs(void *unused, const char *value, aq_error *error)
{
    (void)unused;
    return set_variable("ACTORQ_CERTS", value, error);
}

int aq_credentials_take_token_file(void *unused, const char *value, aq_error *error)
{
    (void)unused;
    return set_variable("ACTORQ_TOKEN_FILE", value, error);
}

void aq_credentials_forget(void)
{
    static const char *const names[] = {"ACTORQ_CERTS", "ACTORQ_TOKEN_FILE", "ACTORQ_TOKEN",
                                        "ACTORQ_INSECURE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unsetenv(names[i]);
    }
}

int aq_daemon_check_learner(const char *url, aq_error *error)
{
    return url != NULL ? 0
                       : aq_fail(error, AQ_E_INVALID,
                                 "--learner is missing, such as --learner tcp://127.0.0.1:5550");
}

bool aq_daemon_arguments(const aq_options *page, int argc, char **argv, void *arguments,
                         aq_daemon_options *daemon, int *ret_status)
{
    aq_error error = {0};
    if (aq_daemon_read_environment(daemon, &error) != 0) {
        *ret_status = aq_program_failed(page->program, &error);
        return false;
    }
    return aq_command_begin(page, argc, argv, arguments, ret_status);
}

/*
 * Daemon: see daemon.h.
 */
#include "common/sys/daemon.h"

#include <stdlib.h>
#include <string.h>

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
    aq_process_allow_descriptors();
    if (aq_log_problem()) {
        aq_log(AQ_LOG_WARN, "environment_ignored", "ACTORQ_LOG is not a level; info is used",
               "value=%s", aq_log_quote(quoted, sizeof(quoted), aq_log_problem()));
    }
    if (aq_log_format_problem()) {
        aq_log(AQ_LOG_WARN, "environment_ignored",
               "ACTORQ_LOG_FORMAT is neither logfmt nor json; logfmt is used", "value=%s",
               aq_log_quote(quoted, sizeof(quoted), aq_log_format_problem()));
    }
    if (aq_cpu_mask_problem()) {
        aq_log(AQ_LOG_WARN, "environment_ignored",
               "ACTORQ_CPU is not a rung; all that the processor can do is used", "value=%s",
               aq_log_quote(quoted, sizeof(quoted), aq_cpu_mask_problem()));
    }
}

static int follow(const char *parent, aq_error *error)
{
    int64_t pid = 0;
    if (aq_parse_i64(parent, &pid) != 0 || pid <= 0) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not a process id", parent);
    }
    return aq_process_follow_parent(pid, error);
}

static int set_log_level(const char *level, aq_error *error)
{
    enum aq_log_level parsed;
    if (aq_log_level_from_text(level, &parsed) != 0) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not one of debug, info, warn, error, off",
                       level);
    }
    aq_log_set_level(parsed);
    return 0;
}

static int set_log_format(const char *format, aq_error *error)
{
    enum aq_log_format parsed;
    if (aq_log_format_from_text(format, &parsed) != 0) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is neither logfmt nor json", format);
    }
    aq_log_set_format(parsed);
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

bool aq_daemon_apply(aq_daemon_options *options, const aq_option *option, const char *value,
                     int *ret_rc, aq_error *error)
{
    const struct {
        const char *name;
        const char **text;
    } texts[] = {
        {"certs", &options->certs_dir},
        {"token-file", &options->token_file},
        {"http", &options->http},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(option->name, texts[i].name) == 0) {
            *texts[i].text = value;
            *ret_rc = value[0] != '\0' ? 0 : aq_fail(error, AQ_E_INVALID, "the value is empty");
            return true;
        }
    }
    if (strcmp(option->name, "insecure") == 0) {
        options->insecure = true;
        *ret_rc = 0;
    } else if (strcmp(option->name, "parent") == 0) {
        *ret_rc = follow(value, error);
    } else if (strcmp(option->name, "log-level") == 0) {
        *ret_rc = set_log_level(value, error);
    } else if (strcmp(option->name, "log-format") == 0) {
        *ret_rc = set_log_format(value, error);
    } else {
        return false;
    }
    return true;
}

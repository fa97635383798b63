/*
 * Daemon: what every program of ours does first, in one place. Part of the programs rather than of
 * the library: it logs.
 */
#ifndef AQ_COMMON_SYS_DAEMON_H
#define AQ_COMMON_SYS_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/sys/options.h"

/* As EX_IOERR, with which a learner ends whose last checkpoint could not be written, however often
 * it was tried. A service manager may start it again, once there is room. */
enum { AQ_EXIT_NOT_KEPT = 74 };

/* Fills in what is closed of the three standard files, gives the process one heap (memory.h), names
 * it in the log, turns writes to closed pipes into errors, lets signals end it also as the first
 * process of a container, allows it as many descriptors as the system does, and warns of values of
 * ACTORQ_LOG, ACTORQ_LOG_FORMAT and ACTORQ_CPU that nobody understands. Before any thread is
 * started. */
void aq_daemon_begin(const char *role, int64_t id);

/* What every daemon can be told besides its own options. Whatever has a name in the environment can
 * be set there as well, which is how containers are configured; an option wins. */
typedef struct aq_daemon_options {
    const char *certs_dir;  /* ACTORQ_CERTS; NULL: no TLS */
    const char *token_file; /* ACTORQ_TOKEN_FILE; NULL: no token */
    const char *http;       /* ACTORQ_HTTP: where to serve HTTP, "127.0.0.1:0"; NULL: nowhere */
    bool insecure;          /* ACTORQ_INSECURE=1: may listen beyond this host unprotected */
} aq_daemon_options;

#define AQ_PARENT_OPTION_ROW                                                                       \
    {                                                                                              \
        "parent", 0, "PID", "end when this process, which started it, ends", AQ_OPTION_TAKEN,      \
            .take = aq_daemon_take_parent                                                          \
    }

/* The rows of all that in a program's option table; `daemon` is the member of its arguments. */
#define AQ_DAEMON_OPTION_ROWS(type, daemon)                                                        \
    {"certs", 0, "DIR",                                                                            \
     "speak TLS only, with the authority, certificate and key in this folder (see 'actorq "        \
     "certs'); or ACTORQ_CERTS",                                                                   \
     AQ_TO_TEXT(type, daemon.certs_dir)},                                                          \
        {"token-file", 0, "FILE",                                                                  \
         "ask callers for the secret in this file, and show it to those that are called; or "      \
         "ACTORQ_TOKEN_FILE",                                                                      \
         AQ_TO_TEXT(type, daemon.token_file)},                                                     \
        {"insecure", 0, NULL,                                                                      \
         "listen beyond this host with neither certificates nor a token; or ACTORQ_INSECURE=1",    \
         AQ_TO_FLAG(type, daemon.insecure)},                                                       \
        {"http", 0, "HOST:PORT",                                                                   \
         "serve /metrics, /healthz and /readyz over HTTP here; or ACTORQ_HTTP (default: "          \
         "nowhere)",                                                                               \
         AQ_TO_TEXT(type, daemon.http)},                                                           \
        AQ_PARENT_OPTION_ROW,                                                                      \
        {"log-level",     0,                                                                       \
         "LEVEL",         "debug, info, warn, error or off (default info); or ACTORQ_LOG",         \
         AQ_OPTION_TAKEN, .take = aq_daemon_take_log_level},                                       \
    {                                                                                              \
        "log-format", 0, "FORMAT", "logfmt or json (default logfmt); or ACTORQ_LOG_FORMAT",        \
            AQ_OPTION_TAKEN, .take = aq_daemon_take_log_format                                     \
    }

int aq_daemon_take_parent(void *unused, const char *value, aq_error *error) AQ_MUST_USE;
int aq_daemon_take_log_level(void *unused, const char *value, aq_error *error) AQ_MUST_USE;
int aq_daemon_take_log_format(void *unused, const char *value, aq_error *error) AQ_MUST_USE;

/* The rows of a command that calls daemons. Each becomes the variable that it stands for, which
 * whatever this process calls with, or becomes, reads. Before there are threads. */
#define AQ_CREDENTIAL_OPTION_ROWS                                                                  \
    {"certs",                                                                                      \
     0,                                                                                            \
     "DIR",                                                                                        \
     "speak TLS, with the authority, certificate, key and token in this folder; or ACTORQ_CERTS",  \
     AQ_OPTION_TAKEN,                                                                              \
     .take = aq_credentials_take_certs},                                                           \
    {                                                                                              \
        "token-file", 0, "FILE",                                                                   \
            "show that this file's secret is known; or ACTORQ_TOKEN_FILE, or the secret itself "   \
            "in ACTORQ_TOKEN",                                                                     \
            AQ_OPTION_TAKEN, .take = aq_credentials_take_token_file                                \
    }

int aq_credentials_take_certs(void *unused, const char *value, aq_error *error) AQ_MUST_USE;
int aq_credentials_take_token_file(void *unused, const char *value, aq_error *error) AQ_MUST_USE;

/* Takes certificates and tokens out of this process's environment, for a program whose daemons meet
 * where nobody else can be. Before there are threads. */
void aq_credentials_forget(void);

/* Takes what the environment says. AQ_E_INVALID names the variable. */
int aq_daemon_read_environment(aq_daemon_options *options, aq_error *error) AQ_MUST_USE;

/* Refuses the lack of a --learner, in words. */
int aq_daemon_check_learner(const char *url, aq_error *error) AQ_MUST_USE;

/* Fills `arguments`, and `daemon` within it, from the environment and then the command line. True:
 * go on. False: the program is over, as of aq_command_begin. */
bool aq_daemon_arguments(const aq_options *page, int argc, char **argv, void *arguments,
                         aq_daemon_options *daemon, int *ret_status) AQ_MUST_USE;

#endif

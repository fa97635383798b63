/*
 * Own child: another process of this program, such as an `actorq train` for a command that trains
 * many runs. What it prints is kept in a file. Loop thread only.
 */
#ifndef AQ_CLI_LAUNCH_OWN_CHILD_H
#define AQ_CLI_LAUNCH_OWN_CHILD_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/error.h"

typedef struct aq_own_child aq_own_child;

struct aq_own_child {
    uv_process_t process;
    bool is_running;
    void *user;
    /* It is gone: by a signal, or by itself with that status. */
    void (*ended)(aq_own_child *child, int signal_number, int64_t status);
};

typedef struct aq_own_child_spec {
    const char *program;     /* the file of actorq */
    const char *const *args; /* behind "actorq", NULL-terminated; --parent comes by itself */
    const char *result_path; /* what it prints goes here; NULL: to standard error */
    const char *log_path;    /* where it complains; NULL: where this process does */
    int lent_file;           /* an open file that it has, too; -1: none */
} aq_own_child_spec;

/* `child` has its user and `ended`. It is another process group's, so that a Ctrl-C comes to this
 * process alone, which passes it on; it ends with this process, however that ends. AQ_E_IO
 * says why it could not be started, and other codes, too, which of its files can't be written;
 * `child` stays where it is then, too, until the loop has run. */
int aq_own_child_start(uv_loop_t *loop, aq_own_child *child, const aq_own_child_spec *spec,
                       aq_error *error) AQ_MUST_USE;

void aq_own_child_kill(aq_own_child *child, int signal_number); /* if it runs */

/* How many runs at once this host has processors for, one at least. */
unsigned aq_own_child_runs_fitting(void);

#endif

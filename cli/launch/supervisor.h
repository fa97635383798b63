/*
 * Supervisor: starts the daemons of a run as separate processes, keeps them running, and stops
 * them.
 *
 * A daemon that dies is started again with back-off (100 ms, doubling to 5 s, from the beginning
 * after 10 s of life), and its owner is told. One that five times in a row dies within 2 s, or ends
 * itself with EXIT_FAILURE within 10 s, is given up; a start that the system refuses counts as such
 * a death. So is one that ends itself so within 2 s of its very first start, or before it answered:
 * daemons refuse so what they cannot work with, and would refuse it again. One that exits with 0
 * has finished, and so has one whose end could not be kept (AQ_EXIT_NOT_KEPT). Standard output and
 * error of each go to a file of its own. Loop thread only.
 */
#ifndef AQ_CLI_LAUNCH_SUPERVISOR_H
#define AQ_CLI_LAUNCH_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/base/error.h"
#include "common/sys/cpus.h"

enum { AQ_SUPERVISOR_ARGS_MAX = 32 };

typedef struct aq_supervisor aq_supervisor;

typedef struct aq_child_spec {
    const char *name;                                 /* "actor-0" */
    const char *program;                              /* the file to run, or a name in PATH */
    const char *log_path;                             /* appended to */
    const char *args[AQ_SUPERVISOR_ARGS_MAX];         /* NULL-terminated, without argv[0] */
    const char *restart_args[AQ_SUPERVISOR_ARGS_MAX]; /* put after them from the second start on */
    /* Of one that only launches others: by how much it makes their life look longer, and how long
     * it may outlive all of them before it gets SIGKILL. 0: it is none. */
    int launch_ms, alone_ms;
    bool answers;        /* its owner says when: aq_supervisor_answered() */
    const aq_cpus *cpus; /* it runs on; NULL: any. Outlives the supervisor */
} aq_child_spec;

/* How a child came to be given up. Lent for the call. */
typedef struct aq_child_end {
    const char *name, *log_path;
    const char *how;   /* "exit status 1", or why it could not be started */
    int64_t log_start; /* where its last life begins in its log */
    bool has_refused;  /* it ended itself with EXIT_FAILURE, so its last words say why */
    bool is_first;     /* it was started once only */
} aq_child_end;

typedef struct aq_supervisor_owner {
    void *user;
    /* It died without being asked to, or could not be started again; in `delay_ms` it is. */
    void (*restarting)(void *user, const char *name, const char *how, int delay_ms);
    /* It exited with 0 without being asked to: it has done its part. */
    void (*finished)(void *user, const char *name);
    /* It refused its first start, or died at once too often: the run can't go on. */
    void (*gave_up)(void *user, const aq_child_end *end);
    /* It was to end in order and did not: it died, waited to be started again, or was killed, after
     * its time for that or at once; or it failed (`has_refused`), which is told before it has
     * finished. */
    void (*cut_short)(void *user, const aq_child_end *end);
} aq_supervisor_owner;

int aq_supervisor_create(uv_loop_t *loop, const aq_supervisor_owner *owner,
                         aq_supervisor **ret_supervisor) AQ_MUST_USE;

/* Copies what it needs of `spec` and starts it. On failure `error` names the program or the log
 * that could not be used (or it is AQ_E_FULL, AQ_E_NOMEM), and there is no such child. */
int aq_supervisor_start(aq_supervisor *supervisor, const aq_child_spec *spec,
                        aq_error *error) AQ_MUST_USE;

/* From now on the child is at work, and EXIT_FAILURE is no refusal but for its time. */
void aq_supervisor_answered(aq_supervisor *supervisor, const char *name);

/* SIGTERM to every child whose name begins with `prefix` ("" is all), or to what it has launched;
 * they are not started again. After `patience_ms` those that are left get SIGKILL. */
void aq_supervisor_stop(aq_supervisor *supervisor, const char *prefix, int patience_ms);

/* SIGKILL to all that live, now. */
void aq_supervisor_kill(aq_supervisor *supervisor);

/* Children that live or wait to be started again. */
size_t aq_supervisor_alive(const aq_supervisor *supervisor, const char *prefix);

/* Starts made after the first of each child. */
unsigned aq_supervisor_restarts(const aq_supervisor *supervisor);

/* None may live. The memory goes when the loop has run its close callbacks. NULL is fine. */
void aq_supervisor_close(aq_supervisor *supervisor);

#endif

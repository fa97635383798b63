/*
 * Sweep desk: where workers take runs and bring what came of them. Every call is one visit: it
 * takes the journal's lock, reads what others did, and writes one event or a few. One owner; any
 * number of desks at one journal, in one process or many.
 */
#ifndef AQ_CLI_SWEEP_JOURNAL_SWEEP_DESK_H
#define AQ_CLI_SWEEP_JOURNAL_SWEEP_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/sweep/journal/sweep_journal.h"
#include "cli/sweep/study/sweep_study.h"
#include "common/base/buffer.h"
#include "common/base/error.h"

typedef struct aq_sweep_desk aq_sweep_desk;

typedef enum aq_sweep_errand {
    AQ_SWEEP_RUN_IT, /* a run was claimed */
    AQ_SWEEP_WAIT,   /* all that there is to do is others' */
    AQ_SWEEP_OVER,   /* the study has ended */
} aq_sweep_errand;

/* When, for events and for leases. */
typedef struct aq_sweep_now {
    double wall_s;
    int64_t monotonic_ns;
} aq_sweep_now;

/* DIR/SPEC.yaml as it is read, and the journal as far as it is. `worker` is "" for one who only
 * looks, and needs no leave to write. AQ_E_NOT_FOUND: there is no sweep. */
int aq_sweep_desk_open(const char *dir, const char *worker, aq_sweep_desk **ret_desk,
                       aq_error *error) AQ_MUST_USE;
void aq_sweep_desk_close(aq_sweep_desk *desk); /* NULL is fine */

/* Makes a new sweep of a spec that was read from `text` and checked: DIR/SPEC.yaml, and the first
 * line of the journal. AQ_E_EXISTS; AQ_E_FOREIGN: the folder is of something else. */
int aq_sweep_desk_found(const char *dir, const aq_sweep_spec *spec, const aq_buffer *text,
                        const aq_sweep_plan *plan, double wall_s, aq_error *error) AQ_MUST_USE;

/* Whether the sweep in DIR is of this text; AQ_E_EXISTS when it is of another. */
int aq_sweep_desk_check(const char *dir, const aq_buffer *text, aq_error *error) AQ_MUST_USE;

/* How visits wait for the journal's lock (sweep_journal.h); else for however long it takes. */
void aq_sweep_desk_wait_by(aq_sweep_desk *desk, aq_sweep_wait wait, void *user);

/* As it was at the last visit. */
const aq_sweep_study *aq_sweep_desk_study(const aq_sweep_desk *desk);

/* Looks at what others did; writes nothing. */
int aq_sweep_desk_look(aq_sweep_desk *desk, aq_error *error) AQ_MUST_USE;

/* Claims the first run that is to be had, one whose worker is lost included; decides on the next
 * round when all are over. */
int aq_sweep_desk_claim(aq_sweep_desk *desk, aq_sweep_now now, aq_sweep_errand *ret_errand,
                        size_t *ret_run, uint32_t *ret_attempt, aq_error *error) AQ_MUST_USE;

/* Before the run's folder is changed: AQ_E_CLOSED when the lease has ended meanwhile and another
 * worker has the run. */
int aq_sweep_desk_check_lease(aq_sweep_desk *desk, size_t run, uint32_t attempt,
                              aq_error *error) AQ_MUST_USE;

/* Brings what came of it. When the lease has ended meanwhile and another worker has the run,
 * nothing is written: AQ_E_CLOSED. */
int aq_sweep_desk_report(aq_sweep_desk *desk, aq_sweep_now now, size_t run, uint32_t attempt,
                         const aq_sweep_outcome *outcome, aq_error *error) AQ_MUST_USE;

/* Gives it back as it is, for another: since the worker was asked to stop, or for what came of the
 * training, which counts as a loss. Likewise. */
int aq_sweep_desk_release(aq_sweep_desk *desk, aq_sweep_now now, size_t run, uint32_t attempt,
                          bool is_asked, aq_error *error) AQ_MUST_USE;

#endif

/*
 * Sweep desk: see sweep_desk.h.
 */
#include "cli/sweep/journal/sweep_desk.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/run/run_paths.h"
#include "cli/sweep/journal/sweep_lease.h"
#include "cli/sweep/study/sweep_round.h"
#include "common/base/clock.h"
#include "common/base/crc32c.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

struct aq_sweep_desk {
    char dir[PATH_MAX];
    char worker[AQ_SWEEP_WORKER_MAX];
    aq_sweep_spec spec;
    aq_sweep_study study;
    aq_sweep_journal *journal;
    aq_sweep_wait wait; /* NULL: in the lock */
    void *wait_user;
    aq_sweep_watch *watch;
    size_t first_open; /* no run before it is */
};

/* Whether runs or a comparison have the folder, or any other report that would be written over. */
static bool is_of_others(const char *dir)
{
    aq_run_paths runs = {0};
    const bool is_theirs = aq_path_exists_in(dir, "plan.json") ||
                           aq_path_exists_in(dir, "report.html") ||
                           aq_run_paths_add(&runs, dir, 0, NULL) == AQ_E_TOO_BIG;
    aq_run_paths_fini(&runs);
    /* Asked last, since who founds it meanwhile begins with the journal. */
    return is_theirs && !aq_path_exists_in(dir, "journal.jsonl");
}

/* Puts it there, or sees that it is the one that is. */
static int keep_spec(const char *dir, const aq_buffer *text, aq_error *error)
{
    char path[PATH_MAX + 16];
    int rc = aq_path_in(path, sizeof(path), dir, "SPEC.yaml", error);
    if (rc != 0) {
        return rc;
    }
    return aq_path_exists(path) ? aq_sweep_desk_check(dir, text, error)
                                : aq_file_write_atomic(path, text->data, text->size, error);
}

/* Two may do so at once: who has the lock first, founds it. */
static int begin_journal(const char *dir, const aq_buffer *text, aq_sweep_study *study,
                         const aq_sweep_event *event, aq_error *error)
{
    aq_sweep_journal *journal = NULL;
    int rc = aq_sweep_journal_open(dir, O_RDWR | O_CREAT, &journal, error);
    if (rc == 0) {
        rc = aq_sweep_journal_lock(journal, NULL, NULL, error);
    }
    if (rc == 0) {
        rc = aq_sweep_journal_read(journal, study, error);
    }
    const bool is_there = rc == AQ_E_FOREIGN || (rc == 0 && study->is_begun);
    if (rc == 0 || is_there) {
        rc = keep_spec(dir, text, error);
    }
    if (rc == 0 && is_there) {
        rc = aq_fail(error, AQ_E_EXISTS, "%s holds a sweep already; --resume goes on with it", dir);
    }
    if (rc == 0) { /* last: where it is, the spec is, too */
        rc = aq_sweep_journal_append(journal, study, event, error);
    }
    aq_sweep_journal_close(journal);
    return rc;
}

int aq_sweep_desk_found(const char *dir, const aq_sweep_spec *spec, const aq_buffer *text,
                        const aq_sweep_plan *plan, double wall_s, aq_error *error)
{
    aq_sweep_study study;
    const aq_sweep_event event = {.kind = AQ_SWEEP_EVENT_STUDY,
                                  .time_s = wall_s,
                                  .spec_sum = aq_crc32c(0, text->data, text->size),
                                  .plan = *plan};
    int rc = is_of_others(dir)
                 ? aq_fail(error, AQ_E_FOREIGN,
                           "%s exists already and is no sweep: give another folder", dir)
                 : aq_dir_create(dir, error);
    aq_sweep_study_init(&study, spec, event.spec_sum);
    rc = rc == 0 ? begin_journal(dir, text, &study, &event, error) : rc;
    aq_sweep_study_fini(&study);
    return rc;
}

int aq_sweep_desk_check(const char *dir, const aq_buffer *text, aq_error *error)
{
    char path[PATH_MAX + 16];
    aq_buffer kept;
    aq_buffer_init(&kept, AQ_SWEEP_SPEC_BYTES_MAX);
    int rc = aq_path_in(path, sizeof(path), dir, "SPEC.yaml", error);
    if (rc == 0) {
        rc = aq_file_read(path, &kept, error);
    }
    if (rc == 0 && (kept.size != text->size || memcmp(kept.data, text->data, text->size) != 0)) {
        rc = aq_fail(error, AQ_E_EXISTS,
                     "%s is of another SPEC.yaml, and a sweep goes on as it was begun: leave this "
                     "one out, or give another folder",
                     dir);
    }
    aq_buffer_fini(&kept);
    return rc;
}

/* ---- the object ----------------------------------------------------------------------------- */

static int read_spec(aq_sweep_desk *desk, uint32_t *ret_sum, aq_error *error)
{
    char path[PATH_MAX + 16];
    aq_buffer text;
    aq_buffer_init(&text, AQ_SWEEP_SPEC_BYTES_MAX);
    int rc = aq_path_in(path, sizeof(path), desk->dir, "SPEC.yaml", error);
    if (rc == 0 && !aq_path_exists(path)) {
        rc = aq_fail(error, AQ_E_NOT_FOUND, "%s holds no sweep (there is no %s)", desk->dir, path);
    }
    if (rc == 0) {
        rc = aq_file_read(path, &text, error);
    }
    if (rc == 0) {
        rc = aq_sweep_spec_read(path, (const char *)text.data, text.size, &desk->spec, error);
    }
    if (rc == 0) {
        *ret_sum = aq_crc32c(0, text.data, text.size);
    }
    aq_buffer_fini(&text);
    return rc;
}

static int open_desk(aq_sweep_desk *desk, aq_error *error)
{
    uint32_t sum = 0;
    int rc = read_spec(desk, &sum, error);
    aq_sweep_study_init(&desk->study, &desk->spec, sum);
    if (rc == 0) {
        rc = aq_sweep_journal_open(desk->dir, desk->worker[0] != '\0' ? O_RDWR : O_RDONLY,
                                   &desk->journal, error);
    }
    if (rc == 0 && aq_sweep_watch_create(desk->dir, (int64_t)(desk->spec.lease_s * AQ_NS_PER_S),
                                         &desk->watch) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "%s: out of memory", desk->dir);
    }
    rc = rc != 0 ? rc : aq_sweep_desk_look(desk, error);
    return rc == 0 && !desk->study.is_begun
               ? aq_fail(error, AQ_E_NOT_FOUND,
                         "%s: the sweep was never begun: give its SPEC.yaml "
                         "without --resume",
                         desk->dir)
               : rc;
}

int aq_sweep_desk_open(const char *dir, const char *worker, aq_sweep_desk **ret_desk,
                       aq_error *error)
{
    aq_sweep_desk *desk = aq_alloc(1, sizeof(*desk));
    if (desk == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", dir);
    }
    int rc = aq_text_set(desk->dir, sizeof(desk->dir), dir) != 0 ||
                     aq_text_set(desk->worker, sizeof(desk->worker), worker) != 0
                 ? aq_fail(error, AQ_E_TOO_BIG, "%s: the path is too long", dir)
                 : open_desk(desk, error);
    if (rc != 0) {
        aq_sweep_desk_close(desk);
        return rc;
    }
    *ret_desk = desk;
    return 0;
}

void aq_sweep_desk_close(aq_sweep_desk *desk)
{
    if (desk != NULL) {
        aq_sweep_journal_close(desk->journal);
        aq_sweep_watch_destroy(desk->watch);
        aq_sweep_study_fini(&desk->study);
        aq_free(desk);
    }
}

void aq_sweep_desk_wait_by(aq_sweep_desk *desk, aq_sweep_wait wait, void *user)
{
    desk->wait = wait;
    desk->wait_user = user;
}

const aq_sweep_study *aq_sweep_desk_study(const aq_sweep_desk *desk)
{
    return &desk->study;
}

int aq_sweep_desk_look(aq_sweep_desk *desk, aq_error *error)
{
    return aq_sweep_journal_read(desk->journal, &desk->study, error);
}

/* ---- visits --------------------------------------------------------------------------------- */

static int begin_visit(aq_sweep_desk *desk, aq_error *error)
{
    int rc = aq_sweep_journal_lock(desk->journal, desk->wait, desk->wait_user, error);
    return rc != 0 ? rc : aq_sweep_desk_look(desk, error);
}

static aq_sweep_event event_of(const aq_sweep_desk *desk, enum aq_sweep_event_kind kind,
                               aq_sweep_now now, size_t run, uint32_t attempt)
{
    aq_sweep_event event = {.kind = kind, .time_s = now.wall_s, .run = run, .attempt = attempt};
    memcpy(event.worker, desk->worker, sizeof(event.worker));
    return event;
}

/* All is over that there is: what comes next, or the end. */
static int decide(aq_sweep_desk *desk, aq_sweep_now now, aq_error *error)
{
    aq_sweep_event event = {.time_s = now.wall_s, .round = desk->study.rounds};
    int rc = aq_sweep_next_round(&desk->study, &event.stages, &event.stage_count);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: %s", desk->dir, aq_error_text(rc));
    }
    event.kind = event.stage_count > 0 ? AQ_SWEEP_EVENT_SUGGEST : AQ_SWEEP_EVENT_END;
    rc = aq_sweep_journal_append(desk->journal, &desk->study, &event, error);
    aq_sweep_event_fini(&event);
    return rc;
}

/* The first that is open, or whose worker is lost; `run_count` when there is none. */
static size_t find_run(aq_sweep_desk *desk, aq_sweep_now now)
{
    const aq_sweep_study *study = &desk->study;
    for (size_t i = desk->first_open; i < study->run_count; i++) {
        const aq_sweep_run *run = &study->runs[i];
        if (run->state >= AQ_SWEEP_DONE) {
            desk->first_open += i == desk->first_open;
        } else if (run->state == AQ_SWEEP_OPEN ||
                   aq_sweep_watch_is_over(desk->watch, run->worker, now.monotonic_ns)) {
            return i;
        }
    }
    return study->run_count;
}

/* What keeps killing it is the run's own then. That a worker was asked to stop says nothing of it:
 * some nodes are taken away by the hour. */
static bool is_hopeless(const aq_sweep_run *run)
{
    return run->losses + (run->state == AQ_SWEEP_RUNNING) >= AQ_SWEEP_LOSSES_MAX;
}

/* So that there is an end to it. */
static int give_up(aq_sweep_desk *desk, aq_sweep_now now, size_t run, aq_error *error)
{
    const uint32_t attempt = desk->study.runs[run].attempt + 1;
    const aq_sweep_event taken = event_of(desk, AQ_SWEEP_EVENT_CLAIM, now, run, attempt);
    aq_sweep_event event = event_of(desk, AQ_SWEEP_EVENT_REPORT, now, run, attempt);
    event.outcome.is_failed = true;
    (void)snprintf(event.outcome.reason, sizeof(event.outcome.reason),
                   "its worker was lost, or its training was killed or stopped, %d times",
                   AQ_SWEEP_LOSSES_MAX);
    int rc = aq_sweep_journal_append(desk->journal, &desk->study, &taken, error);
    return rc != 0 ? rc : aq_sweep_journal_append(desk->journal, &desk->study, &event, error);
}

static int claim(aq_sweep_desk *desk, aq_sweep_now now, aq_sweep_errand *ret_errand,
                 size_t *ret_run, uint32_t *ret_attempt, aq_error *error)
{
    const aq_sweep_study *study = &desk->study;
    int rc = 0;
    while (rc == 0 && !study->is_ended) {
        const size_t run = find_run(desk, now);
        if (aq_sweep_study_is_idle(study)) {
            rc = decide(desk, now, error);
        } else if (run == study->run_count) {
            *ret_errand = AQ_SWEEP_WAIT;
            return 0;
        } else if (is_hopeless(&study->runs[run])) {
            rc = give_up(desk, now, run, error);
        } else {
            const aq_sweep_event event =
                event_of(desk, AQ_SWEEP_EVENT_CLAIM, now, run, study->runs[run].attempt + 1);
            *ret_errand = AQ_SWEEP_RUN_IT;
            *ret_run = run;
            *ret_attempt = event.attempt;
            return aq_sweep_journal_append(desk->journal, &desk->study, &event, error);
        }
    }
    *ret_errand = AQ_SWEEP_OVER;
    return rc;
}

int aq_sweep_desk_claim(aq_sweep_desk *desk, aq_sweep_now now, aq_sweep_errand *ret_errand,
                        size_t *ret_run, uint32_t *ret_attempt, aq_error *error)
{
    int rc = begin_visit(desk, error);
    if (rc == 0) {
        rc = claim(desk, now, ret_errand, ret_run, ret_attempt, error);
    }
    aq_sweep_journal_unlock(desk->journal);
    return rc;
}

static int begin_visit_with(aq_sweep_desk *desk, size_t run, uint32_t attempt, aq_error *error)
{
    int rc = begin_visit(desk, error);
    if (rc == 0 && (desk->study.is_ended || !aq_sweep_study_holds(&desk->study, run, attempt))) {
        rc = aq_fail(error, AQ_E_CLOSED, "the lease of run %zu had ended", run);
    }
    return rc;
}

int aq_sweep_desk_check_lease(aq_sweep_desk *desk, size_t run, uint32_t attempt, aq_error *error)
{
    int rc = begin_visit_with(desk, run, attempt, error);
    aq_sweep_journal_unlock(desk->journal);
    return rc;
}

static int bring(aq_sweep_desk *desk, const aq_sweep_event *event, aq_error *error)
{
    int rc = begin_visit_with(desk, event->run, event->attempt, error);
    if (rc == 0) {
        rc = aq_sweep_journal_append(desk->journal, &desk->study, event, error);
    }
    aq_sweep_journal_unlock(desk->journal);
    return rc;
}

int aq_sweep_desk_report(aq_sweep_desk *desk, aq_sweep_now now, size_t run, uint32_t attempt,
                         const aq_sweep_outcome *outcome, aq_error *error)
{
    aq_sweep_event event = event_of(desk, AQ_SWEEP_EVENT_REPORT, now, run, attempt);
    event.outcome = *outcome;
    return bring(desk, &event, error);
}

int aq_sweep_desk_release(aq_sweep_desk *desk, aq_sweep_now now, size_t run, uint32_t attempt,
                          bool is_asked, aq_error *error)
{
    aq_sweep_event event = event_of(desk, AQ_SWEEP_EVENT_RELEASE, now, run, attempt);
    event.is_asked = is_asked;
    return bring(desk, &event, error);
}

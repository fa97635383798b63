/*
 * Sweep worker: see sweep_worker.h.
 *
 *   claim -> prepare -> train -> report -> claim ...
 *
 * What a child that a signal ended was at is given back, as it can go on; one that ended by itself
 * has said what there is to say.
 */
#include "cli/sweep/work/sweep_worker.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "cli/launch/own_loop.h"
#include "cli/sweep/journal/sweep_desk.h"
#include "cli/sweep/journal/sweep_lease.h"
#include "cli/sweep/training/sweep_prune.h"
#include "cli/sweep/training/sweep_training.h"
#include "cli/text/figure_text.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/plain_text.h"
#include "common/base/rng.h"
#include "common/sys/machine.h"
#include "common/sys/process.h"

enum {
    BEAT_MS = 1000,
    LOOK_MS = 100,
    LOOK_MS_MAX = 2000,
    LOCK_MS = 20,
    STOPPING_MS_MAX = 5000,
};

typedef struct worker {
    aq_own_loop loop;
    uv_timer_t beat, pause;
    const char *dir;
    aq_sweep_desk *desk;
    const aq_sweep_study *study; /* the desk's */
    aq_sweep_presence *presence;
    aq_own_child child;
    char program[PATH_MAX];
    char name[AQ_SWEEP_WORKER_MAX];
    int ended_by; /* a signal, of the child that ended last; 0: itself */
    bool is_stopped, is_quiet;
    unsigned stopping_ms; /* waited for the lock since it is to stop */
} worker;

static aq_sweep_now now(void)
{
    return (aq_sweep_now){aq_ns_to_s(aq_clock_wall_ns()), aq_clock_monotonic_ns()};
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void on_beat(uv_timer_t *timer)
{
    aq_sweep_presence_beat(((worker *)timer->data)->presence);
}

static void on_pause(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

static void on_signal(void *user, int number)
{
    worker *its = user;
    its->is_stopped = true;
    aq_own_child_kill(&its->child, number);
    uv_stop(&its->loop.uv);
}

static void on_child_ended(aq_own_child *child, int signal_number, int64_t status)
{
    worker *its = child->user;
    (void)status;
    its->ended_by = signal_number;
    uv_stop(&its->loop.uv);
}

/* Returns early when it is asked to stop. */
static void pause_for(worker *its, uint64_t ms)
{
    uv_timer_start(&its->pause, on_pause, ms, 0);
    (void)uv_run(&its->loop.uv, UV_RUN_DEFAULT);
    uv_timer_stop(&its->pause);
}

/* One who has the journal's lock may stand still. Asked to stop, a worker waits for it a while, so
 * that its run can be given back, and no longer. */
static bool wait_for_lock(void *user)
{
    worker *its = user;
    pause_for(its, LOCK_MS);
    its->stopping_ms += its->is_stopped ? LOCK_MS : 0;
    return its->stopping_ms < STOPPING_MS_MAX;
}

/* ---- apart from the loop -------------------------------------------------------------------- */

/* What copies or removes whole folders may take longer than a lease, and the loop beats. */
typedef int (*folder_work)(const worker *its, size_t run, aq_error *error);

typedef struct folder_job {
    uv_work_t work;
    folder_work act;
    const worker *its;
    size_t run;
    aq_error *error;
    int rc;
    bool is_done;
} folder_job;

static void act_apart(uv_work_t *work)
{
    folder_job *job = work->data;
    job->rc = job->act(job->its, job->run, job->error);
}

static void on_acted(uv_work_t *work, int status)
{
    folder_job *job = work->data;
    (void)status; /* nobody cancels it */
    job->is_done = true;
    uv_stop(work->loop);
}

static int apart(worker *its, folder_work act, size_t run, aq_error *error)
{
    folder_job job = {.act = act, .its = its, .run = run, .error = error};
    job.work.data = &job;
    (void)uv_queue_work(&its->loop.uv, &job.work, act_apart, on_acted);
    while (!job.is_done) {
        (void)uv_run(&its->loop.uv, UV_RUN_DEFAULT);
    }
    return job.rc;
}

static int prepare_folder(const worker *its, size_t run, aq_error *error)
{
    return aq_sweep_training_prepare(its->study, its->dir, run, error);
}

static int prune(const worker *its, size_t run, aq_error *error)
{
    aq_sweep_pruned ignored;
    (void)run;
    return aq_sweep_prune(its->study, its->dir, &ignored) != 0
               ? aq_fail(error, AQ_E_NOMEM, "out of memory")
               : 0;
}

/* ---- one run -------------------------------------------------------------------------------- */

/* Processes of an attempt whose worker was lost may take a while to end; and this worker may have
 * stood still meanwhile, and the run be another's. */
static int prepare(worker *its, size_t run, uint32_t attempt, aq_error *error)
{
    int rc = AQ_E_AGAIN;
    while (rc == AQ_E_AGAIN && !its->is_stopped) {
        rc = aq_sweep_desk_check_lease(its->desk, run, attempt, error);
        rc = rc != 0 ? rc : apart(its, prepare_folder, run, error);
        if (rc == AQ_E_AGAIN) {
            pause_for(its, LOOK_MS);
        }
    }
    return rc == AQ_E_AGAIN ? 0 : rc;
}

static int train(worker *its, size_t run, uint32_t attempt, aq_error *error)
{
    its->ended_by = 0;
    if (aq_sweep_run_trained(its->study, run) != run) { /* nothing is left to train */
        return 0;
    }
    int rc = prepare(its, run, attempt, error);
    if (rc != 0 || its->is_stopped || aq_sweep_training_is_over(its->study, its->dir, run)) {
        return rc;
    }
    its->child = (aq_own_child){.user = its, .ended = on_child_ended};
    rc = aq_sweep_training_start(its->study, its->dir, run, its->program,
                                 aq_sweep_presence_file(its->presence), &its->loop.uv, &its->child,
                                 error);
    while (rc == 0 && its->child.is_running) {
        (void)uv_run(&its->loop.uv, UV_RUN_DEFAULT);
    }
    return rc;
}

static void say(const worker *its, size_t run, const aq_sweep_outcome *outcome)
{
    const enum aq_sweep_figure scored = its->study->spec->score;
    char name[96];
    aq_figure score, wall;
    aq_sweep_run_name(its->study, run, name, sizeof(name));
    if (its->is_quiet) {
        return;
    }
    if (isatty(STDERR_FILENO)) {
        (void)fputs("\r\033[K", stderr); /* over what sweep_drive.c shows there */
    }
    if (outcome->is_failed) {
        aq_print_line(stderr, "%s: %s", name + strlen("runs/"), outcome->reason);
    } else {
        aq_print_line(stderr, "%s: %s %s, %s", name + strlen("runs/"), aq_sweep_figure_name(scored),
                      aq_figure_return(&score, outcome->figures[scored]),
                      aq_figure_duration(&wall, outcome->figures[AQ_SWEEP_WALL]));
    }
}

static int do_run(worker *its, size_t run, uint32_t attempt, aq_error *error)
{
    aq_sweep_outcome outcome;
    int rc = train(its, run, attempt, error);
    const bool is_left = rc != 0 || its->is_stopped || its->ended_by != 0;
    if (is_left || !aq_sweep_training_outcome(its->study, its->dir, run, &outcome)) {
        aq_error late;
        const int gave = aq_sweep_desk_release(its->desk, now(), run, attempt, its->is_stopped,
                                               rc != 0 ? &late : error);
        if (rc == 0 || gave == AQ_E_CLOSED) {
            rc = gave;
        }
    } else {
        rc = aq_sweep_desk_report(its->desk, now(), run, attempt, &outcome, error);
        if (rc == 0) {
            say(its, run, &outcome);
        }
    }
    return rc == AQ_E_CLOSED ? 0 : rc; /* another one has it now */
}

/* By one of the workers, with the first run of each round, and when all is over. */
static int tidy(worker *its, aq_error *error)
{
    return its->study->spec->prunes ? apart(its, prune, 0, error) : 0;
}

static bool begins_round(const aq_sweep_study *study, size_t run)
{
    return run > 0 && study->stages[study->runs[run].stage].round !=
                          study->stages[study->runs[run - 1].stage].round;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static int work(worker *its, aq_error *error)
{
    uint64_t pause_ms = LOOK_MS;
    while (!its->is_stopped) {
        aq_sweep_errand errand;
        size_t run = 0;
        uint32_t attempt = 0;
        int rc = aq_sweep_desk_claim(its->desk, now(), &errand, &run, &attempt, error);
        if (rc == 0 && errand == AQ_SWEEP_RUN_IT) {
            rc = begins_round(its->study, run) ? tidy(its, error) : 0;
            rc = rc != 0 ? rc : do_run(its, run, attempt, error);
            pause_ms = LOOK_MS;
        } else if (rc == 0 && errand == AQ_SWEEP_WAIT) {
            pause_for(its, pause_ms);
            pause_ms = pause_ms * 5 / 4 < LOOK_MS_MAX ? pause_ms * 5 / 4 : LOOK_MS_MAX;
        }
        if (rc != 0 || errand == AQ_SWEEP_OVER) {
            return rc != 0 ? rc : tidy(its, error);
        }
    }
    return 0;
}

/* Nobody else's, on any host, at any time. */
static void name_worker(worker *its)
{
    char host[40];
    aq_machine_host(host, sizeof(host));
    for (char *letter = host; *letter != '\0'; letter++) {
        if (*letter == '/' || *letter < '!' || *letter > '~') {
            *letter = '-';
        }
    }
    (void)snprintf(its->name, sizeof(its->name), "%s-%ld-%08" PRIx32, host, (long)getpid(),
                   (uint32_t)aq_rng_system_seed());
}

static int begin(worker *its, aq_error *error)
{
    (void)uv_timer_init(&its->loop.uv, &its->beat);
    (void)uv_timer_init(&its->loop.uv, &its->pause);
    its->beat.data = its;
    uv_timer_start(&its->beat, on_beat, BEAT_MS, BEAT_MS);
    return aq_process_find_program("actorq", "cli", its->program, sizeof(its->program), error);
}

int aq_sweep_work(const char *dir, bool quiet, bool *ret_stopped, aq_error *error)
{
    worker *its = aq_alloc(1, sizeof(*its));
    int rc = its != NULL ? aq_own_loop_init(&its->loop, on_signal, its, error)
                         : aq_fail(error, AQ_E_NOMEM, "out of memory");
    if (rc != 0) {
        aq_free(its);
        return rc;
    }
    its->dir = dir;
    its->is_quiet = quiet;
    name_worker(its);
    rc = begin(its, error);
    if (rc == 0) {
        rc = aq_sweep_desk_open(dir, its->name, &its->desk, error);
    }
    if (rc == 0) {
        aq_sweep_desk_wait_by(its->desk, wait_for_lock, its);
        its->study = aq_sweep_desk_study(its->desk);
        rc = aq_sweep_spec_check_same(its->study->spec, its->study->plan.settings_sum, error);
    }
    if (rc == 0) {
        rc = aq_sweep_presence_create(dir, its->name, &its->presence, error);
    }
    if (rc == 0) {
        rc = work(its, error);
    }
    *ret_stopped = its->is_stopped;
    uv_timer_stop(&its->beat); /* before what it counts in is gone */
    aq_sweep_presence_destroy(its->presence);
    aq_sweep_desk_close(its->desk);
    aq_own_loop_fini(&its->loop);
    aq_free(its);
    return rc;
}

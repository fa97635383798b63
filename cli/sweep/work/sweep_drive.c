/*
 * Sweep drive: see sweep_drive.h.
 */
#include "cli/sweep/work/sweep_drive.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

#include "cli/launch/own_child.h"
#include "cli/launch/own_loop.h"
#include "cli/sweep/journal/sweep_desk.h"
#include "cli/sweep/report/sweep_table.h"
#include "common/base/memory.h"
#include "common/sys/process.h"

enum { LOOK_MS = 500, AGAIN_MS = 200, TRIES_MAX = 50 };

typedef struct drive {
    aq_own_loop loop;
    uv_timer_t look, again;
    aq_sweep_desk *desk;
    const char *dir;
    char program[PATH_MAX];
    aq_own_child *children;
    size_t count, running;
    unsigned tries; /* in a row that came to nothing */
    bool is_stopped, is_quiet;
    bool is_shown;  /* a line of progress, on a terminal */
    aq_error error; /* of the last that could not be started */
} drive;

/* ---- workers -------------------------------------------------------------------------------- */

static void on_child_ended(aq_own_child *child, int signal_number, int64_t status);

static int start_one(drive *its, aq_own_child *child)
{
    /* The task is one that this process was allowed to open. */
    const char *const args[] = {
        "sweep", "work", its->dir, "--allow-code", its->is_quiet ? "--quiet" : NULL, NULL};
    const aq_own_child_spec spec = {.program = its->program, .args = args, .lent_file = -1};
    *child = (aq_own_child){.user = its, .ended = on_child_ended};
    int rc = aq_own_child_start(&its->loop.uv, child, &spec, &its->error);
    its->running += rc == 0;
    its->tries = rc == 0 ? 0 : its->tries + 1;
    return rc;
}

static void on_again(uv_timer_t *timer)
{
    drive *its = timer->data;
    for (size_t i = 0; i < its->count && !its->is_stopped; i++) {
        /* Without a user: ended by a signal. */
        if (!its->children[i].is_running && its->children[i].user == NULL &&
            start_one(its, &its->children[i]) != 0) {
            its->children[i].user = NULL;
            if (its->tries < TRIES_MAX) {
                uv_timer_start(&its->again, on_again, AGAIN_MS, 0);
            }
            break;
        }
    }
    if (its->running == 0 && !uv_is_active((uv_handle_t *)timer)) {
        uv_stop(&its->loop.uv);
    }
}

/* One that was killed comes back; one that ended by itself has said why, or the study is over. */
static void on_child_ended(aq_own_child *child, int signal_number, int64_t status)
{
    drive *its = child->user;
    (void)status;
    its->running--;
    if (signal_number != 0 && !its->is_stopped) {
        child->user = NULL; /* to be started again */
        uv_timer_start(&its->again, on_again, AGAIN_MS, 0);
    } else if (its->running == 0 && !uv_is_active((uv_handle_t *)&its->again)) {
        uv_stop(&its->loop.uv);
    }
}

static void on_signal(void *user, int number)
{
    drive *its = user;
    its->is_stopped = true;
    for (size_t i = 0; i < its->count; i++) {
        aq_own_child_kill(&its->children[i], number);
    }
    if (its->running == 0) {
        uv_stop(&its->loop.uv);
    }
}

/* ---- progress ------------------------------------------------------------------------------- */

static void clear_line(const drive *its)
{
    if (its->is_shown) {
        (void)fprintf(stderr, "\r\033[K");
    }
}

static void on_look(uv_timer_t *timer)
{
    drive *its = timer->data;
    aq_sweep_summary summary;
    aq_error ignored; /* workers say what is wrong with the journal */
    char line[256];
    if (aq_sweep_desk_look(its->desk, &ignored) != 0 ||
        aq_sweep_summary_make(aq_sweep_desk_study(its->desk), its->dir, &summary) != 0) {
        return;
    }
    clear_line(its);
    (void)fprintf(stderr, "%s", aq_sweep_progress_line(&summary, line, sizeof(line)));
    (void)fflush(stderr);
    its->is_shown = true;
    aq_sweep_summary_fini(&summary);
}

/* ---- all ------------------------------------------------------------------------------------ */

static int begin(drive *its, aq_error *error)
{
    (void)uv_timer_init(&its->loop.uv, &its->look);
    (void)uv_timer_init(&its->loop.uv, &its->again);
    its->look.data = its;
    its->again.data = its;
    int rc = aq_process_find_program("actorq", "cli", its->program, sizeof(its->program), error);
    rc = rc != 0 ? rc : aq_sweep_desk_open(its->dir, "", &its->desk, error);
    const aq_sweep_study *study = rc == 0 ? aq_sweep_desk_study(its->desk) : NULL;
    return rc != 0 ? rc : aq_sweep_spec_check_same(study->spec, study->plan.settings_sum, error);
}

static int run_all(drive *its, aq_error *error)
{
    if (!its->is_quiet && isatty(STDERR_FILENO)) {
        uv_timer_start(&its->look, on_look, LOOK_MS, LOOK_MS);
    }
    for (size_t i = 0; i < its->count; i++) {
        if (start_one(its, &its->children[i]) != 0) {
            break;
        }
    }
    if (its->running > 0) {
        (void)uv_run(&its->loop.uv, UV_RUN_DEFAULT);
    }
    clear_line(its);
    int rc = aq_sweep_desk_look(its->desk, error);
    if (rc == 0 && !its->is_stopped && !aq_sweep_desk_study(its->desk)->is_ended) {
        rc = aq_fail(error, AQ_E_PEER, "%s",
                     its->error.text[0] != '\0' ? its->error.text : "no worker is left");
    }
    return rc;
}

int aq_sweep_drive(const char *dir, size_t workers, bool quiet, bool *ret_stopped, aq_error *error)
{
    drive *its = aq_alloc(1, sizeof(*its));
    int rc = its != NULL ? aq_own_loop_init(&its->loop, on_signal, its, error)
                         : aq_fail(error, AQ_E_NOMEM, "out of memory");
    if (rc != 0) {
        aq_free(its);
        return rc;
    }
    its->dir = dir;
    its->is_quiet = quiet;
    its->count = workers > 0 ? workers : aq_own_child_runs_fitting();
    its->children = aq_alloc(its->count, sizeof(*its->children));
    rc = its->children != NULL ? begin(its, error) : aq_fail(error, AQ_E_NOMEM, "out of memory");
    if (rc == 0) {
        rc = run_all(its, error);
    }
    *ret_stopped = its->is_stopped;
    aq_sweep_desk_close(its->desk);
    aq_own_loop_fini(&its->loop);
    aq_free(its->children);
    aq_free(its);
    return rc;
}

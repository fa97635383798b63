/*
 * Supervisor: see supervisor.h.
 *
 *   child: STARTED --exit--> WAITING --timer--> STARTED
 *              \--stop--> STOPPING --exit--> GONE
 */
#include "cli/launch/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/sys/daemon.h"
#include "common/sys/process.h"

enum {
    CHILDREN_MAX = 4200,
    DELAY_MIN_MS = 100,
    DELAY_MAX_MS = 5000,
    LONG_LIFE_MS = 10000, /* a child that lived this long starts with the shortest delay again */
    QUICK_DEATH_MS = 2000,
    QUICK_DEATHS_MAX = 5,
    ALONE_LOOKS = 5, /* in aq_child_spec.alone_ms */
    ARGV_MAX = 2 * AQ_SUPERVISOR_ARGS_MAX + 2,
};

enum child_state { CHILD_STARTED, CHILD_WAITING, CHILD_STOPPING, CHILD_GONE };

typedef struct child {
    aq_supervisor *supervisor;
    char *name;
    char *program;
    char *log_path;
    char *args[ARGV_MAX];   /* argv of a restart; the first start uses less */
    size_t first_arg_count; /* argv entries of the first start */
    enum child_state state;
    uv_process_t process;
    uv_timer_t timer; /* until a restart, SIGKILL, or the next look */
    int alone_ms;     /* see aq_child_spec */
    const aq_cpus *cpus;
    int alone_looks; /* in a row at which what it launched was gone; -1: it has launched nothing */
    uint64_t stop_by_ms; /* while it stops */
    bool stood_still;    /* it was killed in its own end: what it launched had ended */
    uint64_t started_ms;
    int64_t log_start; /* where this life's log begins: before it are those of others, and runs */
    uint64_t quick_death_ms;
    int delay_ms;
    int quick_deaths;
    unsigned starts;
    bool silent;      /* it has to answer, and did not yet */
    int open_handles; /* the timer, and the process while it has one */
    bool closed;
} child;

struct aq_supervisor {
    uv_loop_t *loop;
    aq_supervisor_owner owner;
    child *children[CHILDREN_MAX];
    size_t count;
    unsigned restarts;
    size_t left; /* children of a closed supervisor that are not freed yet */
};

int aq_supervisor_create(uv_loop_t *loop, const aq_supervisor_owner *owner,
                         aq_supervisor **ret_supervisor)
{
    aq_supervisor *supervisor = aq_alloc(1, sizeof(*supervisor));
    if (!supervisor) {
        return AQ_E_NOMEM;
    }
    supervisor->loop = loop;
    supervisor->owner = *owner;
    *ret_supervisor = supervisor;
    return 0;
}

static void free_child(child *gone)
{
    aq_free(gone->name);
    aq_free(gone->program);
    aq_free(gone->log_path);
    for (size_t i = 0; i < ARGV_MAX; i++) { /* one that could not be copied leaves a hole */
        aq_free(gone->args[i]);
    }
    aq_free(gone);
}

static uint64_t now_ms(void)
{
    return uv_hrtime() / 1000000;
}

/* From now on: the loop's own time stands still while it starts a thousand children. */
static void start_timer(child *of, uv_timer_cb due, int delay_ms)
{
    uv_update_time(of->supervisor->loop);
    uv_timer_start(&of->timer, due, (uint64_t)delay_ms, 0);
}

/* ---- starting ------------------------------------------------------------------------------- */

static void on_exit_of_child(uv_process_t *process, int64_t exit_status, int term_signal);

static void kill_now(child *killed)
{
    if (killed->alone_ms > 0) { /* it stands still first: else it may end, or launch, meanwhile */
        (void)uv_process_kill(&killed->process, SIGSTOP);
        const int launched = aq_process_signal_children(killed->process.pid, SIGKILL);
        (void)launched; /* if there are any */
    }
    (void)uv_process_kill(&killed->process, SIGKILL);
}

/* Open MPI 4.1 has stood still in its own end, with all of its ranks gone. */
static void on_look(uv_timer_t *timer)
{
    child *launcher = timer->data;
    const int live = aq_process_signal_children(launcher->process.pid, 0);
    if (live != 0) {
        launcher->alone_looks = live > 0 ? 0 : -1;
    } else if (launcher->alone_looks >= 0 && ++launcher->alone_looks > ALONE_LOOKS) {
        launcher->stood_still = true;
        kill_now(launcher);
        return;
    }
    if (launcher->state == CHILD_STOPPING && now_ms() >= launcher->stop_by_ms) {
        kill_now(launcher);
        return;
    }
    start_timer(launcher, on_look, launcher->alone_ms / ALONE_LOOKS);
}

static void on_process_closed(uv_handle_t *handle);

/* A process begins on the processors of the thread that starts it. One that left the machine since
 * is found by whoever asks for it again; the rest is as good as it can be. */
static int spawn_on(child *starting, const uv_process_options_t *options)
{
    aq_cpus own;
    const bool is_held = starting->cpus != NULL;
    aq_cpus_allowed(&own);
    int rc = is_held ? aq_cpus_use(starting->cpus, NULL) : 0;
    int problem = uv_spawn(starting->supervisor->loop, &starting->process, options);
    if (is_held && rc == 0) {
        rc = aq_cpus_use(&own, NULL);
    }
    return problem;
}

static int spawn(child *starting, aq_error *error)
{
    int log = open(starting->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log < 0) {
        return aq_fail(error, aq_error_from_errno(errno), "%s: %s", starting->log_path,
                       strerror(errno));
    }
    char *cut = starting->args[starting->first_arg_count];
    if (starting->starts == 0) {
        starting->args[starting->first_arg_count] = NULL;
    }
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = log},
        {.flags = UV_INHERIT_FD, .data.fd = log},
    };
    uv_process_options_t options = {
        .exit_cb = on_exit_of_child,
        .file = starting->program,
        .args = starting->args,
        .stdio_count = 3,
        .stdio = stdio,
        /* Its own process group: a Ctrl-C at the terminal reaches the supervisor alone, which then
         * stops the daemons in order. */
        .flags = UV_PROCESS_DETACHED,
    };
    struct stat before;
    starting->log_start = fstat(log, &before) == 0 ? (int64_t)before.st_size : 0;
    starting->process.data = starting;
    int problem = spawn_on(starting, &options);
    starting->args[starting->first_arg_count] = cut;
    (void)close(log);
    starting->open_handles++;
    if (problem) {
        uv_close((uv_handle_t *)&starting->process, on_process_closed);
        return aq_fail(error, AQ_E_IO, "%s could not be started from %s: %s", starting->name,
                       starting->program, uv_strerror(problem));
    }
    starting->supervisor->restarts += starting->starts > 0;
    starting->starts++;
    starting->state = CHILD_STARTED;
    starting->started_ms = now_ms();
    starting->alone_looks = -1;
    starting->stood_still = false;
    if (starting->alone_ms > 0) {
        start_timer(starting, on_look, 0);
    }
    return 0;
}

/* Copies argv together: program, args, restart_args. */
static int copy_args(child *made, const aq_child_spec *spec)
{
    size_t count = 0;
    made->args[count++] = aq_text_copy(spec->name);
    for (size_t i = 0; i < AQ_SUPERVISOR_ARGS_MAX && spec->args[i]; i++) {
        made->args[count++] = aq_text_copy(spec->args[i]);
    }
    made->first_arg_count = count;
    for (size_t i = 0; i < AQ_SUPERVISOR_ARGS_MAX && spec->restart_args[i]; i++) {
        made->args[count++] = aq_text_copy(spec->restart_args[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (!made->args[i]) {
            return AQ_E_NOMEM;
        }
    }
    return 0;
}

int aq_supervisor_start(aq_supervisor *supervisor, const aq_child_spec *spec, aq_error *error)
{
    if (supervisor->count == CHILDREN_MAX) {
        return aq_fail(error, AQ_E_FULL, "at most %d daemons can be started here", CHILDREN_MAX);
    }
    child *made = aq_alloc(1, sizeof(*made));
    if (!made) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    made->supervisor = supervisor;
    made->delay_ms = DELAY_MIN_MS;
    made->quick_death_ms = QUICK_DEATH_MS + (uint64_t)spec->launch_ms;
    made->alone_ms = spec->alone_ms;
    made->silent = spec->answers;
    made->cpus = spec->cpus;
    made->name = aq_text_copy(spec->name);
    made->program = aq_text_copy(spec->program);
    made->log_path = aq_text_copy(spec->log_path);
    if (!made->name || !made->program || !made->log_path || copy_args(made, spec)) {
        free_child(made);
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    uv_timer_init(supervisor->loop, &made->timer);
    made->timer.data = made;
    made->open_handles = 1;
    made->state = CHILD_GONE;
    supervisor->children[supervisor->count++] = made;
    return spawn(made, error);
}

/* ---- dying ---------------------------------------------------------------------------------- */

static aq_child_end end_of(const child *dead, const char *how, bool has_refused)
{
    return (aq_child_end){
        .name = dead->name,
        .log_path = dead->log_path,
        .how = how,
        .log_start = dead->log_start,
        .has_refused = has_refused,
        .is_first = dead->starts == 1,
    };
}

static void give_up(child *dead, const char *how, bool has_refused)
{
    const aq_supervisor_owner *owner = &dead->supervisor->owner;
    const aq_child_end end = end_of(dead, how, has_refused);
    dead->state = CHILD_GONE;
    owner->gave_up(owner->user, &end);
}

/* The system may refuse a process, or a descriptor for its log, and allow it a moment later. */
static void on_restart_due(uv_timer_t *timer)
{
    child *due = timer->data;
    const aq_supervisor_owner *owner = &due->supervisor->owner;
    aq_error error;
    due->delay_ms = due->delay_ms * 2 < DELAY_MAX_MS ? due->delay_ms * 2 : DELAY_MAX_MS;
    if (spawn(due, &error) == 0) {
        return;
    }
    if (++due->quick_deaths >= QUICK_DEATHS_MAX) {
        give_up(due, error.text, false);
        return;
    }
    start_timer(due, on_restart_due, due->delay_ms);
    owner->restarting(owner->user, due->name, error.text, due->delay_ms);
}

/* The last handle of a child frees it once the supervisor is closed, and the last child frees the
 * supervisor. */
static void release(child *released)
{
    aq_supervisor *supervisor = released->supervisor;
    if (--released->open_handles > 0 || !released->closed) {
        return;
    }
    free_child(released);
    if (--supervisor->left == 0) {
        aq_free(supervisor);
    }
}

static void on_process_closed(uv_handle_t *handle)
{
    child *dead = handle->data;
    if (dead->state == CHILD_WAITING) {
        start_timer(dead, on_restart_due, dead->delay_ms);
    }
    release(dead);
}

static void on_exit_of_child(uv_process_t *process, int64_t exit_status, int term_signal)
{
    child *dead = process->data;
    aq_supervisor *supervisor = dead->supervisor;
    const aq_supervisor_owner *owner = &supervisor->owner;
    char how[64];
    if (term_signal) {
        (void)snprintf(how, sizeof(how), "killed by signal %d", term_signal);
    } else {
        (void)snprintf(how, sizeof(how), "exit status %d", (int)exit_status);
    }
    uv_timer_stop(&dead->timer);
    bool asked = dead->state == CHILD_STOPPING;
    bool finished = exit_status == 0 && term_signal == 0; /* its run has ended */
    /* One that SIGTERM can end has begun nothing yet. */
    bool in_order = finished || (asked && (term_signal == SIGTERM || dead->stood_still));
    uint64_t lived_ms = now_ms() - dead->started_ms;
    bool lost = exit_status == AQ_EXIT_NOT_KEPT && term_signal == 0;
    bool refused = lost || (exit_status == EXIT_FAILURE && term_signal == 0);
    bool refused_first =
        refused && dead->starts == 1 && (lived_ms < dead->quick_death_ms || dead->silent);
    /* To refuse takes longer than to crash: it reads its files first, maybe on a busy machine. */
    const bool is_quick = lived_ms < dead->quick_death_ms || (refused && lived_ms < LONG_LIFE_MS);
    dead->quick_deaths = is_quick ? dead->quick_deaths + 1 : 0;
    if (lived_ms > LONG_LIFE_MS) {
        dead->delay_ms = DELAY_MIN_MS;
    }
    if (asked || finished || lost) {
        dead->state = CHILD_GONE;
        if (!in_order) {
            const aq_child_end end = end_of(dead, how, refused);
            owner->cut_short(owner->user, &end);
        }
        if (!asked) {
            owner->finished(owner->user, dead->name);
        }
    } else if (refused_first || dead->quick_deaths >= QUICK_DEATHS_MAX) {
        give_up(dead, how, refused);
    } else {
        dead->state = CHILD_WAITING;
        owner->restarting(owner->user, dead->name, how, dead->delay_ms);
    }
    uv_close((uv_handle_t *)process, on_process_closed);
}

static void on_patience_over(uv_timer_t *timer)
{
    child *slow = timer->data;
    if (slow->state == CHILD_STOPPING) {
        kill_now(slow);
    }
}

void aq_supervisor_answered(aq_supervisor *supervisor, const char *name)
{
    for (size_t i = 0; i < supervisor->count; i++) {
        if (strcmp(supervisor->children[i]->name, name) == 0) {
            supervisor->children[i]->silent = false;
        }
    }
}

static bool has_prefix(const child *candidate, const char *prefix)
{
    return strncmp(candidate->name, prefix, strlen(prefix)) == 0;
}

/* mpirun itself would wait before its ranks heard of it, and give them as long to end. Ranks that
 * end in order end it, and when they are gone, a signal can only spoil the end that it is in. */
static void ask_to_end(child *asked)
{
    const bool is_launcher = asked->alone_ms > 0;
    const int heard = is_launcher ? aq_process_signal_children(asked->process.pid, SIGTERM) : 0;
    if (heard < 0 || (heard == 0 && asked->alone_looks < 0)) {
        (void)uv_process_kill(&asked->process, SIGTERM);
    }
}

void aq_supervisor_stop(aq_supervisor *supervisor, const char *prefix, int patience_ms)
{
    for (size_t i = 0; i < supervisor->count; i++) {
        child *candidate = supervisor->children[i];
        if (!has_prefix(candidate, prefix)) {
            continue;
        }
        if (candidate->state == CHILD_WAITING) {
            const aq_child_end end = end_of(candidate, "it had died", false);
            uv_timer_stop(&candidate->timer);
            candidate->state = CHILD_GONE;
            supervisor->owner.cut_short(supervisor->owner.user, &end);
        } else if (candidate->state == CHILD_STARTED) {
            candidate->state = CHILD_STOPPING;
            candidate->stop_by_ms = now_ms() + (uint64_t)patience_ms;
            ask_to_end(candidate);
            if (candidate->alone_ms == 0) { /* else on_look sees to it */
                start_timer(candidate, on_patience_over, patience_ms);
            }
        }
    }
}

void aq_supervisor_kill(aq_supervisor *supervisor)
{
    aq_supervisor_stop(supervisor, "", 0);
    for (size_t i = 0; i < supervisor->count; i++) {
        if (supervisor->children[i]->state == CHILD_STOPPING) {
            kill_now(supervisor->children[i]);
        }
    }
}

size_t aq_supervisor_alive(const aq_supervisor *supervisor, const char *prefix)
{
    size_t alive = 0;
    for (size_t i = 0; i < supervisor->count; i++) {
        const child *candidate = supervisor->children[i];
        alive += candidate->state != CHILD_GONE && has_prefix(candidate, prefix);
    }
    return alive;
}

unsigned aq_supervisor_restarts(const aq_supervisor *supervisor)
{
    return supervisor->restarts;
}

static void on_timer_closed(uv_handle_t *handle)
{
    release(handle->data);
}

void aq_supervisor_close(aq_supervisor *supervisor)
{
    if (!supervisor) {
        return;
    }
    if (supervisor->count == 0) {
        aq_free(supervisor);
        return;
    }
    supervisor->left = supervisor->count;
    for (size_t i = 0; i < supervisor->count; i++) {
        child *gone = supervisor->children[i];
        AQ_ASSERT(gone->state == CHILD_GONE);
        gone->closed = true;
        uv_close((uv_handle_t *)&gone->timer, on_timer_closed);
    }
}

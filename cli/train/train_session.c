/*
 * Train session: see train_session.h.
 *
 *   starting -> running -> (run ended | Ctrl-C | a daemon given up) -> stopping -> gone
 *
 * Sockets are Unix-domain ones in a short-lived folder of their own (socket_folder.h).
 */
#include "cli/train/train_session.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "cli/launch/own_loop.h"
#include "cli/launch/rank_launch.h"
#include "cli/launch/refusal.h"
#include "cli/launch/run_cpus.h"
#include "cli/launch/socket_folder.h"
#include "cli/launch/supervisor.h"
#include "cli/launch/words.h"
#include "cli/run/checkpoint_folder.h"
#include "cli/run/run_watch.h"
#include "cli/train/progress.h"
#include "cli/train/train_folder.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/net/address/url.h"
#include "common/sys/daemon.h"
#include "common/sys/file.h"
#include "common/sys/process.h"

/* A learner may have a checkpoint of gigabytes to write to a slow disk. */
enum { POLL_MS = 25, PATIENCE_MS = 5000, LEARNER_PATIENCE_MS = 60000 };

typedef struct train_session {
    const aq_run_config *config;
    const aq_train_options *options;
    aq_own_loop loop;
    uv_timer_t stop_timer;
    aq_supervisor *supervisor;
    aq_run_watch *watch;
    aq_progress progress;
    aq_failure_watch failures;
    aq_socket_folder sockets;
    aq_run_cpus cpus;
    char learner_url[AQ_URL_MAX];
    char config_path[128];
    char parent[24];
    char *http;                 /* NULL: nothing is served */
    char http_told[AQ_URL_MAX]; /* where it is served; "": not known yet */
    bool stopping;
    bool failed;
    aq_error error;
    aq_train_result result;
} train_session;

/* ---- the folder of sockets ------------------------------------------------------------------ */

static int make_socket_dir(train_session *session, aq_error *error)
{
    int rc = aq_socket_folder_make(&session->sockets, error);
    if (rc == 0) {
        (void)snprintf(session->learner_url, sizeof(session->learner_url), "ipc://%s/learner",
                       session->sockets.path);
        (void)snprintf(session->config_path, sizeof(session->config_path), "%s/config.yaml",
                       session->sockets.path);
    }
    return rc;
}

/* What `actorq status RUN` finds the run by while it lives. `http` is where its dashboard is; "":
 * not known yet, or nowhere. */
static int write_endpoint(const train_session *session, const char *http, aq_error *error)
{
    char path[PATH_MAX + 32];
    char text[2 * AQ_URL_MAX + 64];
    (void)snprintf(path, sizeof(path), "%s/endpoint.json", session->options->run_dir);
    (void)snprintf(text, sizeof(text), "{\"learner\": \"%s\", \"http\": \"%s\"}\n",
                   session->learner_url, http);
    return aq_file_write_atomic(path, text, strlen(text), error);
}

static int write_files(train_session *session, aq_error *error)
{
    char path[PATH_MAX + 32];
    int rc =
        aq_settings_write_file(aq_run_config_table(), session->config_path, session->config, error);
    (void)snprintf(path, sizeof(path), "%s/logs", session->options->run_dir);
    rc = rc != 0 ? rc : aq_dir_create(path, error);
    return rc != 0 ? rc : write_endpoint(session, "", error);
}

/* ---- starting the daemons ------------------------------------------------------------------- */

typedef struct child_plan {
    const char *role;    /* of its name and log: "actor" */
    const char *program; /* "actorq-actor" */
    const char *folder;  /* in the build tree */
    bool numbered;
} child_plan;

static const child_plan learner_plan = {"learner", "actorq-learner", "learner", false};
static const child_plan replay_plan = {"replay", "actorq-replay", "replay", true};
static const child_plan actor_plan = {"actor", "actorq-actor", "actor", true};
static const child_plan evaluator_plan = {"evaluator", "actorq-actor", "actor", false};

/* Names the child, finds its program and starts it with what `spec` holds already. */
static int start(train_session *session, const child_plan *plan, uint64_t number,
                 aq_child_spec *spec, aq_error *error)
{
    char name[32], program[PATH_MAX], log_path[PATH_MAX + 64];
    aq_rank_launch launch;
    if (plan->numbered) {
        (void)snprintf(name, sizeof(name), "%s-%" PRIu64, plan->role, number);
    } else {
        (void)snprintf(name, sizeof(name), "%s", plan->role);
    }
    (void)snprintf(log_path, sizeof(log_path), "%s/logs/%s.log", session->options->run_dir, name);
    int rc = aq_process_find_program(plan->program, plan->folder, program, sizeof(program), error);
    if (rc != 0) {
        return rc;
    }
    spec->name = name;
    spec->program = program;
    spec->log_path = log_path;
    spec->cpus = aq_run_cpus_of(&session->cpus, plan == &learner_plan);
    aq_rank_launch_wrap(plan == &learner_plan ? session->options->learners : 1,
                        session->sockets.path, &launch, spec);
    return aq_supervisor_start(session->supervisor, spec, error);
}

static int start_learner(train_session *session, aq_error *error)
{
    const aq_train_options *options = session->options;
    aq_child_spec spec = {.restart_args = {options->resume ? NULL : "--resume"}, .answers = true};
    aq_words words = {.count = 0};
    char id[24];
    (void)snprintf(id, sizeof(id), "%016" PRIx64, options->run_id);
    aq_words_add(&words, "--config", session->config_path);
    aq_words_add(&words, "--whole", NULL); /* the run's preset may be one of another build */
    aq_words_add(&words, "--listen", session->learner_url);
    aq_words_add(&words, "--run", options->run_dir);
    if (options->learners <= 1) { /* else it is mpirun's child */
        aq_words_add(&words, "--parent", session->parent);
    }
    if (options->resume) {
        aq_words_add(&words, "--resume", NULL);
    } else if (options->run_id != 0) {
        aq_words_add(&words, "--run-id", id);
    }
    if (session->http != NULL) {
        aq_words_add(&words, "--http", session->http);
    }
    memcpy(spec.args, words.list, words.count * sizeof(words.list[0]));
    return start(session, &learner_plan, 0, &spec, error);
}

/* A shard keeps its steps in the run's folder, where it finds them again after a crash and when the
 * run is resumed. */
static int start_replay(train_session *session, uint64_t number, aq_error *error)
{
    char url[AQ_URL_MAX], data[PATH_MAX + 32];
    bool durable = session->config->replay.storage == AQ_STORAGE_SEGMENTS;
    (void)snprintf(url, sizeof(url), "ipc://%s/replay-%" PRIu64, session->sockets.path, number);
    (void)snprintf(data, sizeof(data), "%s/replay-%" PRIu64, session->options->run_dir, number);
    aq_child_spec spec = {
        .args = {"--learner", session->learner_url, "--listen", url, "--parent", session->parent,
                 durable ? "--data" : NULL, data},
    };
    return start(session, &replay_plan, number, &spec, error);
}

/* The learner's task is the one that this process was allowed to open. */
static const char allow_code[] = "--allow-code";

static int start_actor(train_session *session, uint64_t number, aq_error *error)
{
    char slot[24]; /* of its number, so that its log's name is the one that everybody gives it */
    (void)snprintf(slot, sizeof(slot), "%" PRIu64, number);
    aq_child_spec spec = {
        .args = {"--learner", session->learner_url, "--parent", session->parent, allow_code,
                 "--slot", slot, session->config->actor.gradients ? "--gradients" : NULL},
    };
    return start(session, &actor_plan, number, &spec, error);
}

static int start_evaluator(train_session *session, aq_error *error)
{
    aq_child_spec spec = {
        .args = {"--learner", session->learner_url, "--parent", session->parent, allow_code,
                 "--evaluate"},
    };
    return start(session, &evaluator_plan, 0, &spec, error);
}

static int start_all(train_session *session, aq_error *error)
{
    const bool is_offline = session->options->data_set[0] != '\0';
    const uint64_t actors = is_offline ? 0 : session->config->actor.count;
    int rc = start_learner(session, error);
    for (uint64_t i = 0; rc == 0 && i < session->config->replay.shards; i++) {
        rc = start_replay(session, i, error);
    }
    for (uint64_t i = 0; rc == 0 && i < actors; i++) {
        rc = start_actor(session, i, error);
    }
    if (rc == 0 && !session->options->no_evaluator) {
        rc = start_evaluator(session, error);
    }
    return rc;
}

/* ---- stopping them -------------------------------------------------------------------------- */

/* Whoever produces goes first, so that what it holds can still be delivered; the learner last, as
 * it hears of everybody's leaving. */
static void on_stop_timer(uv_timer_t *timer)
{
    train_session *session = timer->data;
    aq_supervisor *supervisor = session->supervisor;
    aq_supervisor_stop(supervisor, "actor", PATIENCE_MS);
    aq_supervisor_stop(supervisor, "evaluator", PATIENCE_MS);
    if (aq_supervisor_alive(supervisor, "actor") + aq_supervisor_alive(supervisor, "evaluator")) {
        return;
    }
    aq_supervisor_stop(supervisor, "replay", PATIENCE_MS);
    if (aq_supervisor_alive(supervisor, "replay")) {
        return;
    }
    aq_supervisor_stop(supervisor, "learner", LEARNER_PATIENCE_MS);
    if (aq_supervisor_alive(supervisor, "learner") == 0) {
        uv_stop(&session->loop.uv);
    }
}

static void begin_stopping(train_session *session)
{
    if (session->stopping) {
        return;
    }
    session->stopping = true;
    session->result.wall_s = aq_ns_to_s(aq_clock_monotonic_ns() - session->options->started_ns);
    aq_progress_clear(&session->progress);
    uv_timer_start(&session->stop_timer, on_stop_timer, 0, 2);
}

static void on_signal(void *user, int number)
{
    train_session *session = user;
    (void)number;
    if (session->result.was_asked) { /* whoever asks twice does not want to wait */
        aq_supervisor_kill(session->supervisor);
    }
    session->result.was_asked = true;
    session->result.interrupted |= !session->stopping; /* which may be as the run is over */
    begin_stopping(session);
}

/* ---- what happens meanwhile ----------------------------------------------------------------- */

/* When it is known, and when a learner that was started again serves elsewhere. A disk that is full
 * keeps the old one in the file. */
static void tell_http(train_session *session, const char *url)
{
    if (strcmp(session->http_told, url) == 0 ||
        aq_text_set(session->http_told, sizeof(session->http_told), url) != 0) {
        return;
    }
    int rc = write_endpoint(session, url, NULL);
    (void)rc;
    if (!session->options->quiet && url[0] != '\0') {
        aq_progress_clear(&session->progress);
        (void)fprintf(stderr, "dashboard: %s/\n", url);
    }
}

/* Of a task that does nothing but fail, which waiting does not mend. A traceback is shown whole. */
static void give_up_task(train_session *session, const char *failure)
{
    const char *last = aq_last_line(failure);
    aq_progress_clear(&session->progress);
    for (const char *line = failure; line < last; line = strchr(line, '\n') + 1) {
        aq_print_line(stderr, "%.*s", (int)strcspn(line, "\n"), line);
    }
    (void)aq_fail(&session->error, AQ_E_IO, "the environment fails each time: %s", last);
    session->failed = true;
    begin_stopping(session);
}

static void on_status(void *user, const Actorq__V1__StatusReply *status)
{
    train_session *session = user;
    const aq_run_config *config = session->config;
    if (session->stopping || !status->learner) {
        return;
    }
    aq_supervisor_answered(session->supervisor, learner_plan.role);
    bool is_hopeless;
    const char *failure =
        aq_failure_watch_take(&session->failures, aq_clock_monotonic_ns(), status,
                              config->actor.count * config->actor.envs, &is_hopeless);
    if (failure != NULL && is_hopeless) {
        give_up_task(session, failure);
        return;
    }
    aq_run_trouble_of(status, session->options->data_set[0] != '\0', failure,
                      session->result.trouble);
    tell_http(session, status->http);
    if (!session->options->quiet) {
        aq_progress_show(&session->progress, aq_clock_monotonic_ns(), status,
                         session->result.trouble);
    }
    if (status->state != ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING) {
        begin_stopping(session);
    }
}

static void on_restarting(void *user, const char *name, const char *how, int delay_ms)
{
    train_session *session = user;
    aq_progress_clear(&session->progress);
    (void)fprintf(stderr, "%s died (%s); starting it again in %d ms\n", name, how, delay_ms);
    if (session->options->learners > 1 && strcmp(name, learner_plan.role) == 0) {
        (void)fprintf(stderr,
                      "a learner ends with each of its ranks: all %" PRIu64 " go on from the last "
                      "checkpoint; what they learned since, %g s at most, is lost\n",
                      session->options->learners, session->config->learner.checkpoint_period_s);
    }
}

/* A learner that ends by itself has ended the run, which the watch may have missed. */
static void on_finished(void *user, const char *name)
{
    if (strcmp(name, learner_plan.role) == 0) {
        begin_stopping(user);
    }
}

static void on_gave_up(void *user, const aq_child_end *end)
{
    train_session *session = user;
    aq_progress_clear(&session->progress);
    if (!session->failed) { /* whoever follows has died of it */
        aq_refusal_tell(end, &session->error);
    }
    session->failed = true;
    begin_stopping(session);
}

/* What such a learner had learned since its newest checkpoint is lost; one that can says so. */
static void on_cut_short(void *user, const aq_child_end *end)
{
    const train_session *session = user;
    char words[AQ_ERROR_TEXT_MAX];
    aq_error none;
    uint64_t step;
    if (strcmp(end->name, learner_plan.role) != 0) {
        return;
    }
    const bool has_words = aq_refusal_read(end->log_path, end->log_start, words, sizeof(words));
    if (has_words) {
        aq_print_line(stderr, "%s: %s", end->name, words);
    }
    if (end->has_refused && (has_words || session->options->learners > 1)) {
        return; /* it said why, or is mpirun, asked when its ranks had ended */
    }
    if (aq_checkpoint_newest_step(session->options->run_dir, &step, &none) == 0) {
        aq_print_line(stderr,
                      "the learner did not end in order (%s); its newest checkpoint is of step "
                      "%" PRIu64,
                      end->how, step);
    } else {
        aq_print_line(stderr, "the learner did not end in order (%s); %s", end->how, none.text);
    }
}

/* ---- the object ----------------------------------------------------------------------------- */

static int create(train_session *session, aq_error *error)
{
    uv_timer_init(&session->loop.uv, &session->stop_timer);
    session->stop_timer.data = session;
    (void)snprintf(session->parent, sizeof(session->parent), "%" PRIdMAX, (intmax_t)getpid());
    aq_supervisor_owner owner = {
        .user = session,
        .restarting = on_restarting,
        .finished = on_finished,
        .gave_up = on_gave_up,
        .cut_short = on_cut_short,
    };
    if (aq_supervisor_create(&session->loop.uv, &owner, &session->supervisor) != 0) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    int rc = aq_run_cpus_choose(session->config, session->result.learners, session->options->quiet,
                                &session->cpus, error);
    rc = rc != 0 ? rc : make_socket_dir(session, error);
    if (rc == 0) {
        rc = write_files(session, error);
    }
    if (rc == 0) {
        rc = start_all(session, error);
    }
    if (rc == 0) {
        rc = aq_run_watch_create(&session->loop.uv, session->learner_url, POLL_MS, on_status,
                                 session, &session->watch, error);
    }
    return rc;
}

static void destroy(train_session *session)
{
    if (session->supervisor) {
        session->result.restarts = aq_supervisor_restarts(session->supervisor);
    }
    aq_run_watch_close(session->watch);
    aq_supervisor_close(session->supervisor);
    uv_close((uv_handle_t *)&session->stop_timer, NULL);
    aq_own_loop_fini(&session->loop);
    aq_socket_folder_remove(&session->sockets);
    char path[PATH_MAX + 32];
    (void)snprintf(path, sizeof(path), "%s/endpoint.json", session->options->run_dir);
    (void)unlink(path);
}

/* Where the learner serves HTTP: an address in the environment is its alone, since daemons of one
 * host cannot share one. Free with aq_free; NULL: nowhere. */
static char *take_http(const aq_train_options *options)
{
    const char *wanted = options->http ? options->http : getenv("ACTORQ_HTTP");
    char *http = wanted && wanted[0] != '\0' ? aq_text_copy(wanted) : NULL;
    (void)unsetenv("ACTORQ_HTTP");
    return http;
}

int aq_train_session_run(const aq_run_config *config, const aq_train_options *options,
                         aq_train_result *ret_result, aq_error *error)
{
    train_session *session = aq_alloc(1, sizeof(*session));
    if (!session) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    session->config = config;
    session->options = options;
    session->result.learners = options->learners > 1 ? options->learners : 1;
    aq_progress_init(&session->progress);
    aq_credentials_forget(); /* all meet in a folder that only this user can enter */
    session->http = take_http(options);
    int rc = aq_own_loop_init(&session->loop, on_signal, session, error);
    if (rc != 0) {
        aq_free(session->http);
        aq_free(session);
        return rc;
    }
    aq_train_folder_hide_given(options->run_dir);
    rc = create(session, error);
    if (rc != 0) {
        begin_stopping(session);
    }
    if (session->supervisor != NULL) { /* without one nothing was started */
        uv_run(&session->loop.uv, UV_RUN_DEFAULT);
    }
    if (rc == 0) {
        session->result.status = aq_run_watch_take(session->watch);
    }
    if (rc == 0 && session->failed) {
        *error = session->error;
        rc = error->code;
    }
    /* Before it had answered, its learner refused what was given, or was stopped. */
    aq_train_folder_settle_given(options->run_dir, session->result.status == NULL &&
                                                       (rc != 0 || session->result.interrupted));
    destroy(session);
    if (rc != 0) {
        aq_train_result_fini(&session->result);
        ret_result->was_asked = session->result.was_asked;
    } else {
        *ret_result = session->result;
    }
    if (session->http != NULL && options->http == NULL) {
        (void)setenv("ACTORQ_HTTP", session->http, 1); /* for the next run of this process */
    }
    aq_free(session->http);
    aq_free(session);
    return rc;
}

void aq_train_result_fini(aq_train_result *result)
{
    actorq__v1__status_reply__free_unpacked(result->status, NULL);
    result->status = NULL;
}

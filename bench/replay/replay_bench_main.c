/*
 * actorq-bench-replay: what `actorq bench replay` starts. A program of its own, since it has parts
 * of an actor, a learner and a shard, which nothing else of ours may have.
 */

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "bench/bench_progress.h"
#include "bench/replay/raw_messages.h"
#include "bench/replay/replay_scenarios.h"
#include "bench/replay/replay_soak.h"
#include "cli/text/command.h"
#include "common/base/parse.h"
#include "common/sys/daemon.h"
#include "common/sys/file.h"
#include "common/sys/log.h"
#include "common/sys/loop.h"

static void kill_child(uv_handle_t *handle, void *user)
{
    (void)user;
    if (handle->type == UV_PROCESS) {
        (void)uv_process_kill((uv_process_t *)handle, SIGKILL);
    }
}

/* Nobody waits for figures any more. The folder goes when nobody writes there. */
static void on_signal(uv_signal_t *handle, int number)
{
    uv_walk(handle->loop, kill_child, NULL);
    while (wait(NULL) > 0) {
    }
    (void)aq_dir_remove(handle->data);
    _exit(128 + number);
}

static int measure(const aq_replay_bench_plan *plan, aq_replay_figures *ret_figures,
                   aq_error *error)
{
    char folder[PATH_MAX];
    uv_loop_t loop;
    aq_end_signals signals;
    if (aq_text_format(folder, sizeof(folder), "%s/actorq-bench-XXXXXX", plan->folder) != 0 ||
        mkdtemp(folder) == NULL) {
        return aq_fail(error, aq_error_from_errno(errno), "%s: no folder can be made there: %s",
                       plan->folder, strerror(errno));
    }
    if (uv_loop_init(&loop) != 0) {
        (void)rmdir(folder);
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    int rc = aq_loop_watch_signals(&loop, &signals, on_signal, folder, error);
    for (int i = 0; i < AQ_END_SIGNALS; i++) {
        uv_unref((uv_handle_t *)&signals.handles[i]);
    }
    if (rc == 0) {
        rc = plan->soak_s > 0 ? aq_replay_soak_run(&loop, plan, folder, error)
                              : aq_replay_scenarios_run(&loop, plan, folder, aq_bench_progress,
                                                        ret_figures, error);
    }
    aq_bench_progress("");
    (void)uv_run(&loop, UV_RUN_DEFAULT); /* what is closed is given back */
    (void)aq_loop_close(&loop);
    (void)aq_dir_remove(folder);
    return rc;
}

static int bench_replay(int argc, char **argv)
{
    aq_replay_bench_plan plan;
    aq_replay_figures figures;
    aq_error error = {0};
    int status;
    aq_replay_bench_plan_init(&plan);
    if (!aq_command_begin(aq_replay_bench_options(), argc, argv, &plan, &status)) {
        return status;
    }
    aq_replay_bench_plan_finish(&plan);
    int rc =
        plan.json && plan.soak_s > 0
            ? aq_fail(&error, AQ_E_INVALID, "--json: --soak prints lines as it goes, no figures")
            : measure(&plan, &figures, &error);
    if (rc == 0 && plan.json && plan.soak_s == 0) {
        rc = aq_print_json(aq_replay_figures_json(&plan, &figures), plan.json, &error);
    } else if (rc == 0 && plan.soak_s == 0) {
        aq_replay_figures_print(stdout, &plan, &figures);
    }
    return aq_command_end(aq_replay_bench_options(), rc, &error);
}

static int take_raw_messages(const char *url)
{
    aq_error error = {0};
    return aq_raw_messages_take(url, &error) == 0
               ? EXIT_SUCCESS
               : aq_program_failed(aq_replay_bench_options()->program, &error);
}

int main(int argc, char **argv)
{
    aq_daemon_begin("bench", -1);
    aq_log_set_level(AQ_LOG_WARN);
    if (argc == 3 && strcmp(argv[1], AQ_RAW_MESSAGES_ROLE) == 0) {
        return take_raw_messages(argv[2]);
    }
    return bench_replay(argc, argv);
}

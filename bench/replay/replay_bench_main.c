/*
 * actorq-bench-replay: what `actorq bench replay` starts. A program of its own, since it has parts
 * of an actor, a learner and a shard, which nothing else of ours may have.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_progress.h"
#include "bench/replay/bench_folder.h"
#include "bench/replay/raw_messages.h"
#include "bench/replay/replay_scenarios.h"
#include "bench/replay/replay_soak.h"
#include "cli/text/command.h"
#include "common/sys/daemon.h"
#include "common/sys/log.h"

static int measure(const aq_replay_bench_plan *plan, aq_replay_figures *ret_figures,
                   aq_error *error)
{
    aq_bench_folder folder;
    int rc = aq_bench_folder_init(plan->folder, &folder, error);
    if (rc != 0) {
        return rc;
    }
    rc = plan->soak_s > 0 ? aq_replay_soak_run(&folder.loop, plan, folder.path, error)
                          : aq_replay_scenarios_run(&folder.loop, plan, folder.path,
                                                    aq_bench_progress, ret_figures, error);
    aq_bench_progress("");
    aq_bench_folder_fini(&folder);
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

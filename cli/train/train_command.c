/*
 * actorq train: resolves the configuration, runs it on this host, and says how it went.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/launch/rank_launch.h"
#include "cli/run/return_picture.h"
#include "cli/text/command.h"
#include "cli/text/preset_list.h"
#include "cli/text/shell_text.h"
#include "cli/train/next_steps.h"
#include "cli/train/offline_data.h"
#include "cli/train/progress.h"
#include "cli/train/seed_runs.h"
#include "cli/train/train_folder.h"
#include "cli/train/train_grid.h"
#include "cli/train/train_report.h"
#include "cli/train/train_session.h"
#include "cli/train/train_settings.h"
#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/base/rng.h"
#include "common/config/run_request.h"
#include "common/sys/daemon.h"
#include "common/sys/file.h"
#include "common/sys/options.h"
#include "common/sys/process.h"
#include "envs/env_code.h"

enum {
    CONFIG_BYTES_MAX = 1 << 20,
    DRAWN_SEED_MAX = 999999999, /* short: it stands in the run's name */
};

static int take_run_dir(void *run_dir, const char *value, aq_error *error)
{
    if (value[0] == '\0') {
        return aq_fail(error, AQ_E_INVALID, "the value is empty");
    }
    return aq_text_set(run_dir, PATH_MAX, value) == 0
               ? 0
               : aq_fail(error, AQ_E_TOO_BIG, "the path is too long");
}

static const aq_option option_rows[] = {
    {"config", 'c', "FILE", "read settings from this YAML file",
     AQ_TO_TEXT(aq_train_arguments, config_path)},
    {"preset", 0, "PRESET",
     "begin with these settings (default: the best known for the task); list shows all, none takes "
     "plain defaults",
     AQ_TO_TEXT(aq_train_arguments, preset)},
    {"set", 0, "KEY=VALUE",
     "change one setting, such as replay.capacity=100000; may be given often",
     AQ_TO(aq_settings_assignments_add, aq_train_arguments, overrides)},
    {"seed", 0, "S", "the run's seed (default: one from the system, which is printed)",
     AQ_TO_TEXT(aq_train_arguments, seed)},
    {"seeds", 0, "N",
     "train from the seeds 1 to N, or A..B, each in a folder of its own, and sum them up",
     AQ_TO(aq_seed_range_take, aq_train_arguments, seeds)},
    {"grid", 0, "KEY=V1,V2", "train with each of these values; every combination, when given often",
     AQ_TO(aq_train_grid_take, aq_train_arguments, grid)},
    {"jobs", 0, "N", "how many of these at once (default: as many as there are processors for)",
     AQ_TO_NUMBER(aq_train_arguments, jobs, 1, AQ_SEEDS_MAX)},
    {"actors", 0, "N", "how many actors to start; short for --set actor.count=N",
     AQ_TO_TEXT(aq_train_arguments, actors)},
    {"learners", 0, "N",
     "how many learners train together, each on batches of its own (default 1; more need Open MPI)",
     AQ_TO_NUMBER(aq_train_arguments, options.learners, 1, 64)},
    {"gradients", 0, NULL,
     "actors compute gradients and send those in place of steps, as A3C's do; short for --set "
     "actor.gradients=true",
     AQ_TO_FLAG(aq_train_arguments, gradients)},
    {"run", 0, "DIR", "the run folder (default: a new one below ./runs)",
     AQ_TO(take_run_dir, aq_train_arguments, options.run_dir)},
    {"resume", 0, NULL, "go on with the run that --run holds",
     AQ_TO_FLAG(aq_train_arguments, options.resume)},
    {"new-settings", 0, NULL,
     "a run that is resumed takes no setting from its folder: all are as in a new run",
     AQ_TO_FLAG(aq_train_arguments, new_settings)},
    {"offline", 0, "FILE",
     "train from this data set alone: no actors are started (see 'actorq replay export')",
     AQ_TO_TEXT(aq_train_arguments, offline)},
    AQ_ALLOW_CODE_OPTION,
    {"no-evaluator", 0, NULL, "measure no versions while training",
     AQ_TO_FLAG(aq_train_arguments, options.no_evaluator)},
    {"http", 0, "HOST:PORT",
     "let the learner serve its dashboard and metrics here, such as 127.0.0.1:8080; or "
     "ACTORQ_HTTP (default: on this host, at a port that is free, which is said)",
     AQ_TO_TEXT(aq_train_arguments, options.http)},
    {"no-http", 0, NULL, "serve neither", AQ_TO_FLAG(aq_train_arguments, no_http)},
    {"print-config", 0, NULL,
     "print every setting with its bounds and meaning, of a grid those of its first point, and "
     "stop",
     AQ_TO_FLAG(aq_train_arguments, print_config)},
    AQ_PARENT_OPTION_ROW,
    AQ_JSON_OPTION_ROW(aq_train_arguments, json, "the result"),
    {"quiet", 'q', NULL, "show no progress", AQ_TO_FLAG(aq_train_arguments, options.quiet)},
};

static const aq_options options_page = {
    .program = "actorq train",
    .usage = "[TASK] [options]",
    .summary = "Trains a task on this host: a learner, a replay shard, actors that run the int8 "
               "policy, and an evaluator, each a process of its own.",
    .details = "Examples:\n"
               "  actorq train gym:CartPole-v1\n"
               "  actorq train gym:CartPole-v1 --actors 4 --set quantizer.format=fp32 --seed 7\n"
               "  actorq train gym:Pendulum-v1 --set learner.algorithm=ppo\n"
               "  actorq train dmc:walker_walk --preset none --set learner.algorithm=td3\n"
               "  actorq train gym:CartPole-v1 --gradients --set learner.algorithm=a2c\n"
               "  actorq train gym:CartPole-v1 --seeds 5 --run runs/five\n"
               "  actorq train gym:CartPole-v1 --seeds 3 --grid learner.learning_rate=1e-3,3e-4\n"
               "  actorq train --run runs/first --resume\n"
               "  actorq train --offline steps.aqds --set limits.learner_steps=20000\n"
               "\n"
               "The run folder keeps the configuration as resolved, metrics.jsonl, a log per "
               "daemon,\ncheckpoints and policy.aq. 'actorq envs' lists the tasks.\n",
    AQ_OPTION_ROWS(option_rows),
    .setting = aq_run_request_setting,
    .operands = {AQ_OPTIONAL_OPERAND("TASK", aq_train_arguments, task)},
};

/* ---- the configuration ---------------------------------------------------------------------- */

static int print_config(const aq_run_config *config, aq_error *error)
{
    aq_buffer text;
    aq_buffer_init(&text, CONFIG_BYTES_MAX);
    int rc = aq_settings_print_yaml(aq_run_config_table(), config, &text);
    if (rc == 0 && fwrite(text.data, 1, text.size, stdout) != text.size) {
        rc = AQ_E_IO;
    }
    aq_buffer_fini(&text);
    return rc != 0 ? aq_fail(error, rc, "the configuration could not be printed") : 0;
}

/* ---- the run folder ------------------------------------------------------------------------- */

/* The data set of --offline, or the one that the run to resume was made from. */
static int find_data_set(aq_train_arguments *arguments, aq_error *error)
{
    aq_train_options *options = &arguments->options;
    if (!options->resume) {
        return arguments->offline && aq_text_set(options->data_set, sizeof(options->data_set),
                                                 arguments->offline) != 0
                   ? aq_fail(error, AQ_E_TOO_BIG, "the path of the data set is too long")
                   : 0;
    }
    if (arguments->offline) {
        return aq_fail(error, AQ_E_INVALID,
                       "a run that is resumed has its steps already: leave --offline out");
    }
    return aq_offline_read_mark(options->run_dir, options->data_set, sizeof(options->data_set),
                                error);
}

/* A run has its steps already when it is resumed, and the file they came from may be gone. */
static int set_offline(const aq_train_options *options, aq_run_config *config, aq_error *error)
{
    aq_run_config last;
    if (options->data_set[0] == '\0') {
        return 0;
    }
    if (!options->resume) {
        return aq_offline_settings(options->data_set, config, error);
    }
    aq_train_settings_last(config, options->run_dir, &last);
    return aq_offline_settings_resumed(&last, config, error);
}

/* Unless told otherwise, whoever is on this host may look. */
static void choose_http(aq_train_arguments *arguments)
{
    const char *known = getenv("ACTORQ_HTTP");
    if (arguments->no_http) {
        arguments->options.http = NULL;
        (void)unsetenv("ACTORQ_HTTP");
    } else if (!arguments->options.http && (!known || known[0] == '\0')) {
        arguments->options.http = "127.0.0.1:0";
    }
}

/* For aq_seed_runs, too: everything as it was asked for, and this point of the grid. */
static int resolve_point(void *given, size_t index, char name[AQ_GRID_NAME_MAX],
                         aq_run_config *ret_config, aq_error *error)
{
    aq_train_arguments arguments = *(const aq_train_arguments *)given;
    char texts[AQ_GRID_AXES_MAX][AQ_SETTINGS_KEY_MAX + 1 + AQ_GRID_VALUE_MAX];
    int rc = aq_train_grid_point(&arguments.grid, index, name, texts, &arguments.overrides, error);
    rc = rc != 0 ? rc : aq_train_settings_resolve(&arguments, ret_config, error);
    rc = rc != 0 ? rc : set_offline(&arguments.options, ret_config, error);
    if (rc == 0 && arguments.seeds.count > 0) {
        ret_config->seed = 0;
    }
    return rc;
}

/* Of a grid the first point: without its axes, settings need not go together. */
static int prepare(aq_train_arguments *arguments, aq_run_config *config, aq_error *error)
{
    char point[AQ_GRID_NAME_MAX] = "";
    int rc = aq_train_settings_check(arguments, error);
    if (rc == 0) {
        rc = aq_rank_launch_check(arguments->options.learners, error);
    }
    if (rc == 0) {
        rc = aq_train_folder_check_resumed(&arguments->options, error);
    }
    if (rc == 0) {
        rc = find_data_set(arguments, error);
    }
    if (rc == 0) {
        rc = resolve_point(arguments, 0, point, config, error);
    }
    if (rc == 0 && arguments->seeds.count == 0 && config->seed == 0 && !arguments->print_config) {
        config->seed = 1 + aq_rng_system_seed() % DRAWN_SEED_MAX;
    }
    return rc;
}

static int say_diverged(const char *run_dir, aq_error *error)
{
    char program[PATH_MAX], run[PATH_MAX];
    return aq_fail(error, AQ_E_CORRUPT,
                   "the run diverged: nothing was finite any more; '%s logs %s --level error' says "
                   "when",
                   aq_shell_program(program, sizeof(program)),
                   aq_shell_word(run, sizeof(run), run_dir));
}

static void say_start(const aq_run_config *config, const aq_train_options *options)
{
    if (options->quiet) {
        return;
    }
    if (!options->resume) {
        (void)fprintf(stderr, "preset %s, algorithm %s; '--preset list' shows others\n",
                      config->preset, aq_algorithm_names[config->learner.algorithm]);
    }
    if (options->data_set[0] != '\0') {
        aq_print_line(stderr, "training %s in %s from a data set alone (seed %" PRIu64 ")",
                      config->task, options->run_dir, config->seed);
    } else {
        aq_print_line(stderr, "training %s in %s (seed %" PRIu64 ", %" PRIu64 " actor%s)",
                      config->task, options->run_dir, config->seed, config->actor.count,
                      config->actor.count == 1 ? "" : "s");
    }
}

/* A folder of which nothing came is removed again, so that the command can be given again, mended:
 * no daemon was started, one refused its first start, or it was too early for a run. */
static void drop_unbegun(int rc, const aq_train_options *options)
{
    if (!options->resume && (rc == AQ_E_PEER || !aq_path_exists_in(options->run_dir, "logs"))) {
        aq_train_folder_drop(options->run_dir);
    }
}

static int run_session(aq_train_arguments *arguments, const aq_run_config *config,
                       aq_train_result *ret_result, aq_error *error)
{
    aq_train_options *options = &arguments->options;
    int rc = 0;
    if (arguments->offline) { /* before anything is started */
        options->run_id = aq_rng_system_seed() | 1;
        rc = aq_offline_import(arguments->offline, options->run_dir, config, options->run_id,
                               options->quiet, error);
    }
    if (rc == 0) {
        say_start(config, options);
        rc = aq_train_session_run(config, options, ret_result, error);
    }
    if (rc == 0 && ret_result->interrupted && !aq_path_exists_in(options->run_dir, "run.json")) {
        aq_train_result_fini(ret_result);
        aq_train_folder_drop(options->run_dir);
        return aq_fail(error, AQ_E_IO, "interrupted: there is no run yet");
    }
    if (rc == 0 && aq_process_lost_parent()) { /* nobody waits for what the policy is worth */
        aq_train_result_fini(ret_result);
        return aq_fail(error, AQ_E_NOT_FOUND, "interrupted: the process that started it is gone");
    }
    if (rc != 0) {
        drop_unbegun(rc, options);
    }
    return rc;
}

/* In a new folder, or in the one of the run that is resumed. */
static int train_one(aq_train_arguments *arguments, const aq_run_config *config, aq_error *error)
{
    aq_train_result result = {0};
    aq_train_report report;
    int rc = run_session(arguments, config, &result, error);
    if (rc != 0) {
        return rc;
    }
    aq_run_config last;
    aq_train_settings_last(config, arguments->options.run_dir, &last);
    const int unjudged = aq_train_report_make(&last, &arguments->options, &result, &report, error);
    if (arguments->json) {
        rc = aq_print_json(aq_train_report_json(&report), arguments->json, error);
    } else {
        aq_train_report_print(&report);
        if (isatty(STDOUT_FILENO)) {
            aq_return_picture_print(stdout, report.run_dir, aq_progress_columns(STDOUT_FILENO));
        }
        aq_next_steps_print(&report, &arguments->options);
    }
    if (rc == 0 && report.state == AQ_RUN_DIVERGED) {
        rc = say_diverged(arguments->options.run_dir, error);
    } else if (rc == 0 && result.trouble[0] != '\0') {
        rc = aq_fail(error, AQ_E_IO, "the run ended in trouble: %s", result.trouble);
    } else if (rc == 0) {
        rc = unjudged; /* `error` has it */
    }
    aq_train_result_fini(&result);
    return rc;
}

static int train(aq_train_arguments *arguments, const aq_run_config *config, aq_error *error)
{
    choose_http(arguments);
    int rc = aq_train_folder_choose(config, &arguments->options, error);
    if (rc != 0) {
        return rc;
    }
    const aq_seed_plan plan = {.seeds = arguments->seeds,
                               .points = aq_train_grid_size(&arguments->grid),
                               .resolve = resolve_point,
                               .user = arguments,
                               .jobs = arguments->jobs};
    if (arguments->seeds.count > 0) {
        arguments->options.quiet = true; /* all is said that is of every run */
        return aq_seed_runs(&plan, &arguments->options, arguments->json, error);
    }
    return train_one(arguments, config, error);
}

static const aq_train_arguments defaults = {0};

static int train_or_print(void *given, aq_error *error)
{
    aq_train_arguments *arguments = given;
    aq_run_config config;
    if (arguments->preset && strcmp(arguments->preset, "list") == 0) {
        return aq_print_presets(error);
    }
    arguments->options.started_ns = aq_clock_monotonic_ns();
    int rc = prepare(arguments, &config, error);
    if (rc == 0) {
        rc = arguments->print_config ? print_config(&config, error)
                                     : train(arguments, &config, error);
    }
    return rc;
}

const aq_command aq_command_train = {
    .name = "train",
    .summary = "train a task on this host",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = train_or_print,
};

/*
 * actorq compare: trains one task in several ways under the same configuration, one run at a time,
 * and says what came of it: in several precisions, which is the ActorQ paper's experiment, or by
 * several ways of learning in parallel.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/compare/compare_json.h"
#include "cli/compare/compare_plan.h"
#include "cli/compare/compare_report.h"
#include "cli/compare/compare_run.h"
#include "cli/compare/compare_table.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/text/preset_list.h"
#include "cli/text/shell_text.h"
#include "cli/train/train_folder.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/config/run_request.h"
#include "common/config/run_rules.h"
#include "common/sys/file.h"
#include "common/sys/machine.h"
#include "envs/env_code.h"
#include "envs/env_open.h"

enum { SEEDS_DEFAULT = 3, SEED_FIRST_MAX = 1000000000 };

typedef struct compare_arguments {
    const char *task;
    const char *precisions; /* NULL: the default, as the next */
    const char *modes;
    const char *scales;
    const char *preset;
    const char *config_path;
    const char *out;
    aq_settings_assignments overrides;
    uint64_t seeds, seed_first, parallel; /* 0: the default */
    double threshold;                     /* NaN: not given */
    char **typed;                         /* behind "actorq", NULL-terminated */
    aq_json_form json;
    bool resume, quiet;
} compare_arguments;

static const aq_option option_rows[] = {
    {"precisions", 'p', "LIST",
     "formats of the broadcast policy, such as fp32,fp16,int8 (default: fp32,int8)",
     AQ_TO_TEXT(compare_arguments, precisions)},
    {"modes", 'm', "LIST",
     "instead of precisions, ways of learning in parallel: of experience,sync,async,model,hybrid",
     AQ_TO_TEXT(compare_arguments, modes)},
    {"parallel", 0, "N",
     "how many actors, or learners, a mode has side by side (default: as many as processors)",
     AQ_TO_NUMBER(compare_arguments, parallel, 2, AQ_COMPARE_PARALLEL_MAX)},
    {"scaling", 0, "LIST",
     "run the modes with so many side by side, too, such as 1, which tells their efficiency",
     AQ_TO_TEXT(compare_arguments, scales)},
    {"seeds", 0, "N", "how many runs of each precision or mode (default: 3)",
     AQ_TO_NUMBER(compare_arguments, seeds, 1, AQ_COMPARE_SEEDS_MAX)},
    {"seed", 0, "S", "the first seed; the others follow (default: 1)",
     AQ_TO_NUMBER(compare_arguments, seed_first, 1, SEED_FIRST_MAX)},
    {"preset", 0, "PRESET",
     "begin with these settings, such as paper (default: the best known for the task); list shows "
     "all, none takes plain defaults",
     AQ_TO_TEXT(compare_arguments, preset)},
    {"config", 'c', "FILE", "read settings from this YAML file, over the preset",
     AQ_TO_TEXT(compare_arguments, config_path)},
    {"set", 0, "KEY=VALUE", "change one setting of all runs; may be given often",
     AQ_TO(aq_settings_assignments_add, compare_arguments, overrides)},
    {"threshold", 0, "X",
     "the return to be reached (default: evaluator.threshold where that is a number, else the "
     "task's own, else from what was reached)",
     AQ_TO_REAL(compare_arguments, threshold)},
    {"output", 'o', "DIR", "the report's folder (default: a new one below ./compares)",
     AQ_TO_TEXT(compare_arguments, out)},
    {"resume", 0, NULL, "go on with the comparison that --output holds",
     AQ_TO_FLAG(compare_arguments, resume)},
    AQ_ALLOW_CODE_OPTION,
    AQ_JSON_OPTION_ROW(compare_arguments, json, "the report"),
    {"quiet", 'q', NULL, "show no progress", AQ_TO_FLAG(compare_arguments, quiet)},
};

static const aq_options options_page = {
    .program = "actorq compare",
    .usage = "TASK [options]",
    .summary = "Trains a task in several precisions, or by several ways of learning in parallel, "
               "under the same configuration, one run at a time, and writes a report: returns, "
               "times, bytes, energy, and where the time went.",
    .details = "Examples:\n"
               "  actorq compare gym:CartPole-v1 --precisions fp32,fp16,int8 --seeds 3\n"
               "  actorq compare dmc:cartpole_balance --preset paper --output balance\n"
               "  actorq compare gym:CartPole-v1 --modes experience,sync,async --scaling 1\n"
               "  actorq compare --output balance --resume\n"
               "\n"
               "DIR/report.html holds all of it; compare.json, compare.csv and curves.csv the "
               "figures.\nA run that comes to nothing is reported as such, and the rest goes on.\n",
    AQ_OPTION_ROWS(option_rows),
    .setting = aq_run_request_setting,
    .operands = {AQ_OPTIONAL_OPERAND("TASK", compare_arguments, task)},
};

/* ---- the plan ------------------------------------------------------------------------------- */

static int read_settings(const compare_arguments *arguments, const aq_env *env,
                         aq_compare_plan *plan, aq_error *error)
{
    const aq_run_request request = {.preset = arguments->preset,
                                    .path = arguments->config_path,
                                    .assignments = &arguments->overrides};
    int rc = aq_run_request_read(&request, env->name, &env->schema, &plan->config, error);
    if (rc != 0) {
        return rc;
    }
    /* Quantizing alone is told apart from training under it. */
    plan->config.evaluator.fp32 |= plan->request.subject == AQ_COMPARE_PRECISIONS;
    plan->config.seed = plan->seed_first;
    return aq_run_rules_check(&plan->config, error);
}

static int check_free(const aq_compare_plan *plan, aq_error *error)
{
    return aq_train_folder_is_free(plan->dir)
               ? 0
               : aq_fail(error, AQ_E_EXISTS,
                         aq_path_exists_in(plan->dir, "plan.json")
                             ? "%s exists already; give --resume to go on with it, or another "
                               "--output"
                             : "%s exists already and is no comparison: give another --output",
                         plan->dir);
}

static int choose_folder(const compare_arguments *arguments, aq_compare_plan *plan, aq_error *error)
{
    int rc = arguments->out ? aq_text_set(plan->dir, sizeof(plan->dir), arguments->out)
                            : aq_train_name_folder("compares", plan->config.task, plan->dir,
                                                   sizeof(plan->dir));
    /* Room for the folders of runs below it, and the files in them. */
    if (rc != 0 || strlen(plan->dir) > PATH_MAX - 256) {
        return aq_fail(error, AQ_E_TOO_BIG, "the path of the report's folder is too long");
    }
    int folder = -1; /* open until this process ends */
    rc = check_free(plan, error);
    rc = rc != 0 ? rc : aq_dir_create(plan->dir, error);
    rc = rc != 0 ? rc : aq_train_folder_claim(plan->dir, &folder, error);
    return rc != 0 ? rc : check_free(plan, error); /* another may have been quicker */
}

static int read_request(const compare_arguments *arguments, aq_compare_request *request,
                        aq_error *error)
{
    const char *precisions = arguments->precisions ? arguments->precisions : "fp32,int8";
    if (arguments->modes ? arguments->precisions != NULL
                         : arguments->scales != NULL || arguments->parallel > 0) {
        return aq_fail(error, AQ_E_INVALID,
                       arguments->modes ? "either --precisions or --modes are compared"
                                        : "--parallel and --scaling are for --modes");
    }
    const unsigned cpus = aq_machine_cpu_count();
    request->subject = arguments->modes ? AQ_COMPARE_MODES : AQ_COMPARE_PRECISIONS;
    request->parallel = arguments->parallel              ? arguments->parallel
                        : cpus < 2                       ? 2
                        : cpus < AQ_COMPARE_PARALLEL_MAX ? cpus
                                                         : AQ_COMPARE_PARALLEL_MAX;
    int rc =
        aq_compare_request_names(request, arguments->modes ? arguments->modes : precisions, error);
    return rc == 0 && arguments->scales
               ? aq_compare_request_scales(request, arguments->scales, error)
               : rc;
}

/* What the kinds of runs differ in, and their seeds, are said otherwise. */
static int check_overrides(const compare_arguments *arguments, enum aq_compare_subject subject,
                           aq_error *error)
{
    static const struct {
        const char *key, *by;
        bool of_precisions, of_modes;
    } said[] = {
        {"seed", "--seed", true, true},
        {"quantizer.format", "--precisions", true, false},
        {"actor.count", "--parallel", false, true},
        {"actor.gradients", "--modes", false, true},
        {"learner.model_ranks", "--modes", false, true},
    };
    for (size_t i = 0; i < arguments->overrides.count; i++) {
        const char *given = arguments->overrides.texts[i];
        for (size_t k = 0; k < sizeof(said) / sizeof(said[0]); k++) {
            const size_t length = strlen(said[k].key);
            if ((subject == AQ_COMPARE_MODES ? said[k].of_modes : said[k].of_precisions) &&
                strncmp(given, said[k].key, length) == 0 && given[length] == '=') {
                return aq_fail(error, AQ_E_INVALID, "--set %s: that is what %s says", said[k].key,
                               said[k].by);
            }
        }
    }
    return 0;
}

static int make_plan(const compare_arguments *arguments, const aq_env *env, aq_compare_plan *plan,
                     aq_error *error)
{
    plan->seeds = arguments->seeds ? arguments->seeds : SEEDS_DEFAULT;
    plan->seed_first = arguments->seed_first ? arguments->seed_first : 1;
    plan->threshold = arguments->threshold;
    int rc = read_request(arguments, &plan->request, error);
    if (rc == 0) {
        rc = check_overrides(arguments, plan->request.subject, error);
    }
    if (rc == 0) {
        rc = read_settings(arguments, env, plan, error);
    }
    if (rc == 0) {
        rc = aq_compare_plan_arms(plan, error);
    }
    if (rc == 0) {
        rc = aq_compare_plan_check(plan, &env->schema, error);
    }
    if (rc == 0) {
        rc = choose_folder(arguments, plan, error);
    }
    return rc != 0 ? rc : aq_compare_plan_write(plan, error);
}

static int prepare_new(const compare_arguments *arguments, aq_compare_plan *plan, aq_env **ret_env,
                       aq_error *error)
{
    if (!arguments->task) {
        return aq_fail(error, AQ_E_INVALID, "which task? 'actorq envs' lists them");
    }
    aq_env_allow_code(arguments->task);
    int rc = aq_env_open(arguments->task, ret_env, error);
    return rc != 0 ? rc : make_plan(arguments, *ret_env, plan, error);
}

/* Something was given that only a new comparison can take. */
static bool shapes_runs(const compare_arguments *arguments)
{
    return arguments->task || arguments->precisions || arguments->modes || arguments->scales ||
           arguments->parallel > 0 || arguments->preset || arguments->config_path ||
           arguments->overrides.count > 0 || arguments->seeds > 0 || arguments->seed_first > 0;
}

static int prepare_resumed(const compare_arguments *arguments, aq_compare_plan *plan,
                           aq_env **ret_env, aq_error *error)
{
    if (!arguments->out) {
        return aq_fail(error, AQ_E_INVALID, "--resume needs --output DIR");
    }
    if (shapes_runs(arguments)) {
        return aq_fail(error, AQ_E_INVALID,
                       "a comparison goes on as it was begun: beside --output and --resume only "
                       "--threshold, --json and --quiet can be given");
    }
    int folder = -1; /* open until this process ends */
    int rc = aq_train_folder_claim(arguments->out, &folder, error);
    rc = rc != 0 ? rc : aq_compare_plan_read(arguments->out, plan, error);
    if (rc == 0 && isfinite(arguments->threshold)) {
        plan->threshold = arguments->threshold;
        rc = aq_compare_plan_write(plan, error);
    }
    return rc != 0 ? rc : aq_env_open(plan->config.task, ret_env, error);
}

/* ---- the runs ------------------------------------------------------------------------------- */

static void say_run(const aq_compare_plan *plan, size_t number, size_t arm, uint64_t seed)
{
    (void)fprintf(stderr, "[%zu/%zu] %s, seed %" PRIu64 "\n", number,
                  plan->arm_count * (size_t)plan->seeds, plan->arms[arm].name, seed);
}

static void say_result(const aq_compare_run *run)
{
    aq_figure steps, wall, value;
    if (run->outcome != AQ_OUTCOME_FINISHED) {
        aq_print_line(stderr, "  %s: %s", aq_run_outcome_name(run->outcome), run->reason);
        return;
    }
    (void)fprintf(stderr, "  %s steps in %s, return %s\n",
                  aq_figure_count(&steps, run->curve.env_steps),
                  aq_figure_duration(&wall, run->curve.wall_s),
                  aq_figure_return(&value, aq_compare_curve_final(&run->curve)));
}

/* A run that is over stays as it is. What the machine failed is tried again, and so is what was
 * refused, since a daemon says so, too, of a port that was busy: else it says it again at once. */
static int train_one(const aq_compare_plan *plan, size_t number, size_t arm, uint64_t seed,
                     bool quiet, bool *ret_interrupted, aq_error *error)
{
    aq_compare_run run;
    aq_compare_run_read(plan, arm, seed, &run);
    bool is_over = run.outcome == AQ_OUTCOME_FINISHED || run.outcome == AQ_OUTCOME_DIVERGED;
    aq_compare_run_fini(&run);
    if (is_over) {
        return 0;
    }
    if (!quiet) {
        say_run(plan, number, arm, seed);
    }
    int rc = aq_compare_run_train(plan, arm, seed, quiet, ret_interrupted, error);
    if (rc == 0 && !quiet && !*ret_interrupted) {
        aq_compare_run_read(plan, arm, seed, &run);
        say_result(&run);
        aq_compare_run_fini(&run);
    }
    return rc;
}

static int train_all(const aq_compare_plan *plan, bool quiet, bool *ret_interrupted,
                     aq_error *error)
{
    size_t number = 0;
    for (uint64_t round = 0; round < plan->seeds; round++) {
        for (size_t turn = 0; turn < plan->arm_count; turn++) {
            int rc = train_one(plan, ++number, aq_compare_plan_turn(plan, round, turn),
                               plan->seed_first + round, quiet, ret_interrupted, error);
            if (rc != 0 || *ret_interrupted) {
                return rc;
            }
        }
    }
    return 0;
}

/* ---- the end -------------------------------------------------------------------------------- */

static int report(const aq_compare_plan *plan, double task_threshold, aq_json_form json,
                  aq_error *error)
{
    aq_compare_summary summary;
    size_t finished = 0;
    int rc = aq_compare_summary_make(plan, task_threshold, &summary, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_compare_report_write(&summary, error);
    for (size_t i = 0; i < plan->arm_count; i++) {
        finished += summary.rows[i].finished;
    }
    if (rc == 0 && json) {
        rc = aq_print_json(aq_compare_json(&summary), json, error);
    } else if (rc == 0) {
        rc = aq_compare_table_print(&summary, stdout) != 0
                 ? aq_fail(error, AQ_E_NOMEM, "out of memory")
                 : 0;
        (void)printf("\nreport     %s/report.html\n", plan->dir);
    }
    aq_compare_summary_fini(&summary);
    if (rc == 0 && finished == 0) {
        rc = aq_fail(error, AQ_E_UNSUPPORTED, "no run came to its end; %s/report.html says why",
                     plan->dir);
    }
    return rc;
}

static int say_stopped(const aq_compare_plan *plan, aq_error *error)
{
    char program[PATH_MAX], folder[PATH_MAX];
    return aq_fail(
        error, AQ_E_CLOSED, "interrupted; '%s compare --output %s --resume%s' goes on with it",
        aq_shell_program(program, sizeof(program)),
        aq_shell_word(folder, sizeof(folder), plan->dir), aq_env_code_option(plan->config.task));
}

static int compare(const compare_arguments *arguments, aq_compare_plan *plan, aq_error *error)
{
    aq_env *env = NULL;
    bool interrupted = false;
    int rc = arguments->resume ? prepare_resumed(arguments, plan, &env, error)
                               : prepare_new(arguments, plan, &env, error);
    double task_threshold = env ? env->reward_threshold : (double)NAN;
    aq_env_unref(env);
    if (rc == 0 && !arguments->quiet) {
        (void)fprintf(stderr, "comparing in %s\n", plan->dir);
    }
    if (rc == 0) {
        rc = train_all(plan, arguments->quiet, &interrupted, error);
    }
    if (rc == 0 && interrupted) {
        rc = say_stopped(plan, error);
    }
    return rc != 0 ? rc : report(plan, task_threshold, arguments->json, error);
}

/* For people: what was typed. What doesn't fit is left out. */
static void keep_command(char **typed, aq_compare_plan *plan)
{
    char word[AQ_COMPARE_COMMAND_MAX];
    (void)snprintf(plan->command, sizeof(plan->command), "actorq");
    for (; *typed != NULL; typed++) {
        (void)aq_shell_word(word, sizeof(word), *typed);
        if (strlen(plan->command) + strlen(word) + 1 >= sizeof(plan->command)) {
            return;
        }
        aq_text_append(plan->command, sizeof(plan->command), " %s", word);
    }
}

static const compare_arguments defaults = {.threshold = NAN};

static int compare_or_print(void *given, aq_error *error)
{
    const compare_arguments *arguments = given;
    aq_compare_plan plan = {.threshold = NAN};
    if (arguments->preset != NULL && strcmp(arguments->preset, "list") == 0) {
        return aq_print_presets(error);
    }
    keep_command(arguments->typed, &plan);
    return compare(arguments, &plan, error);
}

const aq_command aq_command_compare = {
    .name = "compare",
    .summary = "train a task in several precisions, or modes, and compare them",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = compare_or_print,
    .typed = offsetof(compare_arguments, typed),
};

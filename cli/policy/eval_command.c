/*
 * actorq eval: what a policy is worth, over greedy episodes.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/run/long_evaluation.h"
#include "cli/text/command.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/config/solved.h"
#include "common/sys/cpu.h"
#include "envs/env_code.h"
#include "library/source/policy_source.h"
#include "quantizer/engine/engine.h"
#include "rollout/env_task.h"
#include "rollout/evaluation.h"

enum { EPISODES_DEFAULT = 100, FIGURE_MAX = 32 };

/* In the place of a run or a policy. */
static const char random_play[] = "random", scripted_play[] = "scripted";

typedef struct eval_arguments {
    const char *source;
    const char *env; /* NULL: the policy's */
    uint64_t episodes;
    uint32_t precision; /* a format, or AQ_PRECISION_AS_STORED */
    uint64_t seed;
    aq_json_form json;
} eval_arguments;

/* What was evaluated, and what came out. */
typedef struct eval_report {
    char path[PATH_MAX];
    aq_env_task task;
    const char *precision; /* NULL: no policy, as rung */
    char precision_text[AQ_PRECISION_TEXT_MAX];
    bool quantized; /* now, for this evaluation */
    const char *rung;
    uint64_t seed;
    aq_evaluation result;
} eval_report;

static const aq_option option_rows[] = {
    {"env", 0, "TASK",
     "the task; needed for random and scripted, else the one that the policy is for",
     AQ_TO_TEXT(eval_arguments, env)},
    {"episodes", 'n', "N", "how many episodes, 1 to 1000000 (default 100)",
     AQ_TO_NUMBER(eval_arguments, episodes, 1, AQ_EVALUATION_EPISODES_MAX)},
    {"precision", 0, "FORMAT", AQ_PRECISION_HELP,
     AQ_TO(aq_precision_take, eval_arguments, precision)},
    {"seed", 0, "S",
     "which episodes; the same seed plays the same for every policy (default: one from the system, "
     "which is printed)",
     AQ_TO_NUMBER(eval_arguments, seed, 0, AQ_JSON_SEED_MAX)},
    AQ_ALLOW_CODE_OPTION,
    AQ_JSON_OPTION_ROW(eval_arguments, json, "the result"),
};

static const aq_options options_page = {
    .program = "actorq eval",
    .usage = "RUN|POLICY|random|scripted [options]",
    .summary =
        "Plays whole episodes with a policy, always taking the action that it values most, with "
        "random actions, or, of a game or the lander, with those of its hand-written script, and "
        "reports their returns. RUN is a run folder, POLICY a policy file (.aq) or a checkpoint "
        "(.aqc).",
    .details = "Examples:\n"
               "  actorq eval runs/first\n"
               "  actorq eval runs/first --precision fp32 --seed 7 --json\n"
               "  actorq eval policy.aq --episodes 1000\n"
               "  actorq eval policy.aq --env 'game:asterix?sticky=0.25'\n"
               "  actorq eval random --env game:asterix\n"
               "  actorq eval scripted --env game:asterix\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("RUN, POLICY, random or scripted", eval_arguments, source)},
};

/* ---- playing -------------------------------------------------------------------------------- */

static int open_task(const char *name, aq_env_task *ret_task, aq_error *error)
{
    aq_env_allow_code(name);
    return aq_env_task_open(name, ret_task, error);
}

/* The environment that was asked for, or else the one that the policy says it is for, if this
 * build's is the same. */
static int find_task(const char *name, const eval_report *report, const aq_snapshot *snapshot,
                     aq_env_task *ret_task, aq_error *error)
{
    if (name != NULL) {
        return open_task(name, ret_task, error);
    }
    int rc = aq_env_task_find(snapshot->task, aq_schema_hash(&snapshot->schema), ret_task, error);
    return rc != 0 ? aq_fail_context(error, rc, "%s", report->path) : 0;
}

/* What a policy of the task has to beat. */
static int evaluate_without(const eval_arguments *arguments, eval_report *report, aq_error *error)
{
    const uint32_t episodes = (uint32_t)arguments->episodes;
    if (arguments->env == NULL) {
        return aq_fail(error, AQ_E_INVALID, "%s actions need a task: --env TASK",
                       arguments->source);
    }
    if (arguments->precision != AQ_PRECISION_AS_STORED) {
        return aq_fail(error, AQ_E_INVALID, "--precision is for policies, not for %s actions",
                       arguments->source);
    }
    int rc = open_task(arguments->env, &report->task, error);
    if (rc == 0) {
        (void)snprintf(report->path, sizeof(report->path), "%s", arguments->source);
        rc = strcmp(arguments->source, random_play) == 0
                 ? aq_long_evaluation(report->task.env, NULL, episodes, report->seed,
                                      &report->result, error)
                 : aq_evaluate_script(report->task.env, episodes, report->seed, &report->result,
                                      error);
    }
    return rc;
}

static int evaluate_policy(const eval_arguments *arguments, eval_report *report, aq_error *error)
{
    aq_snapshot *snapshot = NULL;
    aq_engine *engine = NULL;
    int rc = aq_policy_source_read(arguments->source, arguments->precision, &snapshot, report->path,
                                   &report->quantized, error);
    if (rc == 0) {
        rc = find_task(arguments->env, report, snapshot, &report->task, error);
    }
    if (rc == 0) {
        report->precision = aq_format_name(aq_snapshot_format(snapshot));
        (void)aq_policy_source_precision(snapshot, report->precision_text);
        rc = aq_engine_create(snapshot, AQ_EVALUATION_LANES_MAX, aq_cpu_flags(), &engine, error);
    }
    if (rc == 0) {
        report->rung = aq_engine_rung(engine);
        rc = aq_long_evaluation(report->task.env, engine, (uint32_t)arguments->episodes,
                                report->seed, &report->result, error);
    }
    aq_engine_destroy(engine);
    aq_snapshot_unref(snapshot);
    return rc;
}

/* ---- the result ----------------------------------------------------------------------------- */

static bool is_solved(const eval_report *report)
{
    const aq_evaluation *result = &report->result;
    return aq_is_solved(result->return_mean, result->return_std, result->episodes,
                        report->task.env->reward_threshold);
}

static json_t *make_json(const eval_report *report)
{
    const aq_evaluation *result = &report->result;
    return json_pack(
        "{s:o, s:s, s:o, s:s?, s:b, s:s?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
        "policy", aq_json_text(report->path), "task", report->task.env->name, "policy_version",
        aq_json_count(result->version), "precision", report->precision, "requantized",
        report->quantized, "kernels", report->rung, "episodes", aq_json_count(result->episodes),
        "seed", aq_json_count(report->seed), "return_mean", aq_json_number(result->return_mean),
        "return_std", aq_json_number(result->return_std), "return_min",
        aq_json_number(result->return_min), "return_max", aq_json_number(result->return_max),
        "cut_off", aq_json_count(result->cut_off), "drawn_anew", aq_json_count(result->drawn_anew),
        "reward_threshold", aq_json_number(report->task.env->reward_threshold), "solved",
        is_solved(report));
}

static void print(const eval_report *report)
{
    const aq_evaluation *result = &report->result;
    char path[PATH_MAX], mean[FIGURE_MAX], deviation[FIGURE_MAX];
    if (report->precision == NULL) {
        (void)printf("%s actions: %s\n", report->path, report->task.env->name);
    } else {
        (void)printf("%s: %s, version %" PRIu64 ", %s%s\n",
                     aq_plain_text(path, sizeof(path), report->path), report->task.env->name,
                     result->version, report->precision_text,
                     report->quantized ? " as quantized now, which no actor ran" : "");
    }
    (void)aq_text_return(mean, sizeof(mean), result->return_mean, 2);
    if (result->episodes == 1) {
        aq_print_fact(stdout, "return", "%s", mean);
    } else {
        aq_print_fact(stdout, "return", "%s +- %s (mean and standard deviation)", mean,
                      aq_text_return(deviation, sizeof(deviation), result->return_std, 2));
    }
    aq_print_fact(stdout, "range", "%s to %s",
                  aq_text_return(mean, sizeof(mean), result->return_min, 2),
                  aq_text_return(deviation, sizeof(deviation), result->return_max, 2));
    aq_print_fact(stdout, "episodes", "%" PRIu32 ", seed %" PRIu64, result->episodes, report->seed);
    if (result->cut_off > 0) {
        aq_print_fact(stdout, "cut off",
                      "%" PRIu32 " of the episodes after %d steps: the task "
                      "has no step limit of its own",
                      result->cut_off, AQ_TRIAL_EPISODE_STEPS_MAX);
    }
    if (result->drawn_anew > 0) {
        aq_print_fact(stdout, "drawn anew",
                      "%" PRIu32 " of the episodes: the environment failed in those of the seed",
                      result->drawn_anew);
    }
    if (!isnan(report->task.env->reward_threshold)) {
        aq_print_fact(stdout, "solved", "%s (a mean %g standard errors above %g)",
                      is_solved(report) ? "yes" : "no", AQ_SOLVED_ERRORS,
                      report->task.env->reward_threshold);
    }
    if (report->rung != NULL) {
        aq_print_fact(stdout, "kernels", "%s", report->rung);
    }
}

static const eval_arguments defaults = {
    .episodes = EPISODES_DEFAULT,
    .precision = AQ_PRECISION_AS_STORED,
    .seed = AQ_JSON_SEED_DRAW,
};

static int eval(void *given, aq_error *error)
{
    eval_arguments *arguments = given;
    aq_command_draw_seed(&arguments->seed);
    eval_report report = {.seed = arguments->seed};
    const bool has_policy = strcmp(arguments->source, random_play) != 0 &&
                            strcmp(arguments->source, scripted_play) != 0;
    int rc = has_policy ? evaluate_policy(arguments, &report, error)
                        : evaluate_without(arguments, &report, error);
    if (rc == 0 && arguments->json) {
        rc = aq_print_json(make_json(&report), arguments->json, error);
    } else if (rc == 0) {
        print(&report);
    }
    aq_env_task_fini(&report.task);
    return rc;
}

const aq_command aq_command_eval = {
    .name = "eval",
    .summary = "play episodes with a policy and report their returns",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = eval,
};

/*
 * actorq env: what is asked of one environment. `actorq env bench`: how fast it steps.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/env/env_bench.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "common/base/plain_text.h"
#include "envs/env_code.h"

enum { SECONDS_DEFAULT = 3 };

typedef struct bench_arguments {
    const char *task;
    uint64_t seconds;
    uint64_t lanes; /* 0: the default */
    uint64_t seed;
    aq_json_form json;
} bench_arguments;

static const aq_option option_rows[] = {
    {"seconds", 's', "S", "how long to measure, 1 to 600 (default 3)",
     AQ_TO_NUMBER(bench_arguments, seconds, 1, AQ_ENV_BENCH_SECONDS_MAX)},
    {"envs", 'k', "K",
     "how many environments are stepped in turn, 1 to 4096 (default 64, or 1 where the physics is "
     "measured beside it)",
     AQ_TO_NUMBER(bench_arguments, lanes, 1, AQ_ENV_BENCH_LANES_MAX)},
    {"seed", 0, "N", "which actions and starts (default 1)",
     AQ_TO_NUMBER(bench_arguments, seed, 0, INT64_MAX)},
    AQ_JSON_OPTION_ROW(bench_arguments, json, "the figures"),
};

static const aq_options options_page = {
    .program = "actorq env bench",
    .usage = "TASK [options]",
    .summary =
        "Measures how many steps a second an environment takes under random actions, on one "
        "thread, with its resets. Where the physics is MuJoCo's, MuJoCo alone is measured in turn "
        "with it, on the same states and actions. Time is the processor's, except for an "
        "environment in another process, and of many short measurements the median counts.",
    .details = "Examples:\n"
               "  actorq env bench gym:CartPole-v1\n"
               "  actorq env bench dmc:walker_walk --seconds 10 --json\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("TASK", bench_arguments, task)},
};

static json_t *make_json(const aq_env *env, const bench_arguments *arguments,
                         const aq_env_bench_report *report)
{
    const bool physics = report->has_physics;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "task",
        aq_json_text(env->name), "envs", aq_json_count(report->lanes), "seconds",
        aq_json_count(arguments->seconds), "seed", aq_json_count(arguments->seed), "clock",
        report->by_wall_clock ? "wall" : "processor", "slices", aq_json_count(report->slices),
        "steps", aq_json_count(report->steps), "episodes", aq_json_count(report->episodes),
        "steps_per_s", aq_json_number(report->steps_per_s), "steps_per_s_low",
        aq_json_number(report->steps_per_s_low), "steps_per_s_high",
        aq_json_number(report->steps_per_s_high), "step_ns", aq_json_number(report->step_ns),
        "reset_ns", aq_json_number(report->reset_ns), "physics_steps_per_s",
        physics ? aq_json_number(report->physics_steps_per_s) : json_null(), "physics_ratio",
        physics ? aq_json_number(report->physics_ratio) : json_null());
}

static void print(const aq_env *env, const aq_env_bench_report *report)
{
    aq_figure rate, low, high, step, reset;
    (void)printf("%s: %" PRIu32 " environment%s, %" PRIu64 " steps, %" PRIu64 " episodes, %s\n",
                 env->name, report->lanes, report->lanes == 1 ? "" : "s", report->steps,
                 report->episodes,
                 report->by_wall_clock ? "by the clock on the wall" : "processor time");
    aq_print_fact(stdout, "steps", "%s/s (%s to %s in eight of ten slices)",
                  aq_figure_count(&rate, report->steps_per_s),
                  aq_figure_count(&low, report->steps_per_s_low),
                  aq_figure_count(&high, report->steps_per_s_high));
    aq_print_fact(stdout, "a step", "%s ns, its share of resets included",
                  aq_figure_number(&step, report->step_ns));
    aq_print_fact(stdout, "a reset", "%s ns", aq_figure_number(&reset, report->reset_ns));
    if (report->has_physics) {
        aq_print_fact(stdout, "physics", "%s/s alone; with all around it %.1f %% of that",
                      aq_figure_count(&rate, report->physics_steps_per_s),
                      100 * report->physics_ratio);
    }
}

static const bench_arguments defaults = {.seconds = SECONDS_DEFAULT, .seed = 1};

static int bench(void *given, aq_error *error)
{
    const bench_arguments *arguments = given;
    aq_env_bench_report report;
    aq_env *env = NULL;
    aq_env_allow_code(arguments->task);
    int rc = aq_env_open(arguments->task, &env, error);
    if (rc == 0) {
        rc = aq_env_bench(env, (double)arguments->seconds, (uint32_t)arguments->lanes,
                          arguments->seed, &report, error);
    }
    if (rc == 0 && arguments->json) {
        rc = aq_print_json(make_json(env, arguments, &report), arguments->json, error);
    } else if (rc == 0) {
        print(env, &report);
    }
    aq_env_unref(env);
    return rc;
}

static const aq_command command_bench = {
    .name = "bench",
    .summary = "measure how fast an environment steps",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = bench,
};

static const aq_command *const commands[] = {&command_bench};

static const aq_command_page page = {
    .program = "actorq env",
    .summary = "Measures an environment. 'actorq envs' lists the environments.\n",
    .examples = "  actorq env bench gym:CartPole-v1\n",
    .commands = commands,
    .count = sizeof(commands) / sizeof(commands[0]),
};

const aq_command aq_command_env = {
    .name = "env",
    .summary = "measure an environment",
    .page = &page,
};

/*
 * Next steps: see next_steps.h.
 */
#include "cli/train/next_steps.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/text/shell_text.h"
#include "envs/env_code.h"

enum { WORD_MAX = PATH_MAX + 64, COLUMNS = 100 };

/* A diverged run goes on with steps so much shorter. */
#define CALMER 0.1

typedef struct next_steps {
    const aq_train_report *report;
    const aq_train_options *options;
    char program[WORD_MAX], run[WORD_MAX]; /* as a shell takes them */
    const char *trust; /* the option that loads the task's code from a run; "": it needs none */
    int column;        /* of the line that is printed */
} next_steps;

/* ---- lines ---------------------------------------------------------------------------------- */

static void begin(next_steps *next, const char *command)
{
    next->column = printf("  %s %s", next->program, command);
}

/* One more part, on a line of its own where it would be too long; "" is none. */
static AQ_PRINTF(2, 3) void add(next_steps *next, const char *format, ...)
{
    char part[2 * WORD_MAX];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(part, sizeof(part), format, values);
    va_end(values);
    if (part[0] == '\0') {
        return;
    }
    if (next->column + 1 + (int)strlen(part) > COLUMNS - 2) {
        (void)fputs(" \\\n     ", stdout);
        next->column = 5;
    }
    next->column += printf(" %s", part);
}

static void end(void)
{
    (void)putchar('\n');
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void evaluate(next_steps *next, const char *precision)
{
    begin(next, "eval");
    add(next, "%s", next->run);
    add(next, "--episodes 100");
    add(next, "%s", precision);
    add(next, "%s", next->trust);
    end();
}

static void look_at_policy(next_steps *next)
{
    const bool is_fp32 = next->report->kept.format == AQ_FORMAT_F32;
    evaluate(next, "");
    evaluate(next, is_fp32 ? "--precision int8" : "--precision fp32");
    begin(next, "inspect");
    add(next, "%s", next->run);
    end();
}

/* A limit that ended the run would end it again. */
static void raise_limits(next_steps *next)
{
    aq_run_limit limits[AQ_RUN_LIMITS];
    const size_t count = aq_train_report_reached(next->report, limits);
    for (size_t i = 0; i < count; i++) {
        double limit = limits[i].limit;
        while (limit <= limits[i].done) {
            limit *= 2;
        }
        add(next, "--set %s=%.15g", limits[i].key, limit);
    }
}

static void calm_down(next_steps *next)
{
    const aq_run_config *config = next->report->config;
    add(next, "--set learner.learning_rate=%g", CALMER * config->learner.learning_rate);
    if (config->learner.critic_learning_rate > 0) {
        add(next, "--set learner.critic_learning_rate=%g",
            CALMER * config->learner.critic_learning_rate);
    }
}

static void add_members(next_steps *next)
{
    if (next->report->result->learners > 1) {
        add(next, "--learners %" PRIu64, next->report->result->learners);
    }
    add(next, "%s", next->options->no_evaluator ? "--no-evaluator" : "");
}

static void go_on(next_steps *next)
{
    begin(next, "train");
    add(next, "--run %s", next->run);
    add(next, "--resume");
    if (next->report->state == AQ_RUN_DIVERGED) {
        calm_down(next);
    }
    raise_limits(next);
    add_members(next);
    add(next, "%s", next->trust);
    end();
}

/* The same run but for the format, and for what has no meaning in fp32. */
static void compare_formats(next_steps *next)
{
    const aq_run_config *config = next->report->config;
    char path[PATH_MAX + 16], word[WORD_MAX];
    const bool is_fp32 = aq_run_config_format(config) == AQ_FORMAT_F32;
    const bool left_fp32 =
        next->report->kept.format == AQ_FORMAT_F32 && next->report->policy_fallbacks == 0;
    if (is_fp32 ? !next->report->int8_quantizes : left_fp32) {
        return; /* nothing is quantized: it would be the same run */
    }
    (void)snprintf(path, sizeof(path), "%s/config.yaml", next->report->run_dir);
    begin(next, "train");
    if (next->options->data_set[0] != '\0') {
        add(next, "--offline %s", aq_shell_word(word, sizeof(word), next->options->data_set));
    }
    add(next, "--config %s", aq_shell_word(word, sizeof(word), path));
    add(next, "--set quantizer.format=%s", is_fp32 ? "int8" : "fp32");
    if (config->quantizer.layer_formats[0] != '\0') {
        add(next, "--set quantizer.layer_formats=");
    }
    if (config->quantizer.bits != 8) {
        add(next, "--set quantizer.bits=8");
    }
    if (config->learner.qat_bits > 0) {
        add(next, "--set learner.qat_bits=0");
    }
    add_members(next);
    end();
}

void aq_next_steps_print(const aq_train_report *report, const aq_train_options *options)
{
    const char *trust = aq_env_code_option(report->config->task);
    next_steps next = {.report = report, .options = options, .trust = trust + strspn(trust, " ")};
    (void)aq_shell_program(next.program, sizeof(next.program));
    (void)aq_shell_word(next.run, sizeof(next.run), report->run_dir);
    (void)printf("\nTry next:\n");
    if (report->kept.episodes > 0) {
        look_at_policy(&next);
    }
    begin(&next, "dashboard");
    add(&next, "%s", next.run);
    end();
    if (report->state != AQ_RUN_SOLVED) {
        go_on(&next);
    }
    if (report->kept.episodes > 0 && report->state != AQ_RUN_DIVERGED) {
        compare_formats(&next);
    }
}

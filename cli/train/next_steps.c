/*
 * Next steps: see next_steps.h.
 */
#include "cli/train/next_steps.h"

#include <math.h>
#include <stdio.h>

#include "cli/text/shell_text.h"
#include "envs/env.h"

enum { WORD_MAX = AQ_CLI_PATH_MAX + 64 };

/* A diverged run goes on with steps so much shorter. */
#define CALMER 0.1

typedef struct next_steps {
    const aq_train_report *report;
    const aq_train_options *options;
    char program[WORD_MAX], run[WORD_MAX]; /* as a shell takes them */
    const char *trust;                     /* the option that loads the task's code from a run */
} next_steps;

static void look_at_policy(const next_steps *next)
{
    const bool is_fp32 = next->report->policy_format == AQ_FORMAT_F32;
    (void)printf("  %s eval %s --episodes 100%s\n", next->program, next->run, next->trust);
    (void)printf("  %s eval %s --episodes 100 --precision %s%s\n", next->program, next->run,
                 is_fp32 ? "int8" : "fp32", next->trust);
    (void)printf("  %s inspect %s\n", next->program, next->run);
}

/* A limit that ended the run would end it again. */
static void raise_limits(const aq_train_report *report)
{
    aq_run_limit limits[AQ_RUN_LIMITS];
    const size_t count = aq_train_report_reached(report, limits);
    for (size_t i = 0; i < count; i++) {
        double limit = limits[i].limit;
        while (limit <= limits[i].done) {
            limit *= 2;
        }
        (void)printf(" --set %s=%.15g", limits[i].key, limit);
    }
}

static void calm_down(const aq_run_config *config)
{
    (void)printf(" --set learner.learning_rate=%g", CALMER * config->learner.learning_rate);
    if (config->learner.critic_learning_rate > 0) {
        (void)printf(" --set learner.critic_learning_rate=%g",
                     CALMER * config->learner.critic_learning_rate);
    }
}

static void go_on(const next_steps *next)
{
    (void)printf("  %s train --run %s --resume", next->program, next->run);
    if (next->report->state == AQ_RUN_DIVERGED) {
        calm_down(next->report->config);
    }
    raise_limits(next->report);
    (void)printf("%s%s\n", next->options->no_evaluator ? " --no-evaluator" : "", next->trust);
}

/* The same run but for the format, and for what has no meaning in fp32. */
static void compare_formats(const next_steps *next)
{
    const aq_run_config *config = next->report->config;
    char path[AQ_CLI_PATH_MAX + 16], word[WORD_MAX];
    (void)snprintf(path, sizeof(path), "%s/config.yaml", next->report->run_dir);
    (void)printf("  %s train", next->program);
    if (next->options->data_set[0] != '\0') {
        (void)printf(" --offline %s", aq_shell_word(word, sizeof(word), next->options->data_set));
    }
    (void)printf(" --config %s --set quantizer.format=%s", aq_shell_word(word, sizeof(word), path),
                 aq_run_config_format(config) == AQ_FORMAT_F32 ? "int8" : "fp32");
    if (config->quantizer.layer_formats[0] != '\0') {
        (void)printf(" --set quantizer.layer_formats=");
    }
    if (config->quantizer.bits != 8) {
        (void)printf(" --set quantizer.bits=8");
    }
    if (config->learner.qat_bits > 0) {
        (void)printf(" --set learner.qat_bits=0");
    }
    (void)printf("%s\n", next->options->no_evaluator ? " --no-evaluator" : "");
}

void aq_next_steps_print(const aq_train_report *report, const aq_train_options *options)
{
    const aq_env_class *class = aq_env_find(report->config->task);
    next_steps next = {.report = report,
                       .options = options,
                       .trust = class != NULL && class->runs_code ? " --allow-code" : ""};
    (void)aq_shell_program(next.program, sizeof(next.program));
    (void)aq_shell_word(next.run, sizeof(next.run), report->run_dir);
    (void)printf("\nTry next:\n");
    if (report->episodes > 0) {
        look_at_policy(&next);
    }
    (void)printf("  %s dashboard %s\n", next.program, next.run);
    if (report->state != AQ_RUN_SOLVED) {
        go_on(&next);
    }
    if (report->episodes > 0 && report->state != AQ_RUN_DIVERGED) {
        compare_formats(&next);
    }
}

/*
 * Run findings: see run_findings.h. The bounds are wide: a run that only learns slowly is not told
 * that something is wrong.
 */
#include "learner/run/run_findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/config/pacing.h"
#include "common/config/run_limits.h"
#include "learner/algorithms/algorithm.h"

/* Values so many times beyond what rewards can be worth are no overestimation any more, unless they
 * are as small as those of fresh networks. */
#define VALUES_BEYOND 2.0
#define VALUES_SMALL  1.0

/* More of the targets' mass than what fresh networks have at the ends. */
#define MASS_MUCH 0.2

/* Of actions; swinging up takes most of them at a bound. */
#define SATURATED_MUCH 0.97

/* Beyond this size, rewards make errors that are far from what step sizes are chosen for. */
#define REWARD_LARGE 30.0

/* What the easier tasks take: a run that was not solved with less has not been tried. */
#define UPDATES_FEW  10000.0
#define VERSIONS_FEW 10.0

/* The same where an update takes all that was played since the one before it, or is of a table, of
 * which it changes a cell for each step of each sequence. */
#define GROUP_UPDATES_FEW 100.0

/* More fallbacks than this share are no accident. */
#define FALLBACKS_MANY 0.1

/* Before this share of its limit, what a run comes to can't be foreseen. */
#define FORESEEN_FROM 0.1

/* A version of which less has changed is the one before it, to actors. */
#define LEVELS_FROZEN 0.002

enum { FIGURE_MAX = 32 };

static double last(double known, double value)
{
    return isnan(value) ? known : value;
}

/* The facts that are of metrics of their names. */
#define FACT(name) #name, offsetof(aq_learning_facts, name)
static const struct {
    const char *name;
    size_t at;
    double (*fold)(double known, double value);
} rows[] = {
    {FACT(q_least), last},        {FACT(q_greatest), last},        {FACT(mass_below), last},
    {FACT(mass_above), last},     {FACT(actions_saturated), last}, {FACT(reward_size), last},
    {FACT(levels_changed), last}, {FACT(step_kl), last},           {FACT(value_floor), fmin},
    {FACT(value_ceiling), fmax},  {FACT(rewarded_share), fmax},    {FACT(ended_share), fmax},
};
#undef FACT
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static double *fact_of(aq_learning_facts *facts, size_t row)
{
    return (double *)(void *)((char *)facts + rows[row].at);
}

void aq_learning_facts_init(aq_learning_facts *facts, const aq_run_config *config)
{
    *facts = (aq_learning_facts){.config = config};
    for (size_t k = 0; k < ROWS; k++) {
        *fact_of(facts, k) = NAN;
    }
}

void aq_learning_facts_take(aq_learning_facts *facts, const aq_metric_list *metrics,
                            const double *values)
{
    for (size_t i = 0; i < metrics->count; i++) {
        for (size_t k = 0; k < ROWS; k++) {
            if (strcmp(metrics->rows[i].name, rows[k].name) == 0) {
                double *fact = fact_of(facts, k);
                *fact = rows[k].fold(*fact, values[i]);
            }
        }
    }
}

/* ---- what is found -------------------------------------------------------------------------- */

static aq_finding *add(aq_findings *findings, const char *format, ...) AQ_PRINTF(2, 3);
static void suggest(aq_finding *finding, const char *format, ...) AQ_PRINTF(2, 3);

static aq_finding *add(aq_findings *findings, const char *format, ...)
{
    AQ_ASSERT(findings->count < AQ_FINDINGS_MAX);
    aq_finding *finding = &findings->rows[findings->count++];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(finding->words, sizeof(finding->words), format, arguments);
    va_end(arguments);
    return finding;
}

static void suggest(aq_finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(finding->setting, sizeof(finding->setting), format, arguments);
    va_end(arguments);
}

/* Away from zero to two digits, so that a bound is not too narrow by what was not seen yet. */
static double round_out(double value)
{
    const double size = fabs(value);
    const double unit = size > 0 ? pow(10, floor(log10(size)) - 1) : 1;
    return copysign(ceil(size / unit - 0.01) * unit, value);
}

static void find_divergence(const aq_learning_facts *facts, aq_findings *findings)
{
    if (facts->state == AQ_RUN_DIVERGED) {
        suggest(add(findings, "losses were not finite any more"), "learner.learning_rate=%g",
                facts->config->learner.learning_rate / 10);
    }
}

/* Of distributions the values are within the atoms, whatever happens; no reward says what entropy
 * is worth; and a table's values are means of what was seen, or what they began with. */
static void find_values(const aq_learning_facts *facts, aq_findings *findings)
{
    const aq_run_config *config = facts->config;
    const double worth = fmax(fabs(facts->value_floor), fabs(facts->value_ceiling));
    const double most = fmax(fabs(facts->q_least), fabs(facts->q_greatest));
    if (!isnan(facts->mass_above) ||
        aq_algorithm_has(config->learner.algorithm, AQ_DRAWS_ACTIONS) ||
        aq_algorithm_has(config->learner.algorithm, AQ_LEARNS_A_TABLE) || !(worth > 0) ||
        !(most > fmax(VALUES_SMALL, VALUES_BEYOND * worth))) {
        return;
    }
    aq_finding *finding = add(findings,
                              "values of up to %.3g in size are learned, where the rewards seen "
                              "can be worth no more than %.3g",
                              most, worth);
    const bool has_target = !aq_algorithm_has(config->learner.algorithm, AQ_LEARNS_ONCE);
    if (config->learner.tau > 0 || !has_target) {
        suggest(finding, "learner.learning_rate=%g", config->learner.learning_rate / 4);
    } else {
        suggest(finding, "learner.tau=0.005");
    }
}

/* What atoms lack: as far as rewards reach; or where they reach as far, since targets hold entropy,
 * too, or the discount is another one by now, as much again. */
static void find_mass(const aq_learning_facts *facts, aq_findings *findings)
{
    const double low = facts->config->learner.value_min, high = facts->config->learner.value_max;
    const double floor = fmin(0, facts->value_floor), ceiling = fmax(0, facts->value_ceiling);
    if (facts->mass_above > MASS_MUCH) {
        suggest(add(findings,
                    "%.0f %% of the targets lie above learner.value_max, where they cannot be told "
                    "apart",
                    100 * facts->mass_above),
                "learner.value_max=%g", round_out(ceiling > high ? ceiling : high + (high - low)));
    }
    if (facts->mass_below > MASS_MUCH) {
        suggest(add(findings,
                    "%.0f %% of the targets lie below learner.value_min, where they cannot be told "
                    "apart",
                    100 * facts->mass_below),
                "learner.value_min=%g", round_out(floor < low ? floor : low - (high - low)));
    }
}

static void find_saturation(const aq_learning_facts *facts, aq_findings *findings)
{
    if (facts->actions_saturated > SATURATED_MUCH) {
        suggest(add(findings,
                    "%.0f %% of the policy's actions are at a bound, where its gradient is next to "
                    "nothing",
                    100 * facts->actions_saturated),
                "learner.learning_rate=%g", facts->config->learner.learning_rate / 10);
    }
}

/* Each step once. */
static bool learns_from_groups(const aq_run_config *config)
{
    return config->actor.gradients ||
           aq_algorithm_at(config->learner.algorithm)->needs.update == AQ_UPDATES_BY_GROUP;
}

/* The limit that ended the run, or will. */
static aq_run_limit nearest_limit(const aq_learning_facts *facts)
{
    aq_run_limit limits[AQ_RUN_LIMITS];
    const aq_run_limit *nearest = &limits[0];
    double most = 0;
    aq_run_limits_of(facts->config, facts->env_steps, facts->learner_steps, facts->wall_s, limits);
    for (size_t i = 0; i < AQ_RUN_LIMITS; i++) {
        const double done = limits[i].limit > 0 ? limits[i].done / limits[i].limit : 0;
        if (done > most) {
            most = done;
            nearest = &limits[i];
        }
    }
    return *nearest;
}

/* That the run be `times` as long, or as long as can be set. One without limits sees as much by
 * more actors. */
static void suggest_more(const aq_learning_facts *facts, double times, aq_finding *finding)
{
    const aq_run_limit limit = nearest_limit(facts);
    const char *key = limit.limit > 0 ? limit.key : "actor.count";
    const double most = aq_run_config_row(key)->max;
    if (limit.limit > 0) {
        suggest(finding, "%s=%.12g", key, fmin(most, round_out(times * limit.limit)));
    } else {
        suggest(finding, "%s=%.0f", key,
                fmin(most, ceil(times * (double)facts->config->actor.count)));
    }
}

/* Twice of it, or of `least` where that is more, within the setting's bounds. False: it is the most
 * that can be set. */
static bool suggest_twice(const char *key, double value, double least, aq_finding *finding)
{
    const double most = aq_run_config_row(key)->max;
    if (value < most) {
        suggest(finding, "%s=%g", key, fmin(most, 2 * fmax(least, value)));
    }
    return value < most;
}

/* How a policy that draws, and that is not at its end with it, sees more. */
static void suggest_drawing(const aq_learning_facts *facts, bool are_choices, aq_finding *finding)
{
    const aq_run_config *config = facts->config;
    bool is_found = false;
    if (config->learner.algorithm == AQ_ALGORITHM_TRPO) { /* which is paid for no entropy */
        is_found =
            suggest_twice("learner.group_steps", (double)aq_pacing_group_steps(config), 0, finding);
    } else if (learns_from_groups(config)) {
        is_found =
            suggest_twice("learner.entropy_weight", config->learner.entropy_weight, 0.01, finding);
    } else if (!are_choices) {
        is_found =
            suggest_twice("actor.noise_steps", (double)config->actor.noise_steps, 15, finding);
    } else if (2 * config->learner.n_step <= config->replay.chunk_length) { /* which it must fit */
        is_found = suggest_twice("learner.n_step", (double)config->learner.n_step, 5, finding);
    }
    if (!is_found) {
        suggest_more(facts, 2, finding);
    }
}

/* The same of what is added to a policy that does not draw. */
static void suggest_noise(const aq_learning_facts *facts, bool are_choices, aq_finding *finding)
{
    const aq_run_config *config = facts->config;
    const bool are_noisy = are_choices && config->learner.noisy > 0;
    const bool are_random = are_choices && !are_noisy;
    if (!are_choices && suggest_twice("actor.noise", config->actor.noise, 0.25, finding)) {
        return;
    }
    if (are_noisy &&
        suggest_twice("learner.noisy_deviation", config->learner.noisy_deviation, 0.25, finding)) {
        return;
    }
    if (are_random && config->actor.epsilon_alpha > 1) {
        suggest(finding, "actor.epsilon_alpha=1");
        return;
    }
    if (are_random &&
        suggest_twice("actor.epsilon_base", config->actor.epsilon_base, 0.1, finding)) {
        return;
    }
    if (!are_noisy && config->actor.explore_steps > 0) {
        suggest(finding, "actor.explore_steps=%" PRIu64, 2 * config->actor.explore_steps);
    } else {
        suggest_more(facts, 2, finding);
    }
}

static void find_rewards(const aq_learning_facts *facts, aq_findings *findings)
{
    const aq_run_config *config = facts->config;
    const double floor = facts->value_floor, ceiling = facts->value_ceiling;
    const bool are_steps =
        aq_algorithm_learns_from(config->learner.algorithm) == AQ_LEARNS_FROM_SEQUENCES;
    const double step_size = facts->reward_size / (are_steps ? 1 : (double)config->learner.n_step);
    /* A good policy may see no other rewards than these. What it saw before the run was resumed
     * this process does not know. */
    const bool knows_all = facts->own_steps > 0 && facts->own_steps >= facts->env_steps;
    char steps[FIGURE_MAX];
    aq_finding *finding = NULL;
    (void)aq_text_count(steps, sizeof(steps), (double)facts->own_steps);
    if (knows_all && facts->rewarded_share == 0) {
        finding = add(findings, "no reward was seen in %s environment steps", steps);
    } else if (knows_all && facts->ended_share == 0 && ceiling - floor <= 1e-3 * fabs(ceiling)) {
        finding = add(findings,
                      "every step of %s brought the same reward, and no episode ended but at its "
                      "step limit: nothing tells actions apart",
                      steps);
    }
    const bool are_choices = isnan(facts->actions_saturated); /* which have no bounds */
    const bool draws = aq_algorithm_has(config->learner.algorithm, AQ_DRAWS_ACTIONS);
    if (finding != NULL) {
        (draws ? suggest_drawing : suggest_noise)(facts, are_choices, finding);
    }
    const double scale = config->learner.reward_scale;
    const double least = aq_run_config_row("learner.reward_scale")->min;
    const bool is_table = aq_algorithm_has(config->learner.algorithm, AQ_LEARNS_A_TABLE);
    if (step_size > REWARD_LARGE && !config->learner.normalize_rewards && scale > least &&
        !is_table) {
        suggest(add(findings, "rewards are large: %.3g a step", step_size),
                "learner.reward_scale=%g", fmax(least, scale * pow(10, -round(log10(step_size)))));
    }
}

/* What a count comes to at the run's limit; infinite where that can't be foreseen, and for a run
 * that somebody stopped. */
static double foreseen(const aq_learning_facts *facts, uint64_t count)
{
    const double limit = (double)facts->config->limits.env_steps;
    const double done = (double)facts->env_steps;
    if (facts->state == AQ_RUN_RUNNING && limit > 0 && done >= FORESEEN_FROM * limit) {
        return (double)count * fmax(1, limit / done);
    }
    return facts->state == AQ_RUN_BUDGET ? (double)count : (double)INFINITY;
}

/* Each step may be learned from more often, as long as there is no update for each and updates are
 * not what the run is limited by; else it is too short. */
static void suggest_updates(const aq_learning_facts *facts, double times, aq_finding *finding)
{
    const aq_run_config *config = facts->config;
    const bool is_limit = strcmp(nearest_limit(facts).key, "limits.learner_steps") == 0;
    const double often = config->actor.gradients || is_limit
                             ? 0
                             : round_out(times * config->replay.samples_per_insert);
    if (often > 0 && often <= (double)config->learner.batch_size) {
        suggest(finding, "replay.samples_per_insert=%g", often);
    } else {
        suggest_more(facts, times, finding);
    }
}

static void find_pace(const aq_learning_facts *facts, aq_findings *findings)
{
    const double updates = foreseen(facts, facts->learner_steps);
    const double versions = foreseen(facts, facts->versions);
    const bool is_table = aq_algorithm_has(facts->config->learner.algorithm, AQ_LEARNS_A_TABLE);
    const double few =
        learns_from_groups(facts->config) || is_table ? GROUP_UPDATES_FEW : UPDATES_FEW;
    char steps[FIGURE_MAX], made[FIGURE_MAX];
    (void)aq_text_count(steps, sizeof(steps), (double)facts->env_steps);
    (void)aq_text_count(made, sizeof(made), (double)facts->learner_steps);
    if (updates < few) {
        suggest_updates(facts, few / fmax(1, updates),
                        add(findings, "there were %s updates in %s environment steps, which is few",
                            made, steps));
    }
    const bool by_period =
        aq_algorithm_at(facts->config->learner.algorithm)->needs.update == AQ_UPDATES_BY_BATCH;
    const double possible =
        fmax(updates, UPDATES_FEW) / (double)facts->config->quantizer.publish_period;
    if (by_period && versions < VERSIONS_FEW && possible < VERSIONS_FEW) {
        suggest(add(findings,
                    "only %" PRIu64 " versions of the policy came of %s updates: actors act on "
                    "what is long out of date",
                    facts->versions, made),
                "quantizer.publish_period=100");
    }
}

/* As it can be set; see aq_run_rules_check and what makes an agent. */
static bool can_train_quantized(const aq_run_config *config)
{
    return aq_algorithm_at(config->learner.algorithm)->trains_quantized &&
           config->learner.qat_bits == 0 && !config->actor.gradients &&
           config->learner.model_ranks <= 1 && config->quantizer.layer_formats[0] == '\0' &&
           config->quantizer.formula == AQ_FORMULA_SYMMETRIC;
}

/* learner.qat_bits, where set, takes the place of quantizer.bits. */
static bool leaves_levels_out(const aq_run_config *config)
{
    return config->learner.qat_bits == 0 && config->quantizer.bits < 8;
}

static void find_fallbacks(const aq_learning_facts *facts, aq_findings *findings)
{
    const aq_run_config *config = facts->config;
    const enum aq_format format = aq_run_config_format(config);
    const unsigned bits = format == AQ_FORMAT_INT4   ? 4
                          : format == AQ_FORMAT_INT2 ? 2
                                                     : (unsigned)config->quantizer.bits;
    const double share = (double)facts->fallbacks / (double)facts->versions;
    if (facts->versions == 0 || share <= FALLBACKS_MANY) {
        return;
    }
    aq_finding *finding = add(findings,
                              "%.0f %% of the versions went out in fp32, as quantizing them "
                              "costs more than quantizer.error_budget or an output has no levels",
                              share < 1 ? fmin(100 * share, 99) : 100);
    if (bits < 8 && can_train_quantized(config)) {
        suggest(finding, "learner.qat_bits=%u", bits);
    } else if (leaves_levels_out(config)) {
        suggest(finding, "quantizer.bits=8");
    } else if (format != AQ_FORMAT_INT8_CHANNEL) {
        suggest(finding, "quantizer.format=int8");
    } else if (!suggest_twice("quantizer.error_budget", config->quantizer.error_budget, 0,
                              finding)) {
        suggest_more(facts, 2, finding);
    }
}

/* What the learner moves is below the steps of the levels: actors play the same policy on and on,
 * although the learner's own is another one by now. */
static void find_frozen(const aq_learning_facts *facts, aq_findings *findings)
{
    if (!aq_format_is_integer(aq_run_config_format(facts->config)) ||
        !(facts->levels_changed < LEVELS_FROZEN && facts->step_kl > 0)) {
        return;
    }
    aq_finding *finding = add(findings,
                              "actors' policy is frozen: of its quantized weights %.2g %% change "
                              "from version to version",
                              100 * facts->levels_changed);
    suggest(finding, leaves_levels_out(facts->config)      ? "quantizer.bits=8"
                     : facts->config->learner.qat_bits > 0 ? "learner.qat_bits=0"
                                                           : "quantizer.format=fp16");
}

void aq_findings_of(const aq_learning_facts *facts, aq_findings *ret_findings)
{
    static void (*const finders[])(const aq_learning_facts *facts, aq_findings *findings) = {
        find_divergence, find_rewards, find_values,    find_mass,
        find_saturation, find_pace,    find_fallbacks, find_frozen,
    };
    aq_findings findings = {.count = 0};
    for (size_t i = 0; facts->state != AQ_RUN_SOLVED && i < sizeof(finders) / sizeof(finders[0]);
         i++) {
        finders[i](facts, &findings);
    }
    *ret_findings = findings;
}

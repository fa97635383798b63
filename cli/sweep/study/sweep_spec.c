/*
 * Sweep spec, against the task: see sweep_spec.h. What is read is in sweep_spec_read.c.
 */
#include "cli/sweep/study/sweep_spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/crc32c.h"
#include "common/config/run_request.h"
#include "common/config/run_rules.h"
#include "envs/env_open.h"
#include "rollout/evaluation.h"

enum { RANDOM_EPISODES = 10 };

void aq_sweep_spec_assignments(const aq_sweep_spec *spec, const aq_sweep_point *point,
                               aq_sweep_texts texts, aq_settings_assignments *ret_assignments)
{
    ret_assignments->count = 0;
    for (size_t i = 0; i < spec->fixed_count; i++) {
        ret_assignments->texts[ret_assignments->count++] = spec->fixed[i];
    }
    for (size_t i = 0; point != NULL && i < spec->space.count; i++) {
        if (point->values[i][0] != '\0') {
            (void)snprintf(texts[i], sizeof(texts[i]), "%s=%s", spec->space.dims[i].key,
                           point->values[i]);
            ret_assignments->texts[ret_assignments->count++] = texts[i];
        }
    }
}

/* What a trial at these places would be trained under. */
static int resolve(const aq_sweep_spec *spec, const aq_env *env, const double *places,
                   aq_run_config *ret_config, aq_error *error)
{
    aq_sweep_texts texts;
    aq_sweep_point point;
    aq_settings_assignments assignments;
    aq_sweep_point_at(&spec->space, places, &point);
    aq_sweep_spec_assignments(spec, &point, texts, &assignments);
    const aq_run_request request = {.preset = spec->preset[0] != '\0' ? spec->preset : NULL,
                                    .task = spec->task,
                                    .assignments = &assignments};
    int rc = aq_run_request_read(&request, env->name, &env->schema, ret_config, error);
    return rc != 0 ? rc : aq_run_rules_check(ret_config, error);
}

/* Whether a run that stopped at a lower limit is what a longer one would have been there: nothing
 * that it is trained by changes with how near its limit is. */
static bool goes_on(const aq_sweep_spec *spec, const aq_run_config *config)
{
    static const char *const changing[] = {"learner.learning_rate_end", "learner.importance_end",
                                           NULL};
    for (size_t i = 0; i < spec->space.count; i++) {
        if (aq_choice_find(changing, spec->space.dims[i].key) >= 0) {
            return false;
        }
    }
    return config->learner.learning_rate_end >= 1 && config->learner.importance_end <= 0;
}

static int add_setting(void *user, const aq_setting *row, const char *before, const char *after)
{
    uint32_t *sum = user;
    (void)before;
    *sum = aq_crc32c(*sum, row->key, strlen(row->key) + 1);
    *sum = aq_crc32c(*sum, after, strlen(after) + 1);
    return 0;
}

/* What is as by default counts for nothing, so that another version may have more settings. */
static int add_to_sum(const aq_run_config *config, uint32_t *sum, aq_error *error)
{
    aq_run_config defaults;
    aq_settings_init(aq_run_config_table(), &defaults);
    memcpy(defaults.task, config->task, sizeof(defaults.task)); /* SPEC.yaml's own */
    int rc = aq_settings_compare(aq_run_config_table(), &defaults, config, add_setting, sum);
    return rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
}

/* Adds what a trial at these places says of the plan: all have one limit, and one that does not go
 * on is enough. */
static int add_to_plan(const aq_sweep_spec *spec, const aq_run_config *config, aq_sweep_plan *plan,
                       aq_error *error)
{
    const bool says_steps = spec->rungs[0] > 0;
    if (!says_steps && config->limits.env_steps != plan->steps) {
        return aq_fail(error, AQ_E_INVALID,
                       "trials would take %" PRIu64 " or %" PRIu64
                       " environment steps, as presets say; rungs: [%" PRIu64 "] works",
                       plan->steps, config->limits.env_steps, config->limits.env_steps);
    }
    plan->is_resumed = plan->is_resumed && goes_on(spec, config);
    return add_to_sum(config, &plan->settings_sum, error);
}

/* From the middle of the space, and from there with each choice of each dimension that has some,
 * since a choice may take another preset. A choice that does not fit there says so in its trial. */
static int make_plan(const aq_sweep_spec *spec, const aq_env *env, aq_sweep_plan *ret_plan,
                     aq_error *error)
{
    aq_run_config config;
    double places[AQ_SWEEP_DIMS_MAX];
    for (size_t i = 0; i < spec->space.count; i++) {
        places[i] = 0.5;
    }
    int rc = resolve(spec, env, places, &config, error);
    if (rc != 0) {
        return rc;
    }
    *ret_plan = (aq_sweep_plan){.steps = config.limits.env_steps, .is_resumed = true};
    rc = add_to_plan(spec, &config, ret_plan, error);
    for (size_t i = 0; i < spec->space.count; i++) {
        const aq_sweep_dim *dim = &spec->space.dims[i];
        const size_t choices = dim->scale == AQ_SWEEP_CHOICE ? dim->count : 0;
        for (size_t k = 0; rc == 0 && k < choices; k++) {
            aq_error unfit;
            places[i] = aq_sweep_dim_place(dim, dim->choices[k]);
            if (resolve(spec, env, places, &config, &unfit) == 0) {
                rc = add_to_plan(spec, &config, ret_plan, error);
            }
        }
        places[i] = 0.5;
    }
    return rc;
}

int aq_sweep_spec_check_same(const aq_sweep_spec *spec, uint32_t settings_sum, aq_error *error)
{
    aq_env *env = NULL;
    aq_sweep_plan plan = {0};
    int rc = aq_env_open(spec->task, &env, error);
    if (rc == 0 && settings_sum != 0) {
        rc = make_plan(spec, env, &plan, error);
    }
    aq_env_unref(env);
    return rc == 0 && plan.settings_sum != settings_sum
               ? aq_fail(error, AQ_E_FOREIGN,
                         "the sweep was begun under other presets than those of this program: go "
                         "on with the version that began it")
               : rc;
}

int aq_sweep_spec_check(const aq_sweep_spec *spec, aq_sweep_plan *ret_plan, aq_error *error)
{
    aq_evaluation random;
    aq_env *env = NULL, *played = NULL; /* as presets are chosen by it, as a run acts in it */
    int rc = aq_env_open(spec->task, &env, error);
    if (rc == 0) {
        rc = make_plan(spec, env, ret_plan, error);
    }
    if (rc == 0 && spec->method == AQ_SWEEP_PBT && !ret_plan->is_resumed) {
        rc = aq_fail(error, AQ_E_INVALID,
                     "members of a population go on from rung to rung, and so nothing that they "
                     "are trained by may change with their limit; settings: "
                     "{learner.learning_rate_end: 1, learner.importance_end: 0} works");
    }
    if (rc == 0) {
        rc = aq_env_open_to_act(spec->task, &played, error);
    }
    if (rc == 0) {
        rc = aq_evaluate(played, NULL, RANDOM_EPISODES, spec->seed, &random, error);
    }
    ret_plan->least_return = rc == 0 ? random.return_min : 0;
    aq_env_unref(played);
    aq_env_unref(env);
    return rc;
}

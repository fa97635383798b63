/*
 * Run request: see run_request.h.
 */
#include "common/config/run_request.h"

#include <stdio.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/config/preset.h"
#include "common/config/run_rules.h"

static int read_own(const char *own, aq_run_config *config, aq_error *error)
{
    int rc = aq_settings_read_file(aq_run_config_table(), own, config, error);
    if (rc == AQ_E_INVALID && error != NULL) {
        rc = aq_fail(error, rc,
                     "%s (a newer ActorQ may have written this line: without it the run goes on)",
                     error->text);
    }
    return rc;
}

/* What was asked for, over what `config` has. */
static int put_over(const aq_run_request *request, aq_run_config *config, aq_error *error)
{
    const aq_settings_table *table = aq_run_config_table();
    char preset[sizeof(config->preset)];
    int rc = request->own != NULL ? read_own(request->own, config, error) : 0;
    memcpy(preset, config->preset, sizeof(preset));
    if (rc == 0 && request->path != NULL) {
        rc = aq_settings_read_file(table, request->path, config, error);
    }
    if (rc == 0 && request->task != NULL) {
        rc = aq_setting_set(aq_run_config_row("task"), request->task, config, error);
    }
    rc = rc == 0 ? aq_settings_assign_all(table, request->assignments, config, error) : rc;
    if (rc != 0 || request->own == NULL) {
        return rc;
    }
    if (!aq_preset_has_name(preset, config->preset)) {
        return aq_fail(
            error, AQ_E_INVALID,
            "%s has all settings already, under which lies no preset: leave preset=%s out",
            request->own, config->preset);
    }
    memcpy(config->preset, preset, sizeof(preset)); /* in full */
    return 0;
}

int aq_run_request_asked(const aq_run_request *request, aq_run_config *ret_asked, aq_error *error)
{
    aq_settings_init(aq_run_config_table(), ret_asked);
    ret_asked->task[0] = '\0';
    return put_over(request, ret_asked, error);
}

int aq_run_request_resume(aq_run_request *request, const char *own, aq_error *error)
{
    aq_run_config run, asked;
    aq_settings_init(aq_run_config_table(), &run);
    int rc = read_own(own, &run, error);
    rc = rc != 0 ? rc : aq_run_request_asked(request, &asked, error);
    if (rc != 0) {
        return rc;
    }
    const char *named = request->preset != NULL ? request->preset : asked.preset;
    if (request->path == NULL || named[0] == '\0' || aq_preset_has_name(run.preset, named)) {
        request->own = own;
    }
    return 0;
}

int aq_run_request_task(const aq_run_request *request, char ret_task[AQ_TASK_NAME_MAX],
                        aq_error *error)
{
    aq_run_config asked;
    aq_settings_init(aq_run_config_table(), &asked);
    int rc = put_over(request, &asked, error);
    if (rc == 0 && strchr(asked.task, '*') != NULL) {
        rc = aq_fail(error, AQ_E_INVALID,
                     "these settings are for %s: which task? 'actorq envs' lists them", asked.task);
    }
    if (rc == 0) {
        memcpy(ret_task, asked.task, AQ_TASK_NAME_MAX);
    }
    return rc;
}

/* What the preset says over the defaults, and over it what was asked for. A preset's threshold is
 * of rewards as its task gives them and of its ground: where options change these, the task's own
 * follows. */
static int compose(const aq_run_request *request, const char *task, const char *preset,
                   double epsilon, aq_run_config *config, aq_error *error)
{
    aq_settings_init(aq_run_config_table(), config);
    config->actor.epsilon_base = epsilon;
    int rc = aq_preset_apply(preset, config, error);
    if (rc == 0 && (strstr(task, "reward_scale=") != NULL || strstr(task, "clip_reward=") != NULL ||
                    strstr(task, "map=") != NULL || strstr(task, "slippery=yes") != NULL)) {
        rc = aq_text_set(config->evaluator.threshold, AQ_RUN_TEXT_MAX, "auto");
    }
    return rc == 0 ? put_over(request, config, error) : rc;
}

/* From a data set alone: what is made for actors that try what they believe comes to little
 * (docs/data-sets.md). */
static uint32_t offline_algorithm(const char *task, const aq_schema *schema)
{
    const bool is_counted =
        schema->obs.kind == AQ_SPACE_DISCRETE || strstr(task, AQ_ONE_HOT "=") != NULL;
    return is_counted                                              ? AQ_ALGORITHM_Q
           : aq_algorithm_takes(AQ_ALGORITHM_IQL, &schema->action) ? AQ_ALGORITHM_IQL
                                                                   : AQ_ALGORITHM_AUTO;
}

/* For which of the presets `asked` is. */
static int choose(const aq_run_request *request, const aq_run_config *asked, const char *task,
                  const aq_schema *schema, const char **ret_preset, aq_error *error)
{
    const char *name = request->own != NULL       ? AQ_PRESET_NONE
                       : request->preset != NULL  ? request->preset
                       : asked->preset[0] != '\0' ? asked->preset
                                                  : NULL;
    const bool is_open = name == NULL && asked->learner.algorithm == AQ_ALGORITHM_AUTO;
    const aq_preset_wish wish = {name, task, schema,
                                 is_open && request->is_offline ? offline_algorithm(task, schema)
                                                                : asked->learner.algorithm,
                                 asked->actor.gradients};
    return aq_preset_choose(&wish, ret_preset, error);
}

int aq_run_request_read(const aq_run_request *request, const char *task, const aq_schema *schema,
                        aq_run_config *ret_config, aq_error *error)
{
    aq_run_config config;
    const char *preset = NULL;
    aq_settings_init(aq_run_config_table(), &config);
    const double epsilon = config.actor.epsilon_base;
    int rc = put_over(request, &config, error);
    if (rc == 0) {
        rc = choose(request, &config, task, schema, &preset, error);
    }
    if (rc == 0) {
        rc = compose(request, task, preset, epsilon, &config, error);
    }
    if (rc == 0 && config.learner.noisy > 0) { /* they explore by that, unless somebody said so */
        rc = compose(request, task, preset, 0, &config, error);
    }
    if (rc == 0 && aq_text_set(config.task, sizeof(config.task), task) != 0) {
        rc = aq_fail(error, AQ_E_TOO_BIG, "the name of the task is too long");
    }
    if (rc == 0 && !(request->own != NULL && config.preset[0] != '\0')) { /* which says it */
        (void)snprintf(config.preset, sizeof(config.preset), "%s", preset);
    }
    if (rc == 0) {
        aq_run_config_choose_algorithm(&config, schema);
        rc = request->is_offline
                 ? aq_algorithm_check_actions(config.learner.algorithm, task, schema, true, error)
                 : 0;
    }
    if (rc == 0) {
        rc = aq_run_rules_check_task(&config, schema, error);
    }
    if (rc == 0) {
        *ret_config = config;
    }
    return rc;
}

const char *aq_run_request_setting(const char *option)
{
    char name[AQ_SETTINGS_KEY_MAX + 1];
    if (aq_text_set(name, sizeof(name), option) != 0) {
        return NULL;
    }
    for (char *at = name; (at = strchr(at, '-')) != NULL;) {
        *at = '_';
    }
    return aq_settings_nearest(aq_run_config_table(), name);
}

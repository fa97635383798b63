/*
 * Live settings: see live_settings.h.
 */
#include "learner/run/live_settings.h"

#include <stdbool.h>
#include <string.h>

static bool is_one_of(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(key, keys[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool aq_setting_is_kept(const aq_run_config *config, const aq_setting *row)
{
    static const char *const of_atoms[] = {"learner.value_min", "learner.value_max"};
    const bool has_atoms = aq_algorithm_has(config->learner.algorithm, AQ_HAS_ATOMS);
    return row->is_kept || (has_atoms && is_one_of(row->key, of_atoms, 2)) ||
           (config->learner.learn_temperature && strcmp(row->key, "learner.temperature") == 0) ||
           (config->actor.gradients && strcmp(row->key, "learner.gradient_format") == 0);
}

static bool is_from_the_beginning(const aq_run_config *config, const aq_setting *row)
{
    static const char *const of_gradients[] = {"learner.batch_size", "learner.group_steps",
                                               "actor.envs", "replay.sequence_length"};
    return aq_setting_is_kept(config, row) || strcmp(row->key, "preset") == 0 ||
           (config->actor.gradients && is_one_of(row->key, of_gradients, 4));
}

typedef struct change {
    const aq_run_config *config; /* of the run */
    aq_error why;
} change;

static int on_difference(void *user, const aq_setting *row, const char *before, const char *after)
{
    change *found = user;
    aq_error *error = &found->why;
    if (row->is_live) {
        return 0;
    }
    if (is_from_the_beginning(found->config, row)) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s is of a run from its beginning (it is %s): start another run with --set "
                       "%s=%s",
                       row->key, before, row->key, after);
    }
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "%s is fixed while the run goes on (it is %s): stop the run, and resume it with "
                   "--set %s=%s",
                   row->key, before, row->key, after);
}

int aq_live_settings_change(const aq_run_plan *plan, const char *const *assignments, size_t count,
                            aq_run_plan *ret_plan, aq_error *error)
{
    const aq_settings_table *table = aq_run_config_table();
    aq_run_config config = plan->config;
    change found = {.config = &plan->config};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = aq_settings_assign(table, assignments[i], &config, error);
    }
    if (rc != 0) {
        return rc;
    }
    rc = aq_settings_compare(table, &plan->config, &config, on_difference, &found);
    if (rc != 0) {
        return aq_fail(error, rc, "%s", found.why.code ? found.why.text : aq_error_text(rc));
    }
    return aq_run_plan_change(plan, &config, ret_plan, error);
}

/*
 * Presets: see preset.h.
 */
#include "common/config/preset.h"

#include <stdio.h>
#include <string.h>

#include "common/base/nearest.h"
#include "common/base/parse.h"
#include "common/config/gradient_rows.h"
#include "common/config/preset_texts.h"

static int read_over(const aq_preset_text *file, aq_run_config *config, aq_error *error)
{
    return aq_settings_read_yaml(aq_run_config_table(), file->name, file->text, strlen(file->text),
                                 config, error);
}

/* Over `config`, whose task stays; the file's own goes to `tasks`. */
static int put_over(const aq_preset_text *file, aq_run_config *config, char tasks[AQ_TASK_NAME_MAX],
                    aq_error *error)
{
    aq_run_config own = {0}, over = *config;
    int rc = read_over(file, &own, error);
    if (rc == 0) {
        rc = aq_preset_apply(own.preset, &over, error);
    }
    if (rc == 0) {
        rc = read_over(file, &over, error);
    }
    if (rc == 0) {
        memcpy(over.task, config->task, sizeof(over.task));
        memcpy(tasks, own.task, sizeof(own.task));
        *config = over;
    }
    return rc;
}

int aq_preset_read(size_t index, aq_preset *ret_preset, aq_error *error)
{
    if (index >= aq_preset_text_count) {
        return aq_fail(error, AQ_E_NOT_FOUND, "there are %zu presets", aq_preset_text_count);
    }
    aq_preset preset = {.name = aq_preset_texts[index].name};
    aq_settings_init(aq_run_config_table(), &preset.config);
    int rc = put_over(&aq_preset_texts[index], &preset.config, preset.tasks, error);
    if (rc == 0) {
        *ret_preset = preset;
    }
    return rc;
}

/* The one of that name, in full; or NULL. */
static const aq_preset_text *find(const char *name)
{
    for (size_t i = 0; i < aq_preset_text_count; i++) {
        if (strcmp(aq_preset_texts[i].name, name) == 0) {
            return &aq_preset_texts[i];
        }
    }
    return NULL;
}

int aq_preset_apply(const char *name, aq_run_config *config, aq_error *error)
{
    char tasks[AQ_TASK_NAME_MAX];
    const aq_preset_text *file = find(name);
    return file != NULL ? put_over(file, config, tasks, error)
           : name[0] == '\0' || strcmp(name, AQ_PRESET_NONE) == 0
               ? 0
               : aq_fail(error, AQ_E_NOT_FOUND, "there is no preset '%s'", name);
}

/* ---- which one ------------------------------------------------------------------------------ */

/* Whether the first `length` letters of `task` are what the pattern says. */
static bool matches(const char *pattern, const char *task, size_t length)
{
    if (*pattern == '*') {
        return matches(pattern + 1, task, length) ||
               (length > 0 && matches(pattern, task + 1, length - 1));
    }
    if (*pattern == '\0' || length == 0) {
        return *pattern == '\0' && length == 0;
    }
    return *pattern == *task && matches(pattern + 1, task + 1, length - 1);
}

/* "paper" of "paper-dqn". */
static size_t family_length(const char *name)
{
    const char *dash = strrchr(name, '-');
    return dash != NULL ? (size_t)(dash - name) : 0;
}

static bool is_of_family(const char *name, const char *family)
{
    return family_length(name) == strlen(family) && strncmp(name, family, strlen(family)) == 0;
}

bool aq_preset_has_name(const char *preset, const char *name)
{
    return strcmp(preset, name) == 0 || (find(name) == NULL && is_of_family(preset, name));
}

/* A network without hidden layers, unless tasks are named that it is enough for. */
static bool is_table(const aq_preset *preset)
{
    return preset->config.learner.hidden[0] == '\0' && strcmp(preset->tasks, "*") == 0;
}

/* By its name, or else by what it is for. */
static bool is_wished(const aq_preset *preset, const aq_preset_wish *wish)
{
    const uint32_t algorithm = preset->config.learner.algorithm;
    if (wish->name != NULL && strcmp(preset->name, wish->name) == 0) {
        return true;
    }
    /* What learns on-policy and what says so is for whoever asks for it, for a task with these
     * options, or for actions that others do not make; and networks for states that can be counted,
     * of which a table learns. */
    const bool has_options = strchr(preset->tasks, '?') != NULL;
    const bool is_counted = wish->schema->obs.kind == AQ_SPACE_DISCRETE;
    const bool is_offered =
        algorithm == aq_algorithm_for(wish->schema) ||
        (!is_counted && aq_algorithm_learns_from(algorithm) == AQ_LEARNS_FROM_ITEMS &&
         !aq_algorithm_has(algorithm, AQ_IS_ASKED_FOR));
    const bool is_for_any = wish->algorithm == AQ_ALGORITHM_AUTO && (has_options || is_offered);
    const size_t length = has_options ? strlen(wish->task) : strcspn(wish->task, "?");
    return aq_algorithm_takes(algorithm, &wish->schema->action) &&
           (is_for_any || wish->algorithm == algorithm) &&
           (wish->name != NULL
                ? is_of_family(preset->name, wish->name)
                : matches(preset->tasks, wish->task, length) && (is_counted || !is_table(preset)) &&
                      (!wish->by_gradients || aq_gradients_suit(&preset->config)));
}

/* Whether it could be taken, if it is named in full. */
static bool is_for_task(size_t index, const aq_schema *schema)
{
    aq_preset preset;
    if (aq_preset_read(index, &preset, NULL) != 0) {
        return false;
    }
    const uint32_t algorithm = preset.config.learner.algorithm;
    return aq_algorithm_takes(algorithm, &schema->action) &&
           (schema->obs.kind == AQ_SPACE_DISCRETE ||
            !aq_algorithm_has(algorithm, AQ_LEARNS_A_TABLE));
}

/* A family may have none that is taken without its algorithm, or none of the one asked for. */
static int fail_unknown(const aq_preset_wish *wish, aq_error *error)
{
    const char *name = wish->name, *task = wish->task;
    char members[AQ_ERROR_TEXT_MAX / 2] = "";
    aq_nearest nearest;
    aq_nearest_init(&nearest, name);
    for (size_t i = 0; i < aq_preset_text_count; i++) {
        char family[AQ_NEAREST_TEXT_MAX];
        const char *full = aq_preset_texts[i].name;
        (void)snprintf(family, sizeof(family), "%.*s", (int)family_length(full), full);
        aq_nearest_offer(&nearest, full);
        aq_nearest_offer(&nearest, family);
        if (strcmp(family, name) == 0 && is_for_task(i, wish->schema)) {
            aq_text_append(members, sizeof(members), "%s%s", members[0] != '\0' ? ", " : "", full);
        }
    }
    const char *near = aq_nearest_name(&nearest);
    return members[0] != '\0'
               ? aq_fail(error, AQ_E_NOT_FOUND,
                         "none of the presets '%s' is for %s unless it is named in full: %s", name,
                         task, members)
           : near != NULL && strcmp(near, name) != 0
               ? aq_fail(error, AQ_E_NOT_FOUND, "there is no preset '%s'; did you mean '%s'?", name,
                         near)
               : aq_fail(error, AQ_E_NOT_FOUND,
                         "there is no preset '%s' for %s; '--preset list' shows all", name, task);
}

int aq_preset_choose(const aq_preset_wish *wish, const char **ret_name, aq_error *error)
{
    if (wish->name != NULL && strcmp(wish->name, AQ_PRESET_NONE) == 0) {
        *ret_name = AQ_PRESET_NONE;
        return 0;
    }
    for (size_t i = 0; i < aq_preset_text_count; i++) {
        aq_preset preset;
        int rc = aq_preset_read(i, &preset, error);
        if (rc != 0) {
            return rc;
        }
        if (is_wished(&preset, wish)) {
            *ret_name = preset.name;
            return 0;
        }
    }
    if (wish->name != NULL) {
        return fail_unknown(wish, error);
    }
    *ret_name = AQ_PRESET_NONE;
    return 0;
}

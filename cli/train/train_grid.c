/*
 * Train grid: see train_grid.h.
 */
#include "cli/train/train_grid.h"

#include <stdio.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/config/run_config.h"

static int add_value(aq_grid_axis *axis, const char *value, aq_error *error)
{
    char assignment[AQ_SETTINGS_KEY_MAX + 1 + AQ_GRID_VALUE_MAX];
    if (axis->count == AQ_GRID_VALUES_MAX) {
        return aq_fail(error, AQ_E_FULL, "%s: at most %d values", axis->key, AQ_GRID_VALUES_MAX);
    }
    for (size_t i = 0; i < axis->count; i++) {
        if (strcmp(axis->values[i], value) == 0) {
            return aq_fail(error, AQ_E_INVALID, "%s: '%s' is given twice", axis->key, value);
        }
    }
    if (aq_text_set(axis->values[axis->count], AQ_GRID_VALUE_MAX, value) != 0 ||
        aq_text_format(assignment, sizeof(assignment), "%s=%s", axis->key, value) != 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "%s: '%s' is too long", axis->key, value);
    }
    axis->count++;
    return aq_settings_assign(aq_run_config_table(), assignment, NULL, error);
}

static int add_values(aq_grid_axis *axis, const char *values, aq_error *error)
{
    const char *separator = strchr(values, ';') != NULL ? ";" : ",";
    int rc = 0;
    for (const char *at = values; rc == 0; at++) {
        char value[AQ_GRID_VALUE_MAX];
        const size_t size = strcspn(at, separator);
        rc = aq_text_format(value, sizeof(value), "%.*s", (int)size, at) != 0
                 ? aq_fail(error, AQ_E_TOO_BIG, "%s: a value is too long", axis->key)
                 : add_value(axis, value, error);
        at += size;
        if (*at == '\0') {
            break;
        }
    }
    return rc;
}

int aq_train_grid_take(void *given, const char *value, aq_error *error)
{
    aq_train_grid *grid = given;
    aq_grid_axis axis = {.count = 0};
    const size_t size = strcspn(value, "=");
    if (value[size] == '\0' ||
        aq_text_format(axis.key, sizeof(axis.key), "%.*s", (int)size, value) != 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "'%s' is not of the form learner.learning_rate=1e-3,3e-4", value);
    }
    for (size_t i = 0; i < grid->count; i++) {
        if (strcmp(grid->axes[i].key, axis.key) == 0) {
            return aq_fail(error, AQ_E_INVALID, "%s is given twice", axis.key);
        }
    }
    int rc = grid->count < AQ_GRID_AXES_MAX
                 ? add_values(&axis, value + size + 1, error)
                 : aq_fail(error, AQ_E_FULL, "at most %d settings", AQ_GRID_AXES_MAX);
    if (rc == 0) {
        grid->axes[grid->count++] = axis;
    }
    return rc;
}

size_t aq_train_grid_size(const aq_train_grid *grid)
{
    size_t size = 1;
    for (size_t i = 0; i < grid->count; i++) {
        size *= grid->axes[i].count; /* 32^8 fits */
    }
    return size;
}

int aq_train_grid_point(const aq_train_grid *grid, size_t index, char ret_name[AQ_GRID_NAME_MAX],
                        char (*texts)[AQ_SETTINGS_KEY_MAX + 1 + AQ_GRID_VALUE_MAX],
                        aq_settings_assignments *assignments, aq_error *error)
{
    size_t used = 0;
    int rc = 0;
    for (size_t i = 0, rest = aq_train_grid_size(grid); rc == 0 && i < grid->count; i++) {
        const aq_grid_axis *axis = &grid->axes[i];
        rest /= axis->count;
        const char *value = axis->values[index / rest % axis->count];
        (void)snprintf(texts[i], sizeof(texts[i]), "%s=%s", axis->key, value);
        rc = aq_text_format(ret_name + used, AQ_GRID_NAME_MAX - used, "%s%s=%s", i > 0 ? "," : "",
                            aq_setting_short_key(axis->key), value) != 0
                 ? aq_fail(error, AQ_E_TOO_BIG, "%s: the name of its folder is too long", axis->key)
                 : aq_settings_assignments_add(assignments, texts[i], error);
        used += strlen(ret_name + used);
    }
    for (char *letter = ret_name; *letter != '\0'; letter++) {
        *letter = *letter == '/' ? '-' : *letter;
    }
    return rc;
}

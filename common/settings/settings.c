/*
 * Settings: defaults and `--set`. The other parts: settings_table (the rows), settings_value (one
 * value), settings_yaml and yaml_tree (a file), settings_print (the commented file),
 * settings_compare (two structs).
 */
#include "common/settings/settings.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/settings/settings_table.h"

void aq_settings_init(const aq_settings_table *table, void *settings)
{
    for (size_t i = 0; i < table->count; i++) {
        int rc = aq_setting_set(&table->rows[i], table->rows[i].initial, settings, NULL);

        AQ_ASSERT(rc == 0);
    }
}

int aq_settings_assign(const aq_settings_table *table, const char *assignment, void *settings,
                       aq_error *error)
{
    const char *equals = strchr(assignment, '=');
    char key[2 * (AQ_SETTINGS_KEY_MAX + 1)] = "";

    if (equals == NULL || equals == assignment) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not of the form KEY=VALUE", assignment);
    }
    /* A longer key than fits is no key of ours, whatever its end. */
    size_t length = (size_t)(equals - assignment);
    memcpy(key, assignment, length < sizeof(key) ? length : sizeof(key) - 1);
    const aq_setting *row = aq_settings_find(table, key);
    if (row == NULL) {
        return aq_settings_fail_unknown(table, key, error);
    }
    return aq_setting_set(row, equals + 1, settings, error);
}

int aq_settings_assignments_add(void *assignments, const char *text, aq_error *error)
{
    aq_settings_assignments *all = assignments;
    if (all->count == AQ_SETTINGS_ASSIGNMENTS_MAX) {
        return aq_fail(error, AQ_E_FULL, "at most %d can be given", AQ_SETTINGS_ASSIGNMENTS_MAX);
    }
    all->texts[all->count++] = text;
    return 0;
}

int aq_settings_assign_all(const aq_settings_table *table,
                           const aq_settings_assignments *assignments, void *settings,
                           aq_error *error)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < assignments->count; i++) {
        rc = aq_settings_assign(table, assignments->texts[i], settings, error);
    }
    return rc;
}

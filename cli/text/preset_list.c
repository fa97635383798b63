/*
 * Preset list: see preset_list.h.
 */
#include "cli/text/preset_list.h"

#include <stdio.h>

#include "cli/text/text_table.h"
#include "common/config/preset.h"

enum { PRESETS_MAX = 256 };

int aq_print_presets(aq_error *error)
{
    static const aq_table_column columns[] = {
        {"preset", AQ_TABLE_LEFT}, {"algorithm", AQ_TABLE_LEFT}, {"for", AQ_TABLE_LEFT}};
    aq_text_table *table;
    aq_preset preset;
    int rc =
        aq_text_table_create(columns, sizeof(columns) / sizeof(columns[0]), PRESETS_MAX, &table);
    if (rc != 0) {
        return aq_fail(error, rc, "out of memory");
    }
    for (size_t i = 0; rc == 0; i++) {
        rc = aq_preset_read(i, &preset, error);
        if (rc == 0) {
            aq_text_table_row(table);
            aq_text_table_cell(table, "%s", preset.name);
            aq_text_table_cell(table, "%s", aq_algorithm_names[preset.config.learner.algorithm]);
            aq_text_table_cell(table, "%s", preset.tasks);
        }
    }
    if (rc == AQ_E_NOT_FOUND) { /* behind the last */
        aq_text_table_print(table, stdout);
        (void)printf("\nThe first that is for a task is its default, or the first of the algorithm "
                     "that is asked for.\nOthers are taken by name, which may leave the algorithm "
                     "out; none is the settings' own defaults.\n");
        rc = 0;
    }
    aq_text_table_destroy(table);
    return rc;
}

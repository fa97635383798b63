/*
 * Preset list: see preset_list.h.
 */
#include "cli/text/preset_list.h"

#include <stdbool.h>
#include <stdio.h>

#include "cli/text/text_table.h"
#include "common/config/preset.h"

int aq_print_presets(aq_error *error)
{
    static const aq_table_column columns[] = {
        {"preset", AQ_TABLE_LEFT}, {"algorithm", AQ_TABLE_LEFT}, {"for", AQ_TABLE_LEFT}, {NULL}};
    aq_text_table table;
    aq_preset preset;
    int rc = 0;
    aq_text_table_begin(&table, columns);
    for (size_t i = 0; rc == 0; i++) {
        rc = aq_preset_read(i, &preset, error);
        if (rc == 0) {
            aq_text_table_row(&table);
            aq_text_table_cell(&table, "%s", preset.name);
            aq_text_table_cell(&table, "%s", aq_algorithm_names[preset.config.learner.algorithm]);
            aq_text_table_cell(&table, "%s", preset.tasks);
        }
    }
    const bool is_whole = rc == AQ_E_NOT_FOUND; /* behind the last */
    const int printed = aq_text_table_end(&table, is_whole ? stdout : NULL);
    if (printed != 0) {
        rc = aq_fail(error, printed, "out of memory");
    } else if (is_whole) {
        (void)printf("\nThe first that is for a task is its default, or the first of the algorithm "
                     "that is asked for.\nOthers are taken by name, which may leave the algorithm "
                     "out; none is the settings' own defaults.\n");
        rc = 0;
    }
    return rc;
}

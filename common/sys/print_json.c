/*
 * Print JSON: see print_json.h.
 */
#include "common/sys/print_json.h"

#include <stdio.h>

int aq_print_json(json_t *object, aq_json_form form, aq_error *error)
{
    if (object == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    (void)json_dumpf(object, stdout,
                     (form == AQ_JSON_PRETTY ? JSON_INDENT(2) : JSON_COMPACT) |
                         JSON_REAL_PRECISION(10));
    (void)fputc('\n', stdout);
    json_decref(object);
    return 0;
}

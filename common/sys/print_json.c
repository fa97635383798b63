/*
 * Print JSON: see print_json.h.
 */
#include "common/sys/print_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

json_t *aq_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *aq_json_count(uint64_t value)
{
    if (value <= INT64_MAX) {
        return json_integer((json_int_t)value);
    }
    return json_sprintf("%" PRIu64, value);
}

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

/*
 * Print JSON: see print_json.h.
 */
#include "common/sys/print_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* JSON escapes the control characters below blank alone; a terminal obeys DEL and C1 as well, which
 * are two bytes of UTF-8, the second of them the character. */
static void print_plain(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        const unsigned char byte = (unsigned char)at[0], next = (unsigned char)at[1];

        if (byte == 0x7f) {
            (void)fputs("\\u007F", stdout);
        } else if (byte == 0xc2 && next >= 0x80 && next <= 0x9f) {
            (void)printf("\\u%04X", next);
            at++;
        } else {
            (void)putchar(byte);
        }
    }
    (void)putchar('\n');
}

int aq_print_json(json_t *object, aq_json_form form, aq_error *error)
{
    if (object == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    char *text = json_dumps(object, (form == AQ_JSON_PRETTY ? JSON_INDENT(2) : JSON_COMPACT) |
                                        JSON_REAL_PRECISION(10));
    json_decref(object);
    if (text == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    print_plain(text);
    free(text);
    return 0;
}

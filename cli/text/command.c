/*
 * Command: see command.h.
 */
#include "cli/text/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/text/plain_text.h"

enum { JSON_TEXT_BYTES_MAX = 4096 };

int aq_command_print_json(const char *command, json_t *object)
{
    if (!object) {
        (void)fprintf(stderr, "actorq %s: out of memory\n", command);
        return EXIT_FAILURE;
    }
    /* A failure to write leaves its mark on the stream. */
    (void)json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    (void)fputc('\n', stdout);
    json_decref(object);
    return aq_command_printed(command);
}

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

json_t *aq_json_text(const char *text)
{
    char plain[JSON_TEXT_BYTES_MAX];
    json_t *string = json_string(text);
    return string ? string : json_string(aq_plain_text(plain, sizeof(plain), text));
}

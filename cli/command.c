/*
 * Command: see command.h.
 */
#include "cli/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int aq_command_failed(const char *command, const aq_error *error)
{
    (void)fprintf(stderr, "actorq %s: %s\n", command, error->text);
    return EXIT_FAILURE;
}

int aq_command_print_json(const char *command, json_t *object)
{
    int failed = !object || json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) ||
                 fputc('\n', stdout) == EOF || fflush(stdout) == EOF;
    json_decref(object);
    if (failed) {
        (void)fprintf(stderr, "actorq %s: the result could not be written\n", command);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

json_t *aq_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

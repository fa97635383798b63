/*
 * Command: see command.h.
 */
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/plain_text.h"
#include "common/base/parse.h"

enum { JSON_TEXT_BYTES_MAX = 4096 };

/* ---- arguments ------------------------------------------------------------------------------ */

bool aq_command_begin(const aq_options *page, int argc, char **argv, aq_option_fn apply, void *user,
                      int *ret_status)
{
    aq_error error = {0};
    int rc = aq_options_parse(page, argc, argv, apply, user, &error);
    if (rc == 0) {
        return true;
    }
    if (rc == AQ_OPTIONS_HELP) {
        aq_options_print_help(page, stdout);
        *ret_status = aq_command_printed(argv[0]);
    } else if (rc == AQ_OPTIONS_VERSION) {
        (void)printf("actorq %s\n", AQ_VERSION);
        *ret_status = aq_command_printed(argv[0]);
    } else {
        *ret_status = aq_command_failed(argv[0], &error);
    }
    return false;
}

int aq_command_number(const char *value, uint64_t min, uint64_t max, uint64_t *ret_number,
                      aq_error *error)
{
    uint64_t number;
    if (aq_parse_u64(value, &number) || number < min || number > max) {
        return aq_fail(error, AQ_E_INVALID,
                       "'%s' is not a whole number from %" PRIu64 " to %" PRIu64, value, min, max);
    }
    *ret_number = number;
    return 0;
}

int aq_command_take(const char **place, const char *value, aq_error *error)
{
    if (*place) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is one argument too many after '%s'", value,
                       *place);
    }
    if (value[0] == '\0') {
        return aq_fail(error, AQ_E_INVALID, "the argument is empty");
    }
    *place = value;
    return 0;
}

/* ---- results -------------------------------------------------------------------------------- */

int aq_command_failed(const char *command, const aq_error *error)
{
    (void)fprintf(stderr, "actorq %s: %s\n", command, error->text);
    return EXIT_FAILURE;
}

int aq_command_printed(const char *command)
{
    if (fflush(stdout) == EOF || ferror(stdout)) {
        (void)fprintf(stderr, "actorq %s: the result could not be written\n", command);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

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

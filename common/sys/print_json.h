/*
 * Print JSON: results for programs, on standard output, and the numbers in them. A failure to write
 * leaves its mark on the stream. One thread.
 */
#ifndef AQ_COMMON_SYS_PRINT_JSON_H
#define AQ_COMMON_SYS_PRINT_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/sys/options.h"

/* A JSON number, or null for one that is not finite. */
json_t *aq_json_number(double value);

/* A JSON number, or a string of digits from 2^63 on, which jansson can't hold. */
json_t *aq_json_count(uint64_t value);

/* One object and a newline; releases it. NULL counts as out of memory. */
int aq_print_json(json_t *object, aq_json_form form, aq_error *error) AQ_MUST_USE;

#endif

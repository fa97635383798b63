/*
 * Print JSON: results for programs, on standard output. A failure to write leaves its mark on the
 * stream. One thread.
 */
#ifndef AQ_COMMON_SYS_PRINT_JSON_H
#define AQ_COMMON_SYS_PRINT_JSON_H

#include <jansson.h>

#include "common/base/error.h"
#include "common/sys/options.h"

/* One object and a newline; releases it. NULL counts as out of memory. */
int aq_print_json(json_t *object, aq_json_form form, aq_error *error) AQ_MUST_USE;

#endif

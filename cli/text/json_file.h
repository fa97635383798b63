/*
 * JSON file: small files of ours that are one JSON value, such as a plan, a result or a report.
 */
#ifndef AQ_CLI_TEXT_JSON_FILE_H
#define AQ_CLI_TEXT_JSON_FILE_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/error.h"

/* As aq_file_read. A file that is no JSON is read as NULL: the caller knows what it should be. */
int aq_json_file_read(const char *path, size_t bytes_max, json_t **ret_json,
                      aq_error *error) AQ_MUST_USE;

/* Writes it whole or not at all, a member a line, real numbers with so many digits. Takes `json`,
 * of which NULL is AQ_E_NOMEM. */
int aq_json_file_write(json_t *json, unsigned digits, const char *folder, const char *name,
                       aq_error *error) AQ_MUST_USE;

#endif

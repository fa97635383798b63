/*
 * Settings, inside: where in a YAML file a setting stands, and what is wrong with the file's shape.
 *
 * libcyaml 1.3 keeps no line of what it loaded, reports the line of the event before when it
 * refuses a key, and none for a syntax error. So once a file is known to be bad, a second walk with
 * the same parser underneath, libyaml, finds the place and the words. Good files never come here.
 * Only settings*.c include this.
 */
#ifndef AQ_COMMON_SETTINGS_SETTINGS_PLACE_H
#define AQ_COMMON_SETTINGS_SETTINGS_PLACE_H

#include <stddef.h>

#include "common/base/error.h"
#include "common/settings/settings.h"

/* Fills `error` with the first thing wrong with the file's shape, after "NAME:LINE: ", and returns
 * its code; 0, and `error` as it was, when nothing is found. */
int aq_settings_explain(const aq_settings_table *table, const char *name, const char *text,
                        size_t size, aq_error *error) AQ_MUST_USE;

/* The line "section.key" stands in, from 1; 0 when it is not found. */
size_t aq_settings_line_of(const char *text, size_t size, const char *key);

#endif

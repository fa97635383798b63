/*
 * Settings, inside: questions to a table of rows. Only settings*.c include this.
 */
#ifndef AQ_COMMON_SETTINGS_SETTINGS_TABLE_H
#define AQ_COMMON_SETTINGS_SETTINGS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/settings/settings.h"

/* Bytes of a list as it is written, blanks and brackets included. */
enum { AQ_SETTING_LIST_MAX = 512 };

/* Letters of the section in "section.key", 0 for a key without one. */
size_t aq_setting_section_length(const aq_setting *row);

/* Whether the member is an array of letters. */
bool aq_setting_is_text(const aq_setting *row);

/* True when both rows belong to one section, or both to none. */
bool aq_setting_same_section(const aq_setting *row, const aq_setting *other);

/* The first row of the section, NULL when there is none of that name. */
const aq_setting *aq_settings_find_section(const aq_settings_table *table, const char *name);

/* AQ_E_INVALID: "KEY: no such setting", or section, with the nearest that there is. */
int aq_settings_fail_unknown(const aq_settings_table *table, const char *key, aq_error *error);
int aq_settings_fail_unknown_section(const aq_settings_table *table, const char *name,
                                     aq_error *error);

#endif

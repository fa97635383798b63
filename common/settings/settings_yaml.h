/*
 * Settings, inside: a YAML file as one text per setting, checked against the table by libcyaml.
 * Only settings*.c include this.
 */
#ifndef AQ_COMMON_SETTINGS_SETTINGS_YAML_H
#define AQ_COMMON_SETTINGS_SETTINGS_YAML_H

#include <stddef.h>

#include "common/base/error.h"
#include "common/settings/settings.h"

typedef struct aq_settings_texts aq_settings_texts;

/* AQ_E_INVALID when libcyaml refuses the file; `error` then holds libcyaml's own words, which know
 * no line (settings_place.h finds that). AQ_E_NOMEM. */
int aq_settings_texts_load(const aq_settings_table *table, const char *text, size_t size,
                           aq_settings_texts **ret_texts, aq_error *error) AQ_MUST_USE;

/* NULL is fine. */
void aq_settings_texts_destroy(aq_settings_texts *texts);

/* What the file says for the table's row `index`; NULL when it says nothing. */
const char *aq_settings_texts_at(const aq_settings_texts *texts, size_t index);

#endif

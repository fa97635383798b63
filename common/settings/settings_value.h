/*
 * Settings, inside: one row's value as text, checked, stored and printed. Only settings*.c include
 * this.
 */
#ifndef AQ_COMMON_SETTINGS_SETTINGS_VALUE_H
#define AQ_COMMON_SETTINGS_SETTINGS_VALUE_H

#include <stddef.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/settings/settings.h"

/* Room for what aq_setting_describe writes. */
#define AQ_SETTING_DESCRIPTION_MAX 320

/* "100 to 100000000 steps, default 100000", cut to fit; returns `out`. */
const char *aq_setting_describe(const aq_setting *row, char *out, size_t size);

/* Appends the value as YAML that aq_setting_set takes back, without a newline. */
int aq_setting_append_value(const aq_setting *row, const void *settings,
                            aq_buffer *out) AQ_MUST_USE;

#endif

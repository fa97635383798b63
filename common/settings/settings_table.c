/*
 * Settings, inside: questions to a table of rows. Tables are small (AQ_SETTINGS_ROWS_MAX) and asked
 * at start-up, so every search is a plain loop.
 */
#include "common/settings/settings_table.h"

#include <stdint.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/nearest.h"

size_t aq_setting_section_length(const aq_setting *row)
{
    const char *dot = strchr(row->key, '.');

    return dot == NULL ? 0 : (size_t)(dot - row->key);
}

const char *aq_setting_short_key(const aq_setting *row)
{
    const char *dot = strchr(row->key, '.');

    return dot == NULL ? row->key : dot + 1;
}

bool aq_setting_same_section(const aq_setting *row, const aq_setting *other)
{
    size_t length = aq_setting_section_length(row);

    return aq_setting_section_length(other) == length && memcmp(row->key, other->key, length) == 0;
}

const aq_setting *aq_settings_find(const aq_settings_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].key, key) == 0) {
            return &table->rows[i];
        }
    }
    return NULL;
}

const aq_setting *aq_settings_find_section(const aq_settings_table *table, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; length > 0 && i < table->count; i++) {
        if (aq_setting_section_length(&table->rows[i]) == length &&
            memcmp(table->rows[i].key, name, length) == 0) {
            return &table->rows[i];
        }
    }
    return NULL;
}

/* The full key of one that was given without its section, or in a wrong one. */
static const char *find_short_key(const aq_settings_table *table, const char *key)
{
    const char *dot = strchr(key, '.');
    const char *short_key = dot == NULL ? key : dot + 1;

    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(aq_setting_short_key(&table->rows[i]), short_key) == 0) {
            return table->rows[i].key;
        }
    }
    return NULL;
}

int aq_settings_fail_unknown(const aq_settings_table *table, const char *key, aq_error *error)
{
    const char *known = find_short_key(table, key);
    aq_nearest nearest;

    if (known == NULL) {
        aq_nearest_init(&nearest, key);
        for (size_t i = 0; i < table->count; i++) {
            aq_nearest_offer(&nearest, table->rows[i].key);
        }
        known = aq_nearest_name(&nearest);
    }
    if (known == NULL) {
        return aq_fail(error, AQ_E_INVALID, "%s: no such setting", key);
    }
    return aq_fail(error, AQ_E_INVALID, "%s: no such setting; did you mean %s?", key, known);
}

int aq_settings_fail_unknown_section(const aq_settings_table *table, const char *name,
                                     aq_error *error)
{
    aq_nearest nearest;

    aq_nearest_init(&nearest, name);
    for (size_t i = 0; i < table->count; i++) {
        char section[AQ_SETTINGS_KEY_MAX + 1] = "";

        memcpy(section, table->rows[i].key, aq_setting_section_length(&table->rows[i]));
        aq_nearest_offer(&nearest, section);
    }
    const char *known = aq_nearest_name(&nearest);
    if (known == NULL) {
        return aq_fail(error, AQ_E_INVALID, "%s: no such section", name);
    }
    return aq_fail(error, AQ_E_INVALID, "%s: no such section; did you mean %s?", name, known);
}

static void check_row(const aq_setting *row)
{
    const char *short_key = aq_setting_short_key(row);

    AQ_ASSERT(strlen(row->key) <= AQ_SETTINGS_KEY_MAX);
    AQ_ASSERT(row->key[0] != '.');
    AQ_ASSERT(short_key[0] != '\0');
    AQ_ASSERT(strspn(short_key, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(short_key));
    AQ_ASSERT(row->initial != NULL);
    AQ_ASSERT(row->unit != NULL);
    AQ_ASSERT(row->comment != NULL);
    switch (row->type) {
    case AQ_SETTING_U64:
        AQ_ASSERT(row->size == sizeof(uint64_t));
        AQ_ASSERT(row->min <= row->max);
        break;
    case AQ_SETTING_F64:
        AQ_ASSERT(row->size == sizeof(double));
        AQ_ASSERT(row->min <= row->max);
        break;
    case AQ_SETTING_BOOL:
        AQ_ASSERT(row->size == sizeof(bool));
        break;
    case AQ_SETTING_TEXT:
        AQ_ASSERT(row->size > 0);
        AQ_ASSERT(row->min >= 0 && row->min < (double)row->size);
        break;
    case AQ_SETTING_CHOICE:
        AQ_ASSERT(row->size == sizeof(uint32_t));
        AQ_ASSERT(row->choices != NULL && row->choices[0] != NULL);
        break;
    }
}

void aq_settings_check_table(const aq_settings_table *table)
{
    AQ_ASSERT(table->count > 0);
    AQ_ASSERT(table->count <= AQ_SETTINGS_ROWS_MAX);
    for (size_t i = 0; i < table->count; i++) {
        const aq_setting *row = &table->rows[i];

        check_row(row);
        AQ_ASSERT(aq_settings_find(table, row->key) == row); /* no key twice */
        AQ_ASSERT(aq_settings_find_section(table, row->key) == NULL);
        for (size_t j = i + 1; j < table->count; j++) {
            /* Rows of one section stand together. */
            AQ_ASSERT(aq_setting_section_length(row) == 0 ||
                      !aq_setting_same_section(row, &table->rows[j]) ||
                      aq_setting_same_section(row, &table->rows[j - 1]));
        }
    }
}

/*
 * Settings, inside: questions to a table of rows. Tables are small (AQ_SETTINGS_ROWS_MAX) and asked
 * at start-up, so every search is a plain loop.
 */
#include "common/settings/settings_table.h"

#include <string.h>

#include "common/base/nearest.h"

size_t aq_setting_section_length(const aq_setting *row)
{
    const char *dot = strchr(row->key, '.');

    return dot == NULL ? 0 : (size_t)(dot - row->key);
}

bool aq_setting_is_text(const aq_setting *row)
{
    return row->type == AQ_SETTING_TEXT || row->type == AQ_SETTING_LIST;
}

const char *aq_setting_short_key(const char *key)
{
    const char *dot = strchr(key, '.');

    return dot == NULL ? key : dot + 1;
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
static const char *find_short_key(const aq_settings_table *table, const char *short_key)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(aq_setting_short_key(table->rows[i].key), short_key) == 0) {
            return table->rows[i].key;
        }
    }
    return NULL;
}

/* Of one section, or of all where it is NULL. */
static const char *find_nearest(const aq_settings_table *table, const aq_setting *section,
                                const char *short_key)
{
    aq_nearest nearest;
    const char *found = NULL;

    aq_nearest_init(&nearest, short_key);
    for (size_t i = 0; i < table->count; i++) {
        const aq_setting *row = &table->rows[i];
        if ((section == NULL || aq_setting_same_section(row, section)) &&
            aq_nearest_offer(&nearest, aq_setting_short_key(row->key))) {
            found = row->key;
        }
    }
    return found;
}

/* Whether `word` is one of "(steps, timesteps)" in the comment. */
static bool is_called(const char *comment, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = strchr(comment, '('); at != NULL; at = strchr(at, '(')) {
        do {
            at += at[0] == ',' ? strlen(", ") : 1;
            if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == ')')) {
                return true;
            }
            at += strcspn(at, ",)");
        } while (at[0] == ',');
    }
    return false;
}

/* The first that others call so: names of the field stand in comments, in parentheses. */
static const char *find_other_name(const aq_settings_table *table, const char *word)
{
    for (size_t i = 0; word[0] != '\0' && i < table->count; i++) {
        if (is_called(table->rows[i].comment, word)) {
            return table->rows[i].key;
        }
    }
    return NULL;
}

/* A row of the nearest section, or NULL. */
static const aq_setting *find_near_section(const aq_settings_table *table, const char *typed)
{
    aq_nearest nearest;
    const aq_setting *found = NULL;

    aq_nearest_init(&nearest, typed);
    for (size_t i = 0; i < table->count; i++) {
        const aq_setting *row = &table->rows[i];
        const size_t length = aq_setting_section_length(row);
        char section[AQ_SETTINGS_KEY_MAX + 1] = "";

        if (length == 0) {
            continue; /* it stands in none */
        }
        memcpy(section, row->key, length);
        found = aq_nearest_offer(&nearest, section) ? row : found;
    }
    return found;
}

const char *aq_settings_nearest(const aq_settings_table *table, const char *typed)
{
    const char *dot = strchr(typed, '.');
    const char *short_key = aq_setting_short_key(typed);
    const char *known = find_short_key(table, short_key);

    known = known != NULL ? known : find_other_name(table, short_key);
    if (known == NULL && dot != NULL) {
        char section[2 * (AQ_SETTINGS_KEY_MAX + 1)] = "";

        memcpy(section, typed, (size_t)(dot - typed));
        const aq_setting *near = find_near_section(table, section);
        known = near != NULL ? find_nearest(table, near, short_key) : NULL;
    }
    return known != NULL ? known : find_nearest(table, NULL, short_key);
}

int aq_settings_fail_unknown(const aq_settings_table *table, const char *key, aq_error *error)
{
    const char *known = aq_settings_nearest(table, key);

    if (known == NULL) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s: no such setting; 'actorq train --print-config' lists them all", key);
    }
    return aq_fail(error, AQ_E_INVALID, "%s: no such setting; did you mean %s?", key, known);
}

int aq_settings_fail_unknown_section(const aq_settings_table *table, const char *name,
                                     aq_error *error)
{
    const aq_setting *near = find_near_section(table, name);

    if (near == NULL) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s: no such section; 'actorq train --print-config' lists them all", name);
    }
    return aq_fail(error, AQ_E_INVALID, "%s: no such section; did you mean %.*s?", name,
                   (int)aq_setting_section_length(near), near->key);
}

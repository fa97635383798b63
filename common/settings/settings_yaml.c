/*
 * Settings: a YAML file, read in one walk, and written. The walk judges the shape (known keys, none
 * twice, a value where a value belongs) and keeps each value as a text with its line; the texts are
 * judged where those of `--set` are, in settings_value.c. All or nothing: values are checked first,
 * and stored when every one is right.
 */
#include <string.h>

#include "common/base/assert.h"
#include "common/base/buffer.h"
#include "common/settings/settings.h"
#include "common/settings/settings_table.h"
#include "common/settings/settings_value.h"
#include "common/settings/settings_walk.h"
#include "common/sys/file.h"

#define FILE_SIZE_MAX ((size_t)1 << 20)

/* What a file says, by the table's rows. */
typedef struct yaml_reading {
    const aq_settings_table *table;
    aq_buffer texts;                            /* the values, each terminated */
    size_t offsets[AQ_SETTINGS_ROWS_MAX];       /* of each row's value in `texts` */
    size_t row_lines[AQ_SETTINGS_ROWS_MAX];     /* where it was given; 0: it was not */
    size_t section_lines[AQ_SETTINGS_ROWS_MAX]; /* of each section, by its first row */
    size_t line;                                /* the one in hand */
    aq_error *error;
} yaml_reading;

static const char *name_of_kind(enum aq_settings_kind kind)
{
    switch (kind) {
    case AQ_SETTINGS_MAPPING:
        return "a mapping";
    case AQ_SETTINGS_LIST:
        return "a list";
    default:
        return "a value";
    }
}

static int take_value(yaml_reading *reading, const aq_setting *row, const aq_settings_node *node)
{
    char allowed[AQ_SETTING_DESCRIPTION_MAX];

    if (node->value == NULL || (node->kind == AQ_SETTINGS_LIST && row->type != AQ_SETTING_LIST)) {
        return aq_fail(reading->error, AQ_E_INVALID,
                       "%s: a value is expected, not %s (allowed: %s)", node->key,
                       name_of_kind(node->kind),
                       aq_setting_describe(row, allowed, sizeof(allowed)));
    }
    reading->offsets[row - reading->table->rows] = reading->texts.size;
    return aq_buffer_append(&reading->texts, node->value, strlen(node->value) + 1);
}

static int check_section(const yaml_reading *reading, const aq_settings_node *node)
{
    if (node->kind == AQ_SETTINGS_MAPPING || node->kind == AQ_SETTINGS_EMPTY) {
        return 0;
    }
    return aq_fail(reading->error, AQ_E_INVALID,
                   "%s: the settings of this section are expected, indented, not %s", node->key,
                   name_of_kind(node->kind));
}

static int fail_unknown(const yaml_reading *reading, const aq_settings_node *node)
{
    const aq_setting *row = aq_settings_find(reading->table, node->key);

    if (row != NULL) { /* written as --set takes it */
        return aq_fail(reading->error, AQ_E_INVALID,
                       "%s: in a file, '%s' stands below the line '%.*s:', indented", node->key,
                       aq_setting_short_key(row->key), (int)aq_setting_section_length(row),
                       row->key);
    }
    return node->kind == AQ_SETTINGS_MAPPING && !node->in_section
               ? aq_settings_fail_unknown_section(reading->table, node->key, reading->error)
               : aq_settings_fail_unknown(reading->table, node->key, reading->error);
}

static int visit(void *user, const aq_settings_node *node)
{
    yaml_reading *reading = user;
    const aq_settings_table *table = reading->table;
    const aq_setting *row = aq_settings_find(table, node->key);
    const aq_setting *section = NULL;

    reading->line = node->line;
    if (row != NULL && (aq_setting_section_length(row) > 0) != node->in_section) {
        row = NULL;
    } else if (row == NULL && !node->in_section) {
        section = aq_settings_find_section(table, node->key);
    }
    if (row == NULL && section == NULL) {
        return fail_unknown(reading, node);
    }
    size_t *first_line = row != NULL ? &reading->row_lines[row - table->rows]
                                     : &reading->section_lines[section - table->rows];
    if (*first_line != 0) {
        return aq_fail(reading->error, AQ_E_INVALID, "%s: given twice, first in line %zu",
                       node->key, *first_line);
    }
    *first_line = node->line;
    if (node->kind == AQ_SETTINGS_ALIAS) {
        return aq_fail(reading->error, AQ_E_INVALID, "%s: aliases are not supported", node->key);
    }
    return row != NULL ? take_value(reading, row, node) : check_section(reading, node);
}

static int apply(yaml_reading *reading, void *settings)
{
    for (size_t i = 0; i < reading->table->count; i++) {
        if (reading->row_lines[i] != 0) {
            const char *value = (const char *)reading->texts.data + reading->offsets[i];
            int rc = aq_setting_set(&reading->table->rows[i], value, settings, reading->error);
            reading->line = reading->row_lines[i];
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int read_all(yaml_reading *reading, const char *text, size_t size, void *settings)
{
    aq_settings_problem problem = {0};
    int rc = aq_settings_walk(text, size, visit, reading, &problem);

    if (problem.text != NULL) {
        reading->line = problem.line;
        return aq_fail(reading->error, rc, "%s", problem.text);
    }
    if (rc == 0) {
        rc = apply(reading, NULL); /* checks */
    }
    if (rc == 0) {
        rc = apply(reading, settings);
        AQ_ASSERT(rc == 0);
    }
    return rc;
}

int aq_settings_read_yaml(const aq_settings_table *table, const char *name, const char *text,
                          size_t size, void *settings, aq_error *error)
{
    yaml_reading reading = {.table = table, .error = error};

    AQ_ASSERT(table->count <= AQ_SETTINGS_ROWS_MAX);
    /* A value takes no more bytes than twice those it is written with, and an end. */
    aq_buffer_init(&reading.texts, 2 * size + AQ_SETTINGS_ROWS_MAX);
    int rc = read_all(&reading, text, size, settings);
    aq_buffer_fini(&reading.texts);
    if (rc == AQ_E_NOMEM) {
        return aq_fail(error, rc, "%s: %s", name, aq_error_text(rc));
    }
    return rc == 0 ? 0 : aq_fail_context(error, rc, "%s:%zu", name, reading.line);
}

int aq_settings_read_file(const aq_settings_table *table, const char *path, void *settings,
                          aq_error *error)
{
    aq_buffer content;

    aq_buffer_init(&content, FILE_SIZE_MAX);
    int rc = aq_file_read(path, &content, error);
    if (rc == 0) {
        rc = aq_settings_read_yaml(table, path, (const char *)content.data, content.size, settings,
                                   error);
    }
    aq_buffer_fini(&content);
    return rc;
}

/* Whether the file is these very bytes, so that a full disk need not take them again. */
static bool holds(const char *path, const aq_buffer *wanted)
{
    aq_buffer found;
    aq_error ignored;
    aq_buffer_init(&found, FILE_SIZE_MAX);
    const bool same = aq_file_read(path, &found, &ignored) == 0 && found.size == wanted->size &&
                      memcmp(found.data, wanted->data, found.size) == 0;
    aq_buffer_fini(&found);
    return same;
}

int aq_settings_write_file(const aq_settings_table *table, const char *path, const void *settings,
                           aq_error *error)
{
    aq_buffer content;
    aq_buffer_init(&content, FILE_SIZE_MAX);
    int rc = aq_settings_print_yaml(table, settings, &content);
    if (rc != 0) {
        (void)aq_fail(error, rc, "%s: %s", path, aq_error_text(rc));
    } else if (!holds(path, &content)) {
        rc = aq_file_write_atomic(path, content.data, content.size, error);
    }
    aq_buffer_fini(&content);
    return rc;
}

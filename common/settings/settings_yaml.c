/*
 * Settings: a YAML file, read and written. A pass over its tree judges the shape (known keys, a
 * value where a value belongs) and the values, by settings_value.c as those of `--set`; a second
 * one stores them, when every one is right.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/buffer.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/settings/settings.h"
#include "common/settings/settings_table.h"
#include "common/settings/settings_value.h"
#include "common/settings/yaml_tree.h"
#include "common/sys/file.h"

#define FILE_SIZE_MAX ((size_t)1 << 20)

/* A pass. */
typedef struct yaml_pass {
    const aq_settings_table *table;
    bool is_foreign; /* keys that are not known are passed over */
    void *settings;  /* NULL: values are checked alone */
    size_t line;     /* of the key in hand */
    aq_error *error;
} yaml_pass;

/* A key and what it has. */
typedef struct yaml_entry {
    char key[2 * (AQ_SETTINGS_KEY_MAX + 1)]; /* "section.key", on one line, cut to fit */
    bool in_section;
    aq_yaml_node value;
} yaml_entry;

static const char *name_of_kind(aq_yaml_node value)
{
    switch (aq_yaml_kind(value)) {
    case AQ_YAML_MAPPING:
        return "a mapping";
    case AQ_YAML_LIST:
        return "a list";
    default:
        return "a value";
    }
}

/* A list as it is kept, "64,64"; NULL: it holds more than texts, or more than fits. */
static const char *list_text(aq_yaml_node list, char out[AQ_SETTING_LIST_MAX])
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < aq_yaml_count(list); i++) {
        const char *text = aq_yaml_text(aq_yaml_at(list, i));
        if (text == NULL || aq_text_format(out + used, AQ_SETTING_LIST_MAX - used, "%s%s",
                                           i > 0 ? "," : "", text) != 0) {
            return NULL;
        }
        used += strlen(out + used);
    }
    return out;
}

static int take_value(const yaml_pass *pass, const aq_setting *row, const yaml_entry *entry)
{
    char list[AQ_SETTING_LIST_MAX], allowed[AQ_SETTING_DESCRIPTION_MAX];
    const bool is_list = row->type == AQ_SETTING_LIST && aq_yaml_kind(entry->value) == AQ_YAML_LIST;
    const char *text = is_list ? list_text(entry->value, list) : aq_yaml_text(entry->value);

    if (text == NULL) {
        return aq_fail(pass->error, AQ_E_INVALID, "%s: a value is expected, not %s (allowed: %s)",
                       entry->key, name_of_kind(entry->value),
                       aq_setting_describe(row, allowed, sizeof(allowed)));
    }
    return aq_setting_set(row, text, pass->settings, pass->error);
}

static int fail_unknown(const yaml_pass *pass, const yaml_entry *entry)
{
    const aq_setting *row = aq_settings_find(pass->table, entry->key);

    if (row != NULL) { /* written as --set takes it */
        return aq_fail(pass->error, AQ_E_INVALID,
                       "%s: in a file, '%s' stands below the line '%.*s:', indented", entry->key,
                       aq_setting_short_key(row->key), (int)aq_setting_section_length(row),
                       row->key);
    }
    return aq_yaml_kind(entry->value) == AQ_YAML_MAPPING && !entry->in_section
               ? aq_settings_fail_unknown_section(pass->table, entry->key, pass->error)
               : aq_settings_fail_unknown(pass->table, entry->key, pass->error);
}

static int read_mapping(yaml_pass *pass, aq_yaml_node mapping, const char *section);

static int read_section(yaml_pass *pass, const yaml_entry *entry)
{
    const char *text = aq_yaml_text(entry->value);

    if (aq_yaml_kind(entry->value) == AQ_YAML_MAPPING) {
        return read_mapping(pass, entry->value, entry->key);
    }
    return text != NULL && text[0] == '\0'
               ? 0
               : aq_fail(pass->error, AQ_E_INVALID,
                         "%s: the settings of this section are expected, indented, not %s",
                         entry->key, name_of_kind(entry->value));
}

static int read_entry(yaml_pass *pass, const yaml_entry *entry)
{
    const aq_setting *row = aq_settings_find(pass->table, entry->key);

    if (row != NULL && (aq_setting_section_length(row) > 0) == entry->in_section) {
        return take_value(pass, row, entry);
    }
    if (row == NULL && !entry->in_section &&
        aq_settings_find_section(pass->table, entry->key) != NULL) {
        return read_section(pass, entry);
    }
    return pass->is_foreign ? 0 : fail_unknown(pass, entry);
}

/* `section` is "" at the top. */
static int read_mapping(yaml_pass *pass, aq_yaml_node mapping, const char *section)
{
    const bool in_section = section[0] != '\0';
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < aq_yaml_count(mapping); i++) {
        yaml_entry entry = {.in_section = in_section, .value = aq_yaml_at(mapping, i)};
        char name[sizeof(entry.key)];
        /* A key too long for a name is no setting of ours; what fits is enough to say so. */
        (void)snprintf(name, sizeof(name), "%s%s%s", section, in_section ? "." : "",
                       aq_yaml_key_at(mapping, i));
        (void)aq_plain_text(entry.key, sizeof(entry.key), name);
        pass->line = aq_yaml_key_line(mapping, i);
        rc = read_entry(pass, &entry);
    }
    return rc;
}

/* `pass` has no settings yet. */
static int read_yaml(yaml_pass pass, const char *name, const char *text, size_t size,
                     void *settings, aq_error *error)
{
    aq_yaml_tree *tree;
    int rc = aq_yaml_tree_read(name, text, size, &tree, error);

    if (rc != 0) {
        return rc;
    }
    rc = read_mapping(&pass, aq_yaml_top(tree), "");
    if (rc == 0) {
        pass.settings = settings;
        rc = read_mapping(&pass, aq_yaml_top(tree), "");
        AQ_ASSERT(rc == 0);
    }
    aq_yaml_tree_free(tree);
    return rc == 0 ? 0 : aq_fail_context(error, rc, "%s:%zu", name, pass.line);
}

int aq_settings_read_yaml(const aq_settings_table *table, const char *name, const char *text,
                          size_t size, void *settings, aq_error *error)
{
    const yaml_pass pass = {.table = table, .error = error};
    return read_yaml(pass, name, text, size, settings, error);
}

int aq_settings_read_foreign(const aq_settings_table *table, const char *name, const char *text,
                             size_t size, void *settings, aq_error *error)
{
    const yaml_pass pass = {.table = table, .is_foreign = true, .error = error};
    return read_yaml(pass, name, text, size, settings, error);
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

/*
 * Settings, inside: a YAML file as one text per setting, checked against the table by libcyaml.
 *
 * The schema is built from the table: every setting is an optional text, every section an optional
 * mapping. So libcyaml judges the shape (known keys, none twice, a value where a value belongs),
 * and the values are judged where those of `--set` are, in settings_value.c. Loading texts rather
 * than numbers also keeps "absent" apart from zero, which libcyaml 1.3 can't tell for numbers.
 *
 * libcyaml fills a struct; ours is an array of pointers: one slot per key and section of the top
 * level, where a section's slot points at an array of its own.
 */
#include "common/settings/settings_yaml.h"

#include <cyaml/cyaml.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/settings/settings_table.h"

/* Where a row's text lies: slots[slot], or ((char **)slots[slot])[index] in a section. */
typedef struct text_place {
    uint16_t slot;
    uint16_t index;
} text_place;

struct aq_settings_texts {
    const aq_settings_table *table;
    cyaml_config_t config;
    cyaml_schema_value_t top;
    cyaml_schema_field_t *fields; /* the top level's, then each section's, each list ended */
    char (*section_names)[AQ_SETTINGS_KEY_MAX + 1];
    text_place *places; /* [table->count] */
    void **slots;       /* libcyaml's; NULL when the file is empty */
    char refusal[160];  /* libcyaml's first complaint */
};

/* libcyaml asks for all its memory here. It wants realloc, so each block remembers its size in a
 * header, which keeps the alignment. */
static void *reallocate(void *context, void *block, size_t size)
{
    uint8_t *old = block == NULL ? NULL : (uint8_t *)block - AQ_ALIGNMENT_BYTES;
    uint8_t *new = NULL;

    (void)context;
    if (size > 0) {
        if (size > SIZE_MAX - AQ_ALIGNMENT_BYTES) {
            return NULL;
        }
        new = aq_alloc(AQ_ALIGNMENT_BYTES + size, 1);
        if (new == NULL) {
            return NULL;
        }
        memcpy(new, &size, sizeof(size));
        new += AQ_ALIGNMENT_BYTES;
        if (old != NULL) {
            size_t old_size;

            memcpy(&old_size, old, sizeof(old_size));
            memcpy(new, block, old_size < size ? old_size : size);
        }
    }
    aq_free(old);
    return new;
}

/* Keeps the first complaint; the lines after it are its backtrace. */
static void keep_refusal(cyaml_log_t level, void *context, const char *format, va_list args)
    AQ_PRINTF(3, 0);

static void keep_refusal(cyaml_log_t level, void *context, const char *format, va_list args)
{
    aq_settings_texts *texts = context;

    (void)level;
    if (texts->refusal[0] == '\0') {
        vsnprintf(texts->refusal, sizeof(texts->refusal), format, args);
        texts->refusal[strcspn(texts->refusal, "\n")] = '\0';
    }
}

/* One optional text of a mapping whose struct is an array of pointers. */
static cyaml_schema_field_t text_field(const char *key, size_t index)
{
    return (cyaml_schema_field_t){
        .key = key,
        .data_offset = (uint32_t)(index * sizeof(char *)),
        .value = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, char, 0,
                                     CYAML_UNLIMITED)},
    };
}

/* A section may also be there and hold nothing, as one whose lines are all commented out. */
static cyaml_schema_field_t section_field(const char *name, size_t slot,
                                          const cyaml_schema_field_t *fields, size_t count)
{
    return (cyaml_schema_field_t){
        .key = name,
        .data_offset = (uint32_t)(slot * sizeof(void *)),
        .value = {.type = CYAML_MAPPING,
                  .flags = CYAML_FLAG_POINTER_NULL | CYAML_FLAG_OPTIONAL,
                  .data_size = (uint32_t)(count * sizeof(char *)),
                  .mapping = {.fields = fields}},
    };
}

/* The sections are filled in behind the top level, whose length has to be known for that. */
static void build_schema(aq_settings_texts *texts)
{
    const aq_settings_table *table = texts->table;
    size_t slot_count = 0;
    size_t slot = 0;
    size_t next;

    for (size_t i = 0; i < table->count; i++) {
        if (i == 0 || aq_setting_section_length(&table->rows[i]) == 0 ||
            !aq_setting_same_section(&table->rows[i], &table->rows[i - 1])) {
            slot_count++;
        }
    }
    next = slot_count + 1; /* after the top level's end mark, which is all zero */
    for (size_t i = 0; i < table->count; slot++) {
        const aq_setting *row = &table->rows[i];
        size_t length = aq_setting_section_length(row);
        size_t first = next;

        if (length == 0) {
            texts->fields[slot] = text_field(row->key, slot);
            texts->places[i] = (text_place){.slot = (uint16_t)slot};
            i++;
            continue;
        }
        memcpy(texts->section_names[slot], row->key, length);
        for (; i < table->count && aq_setting_same_section(row, &table->rows[i]); i++, next++) {
            texts->fields[next] = text_field(aq_setting_short_key(&table->rows[i]), next - first);
            texts->places[i] =
                (text_place){.slot = (uint16_t)slot, .index = (uint16_t)(next - first)};
        }
        texts->fields[slot] =
            section_field(texts->section_names[slot], slot, &texts->fields[first], next - first);
        next++; /* the section's end mark */
    }
    AQ_ASSERT(slot == slot_count);
    texts->top = (cyaml_schema_value_t){
        .type = CYAML_MAPPING,
        .flags = CYAML_FLAG_POINTER_NULL,
        .data_size = (uint32_t)(slot_count * sizeof(void *)),
        .mapping = {.fields = texts->fields},
    };
}

static aq_settings_texts *create(const aq_settings_table *table)
{
    aq_settings_texts *texts = aq_alloc(1, sizeof(*texts));

    if (texts == NULL) {
        return NULL;
    }
    texts->table = table;
    /* At most one end mark per section and one of the top level, and a slot per row. */
    texts->fields = aq_alloc(3 * table->count + 1, sizeof(*texts->fields));
    texts->section_names = aq_alloc(table->count, sizeof(*texts->section_names));
    texts->places = aq_alloc(table->count, sizeof(*texts->places));
    if (texts->fields == NULL || texts->section_names == NULL || texts->places == NULL) {
        aq_settings_texts_destroy(texts);
        return NULL;
    }
    texts->config = (cyaml_config_t){
        .log_fn = keep_refusal,
        .log_ctx = texts,
        .log_level = CYAML_LOG_WARNING,
        .mem_fn = reallocate,
        .flags = CYAML_CFG_NO_ALIAS,
    };
    build_schema(texts);
    return texts;
}

int aq_settings_texts_load(const aq_settings_table *table, const char *text, size_t size,
                           aq_settings_texts **ret_texts, aq_error *error)
{
    aq_settings_texts *texts = create(table);
    cyaml_data_t *data = NULL;
    cyaml_err_t refusal;
    int rc;

    if (texts == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    refusal =
        cyaml_load_data((const uint8_t *)text, size, &texts->config, &texts->top, &data, NULL);
    texts->slots = data;
    if (refusal == CYAML_ERR_OOM) {
        rc = aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
        goto fail;
    }
    /* A warning ("ignoring ...") is as bad: a setting that has no effect must not look as if. */
    if (refusal != CYAML_OK || texts->refusal[0] != '\0') {
        rc = aq_fail(error, AQ_E_INVALID, "%s",
                     texts->refusal[0] != '\0' ? texts->refusal : cyaml_strerror(refusal));
        goto fail;
    }
    *ret_texts = texts;
    return 0;

fail:
    aq_settings_texts_destroy(texts);
    return rc;
}

void aq_settings_texts_destroy(aq_settings_texts *texts)
{
    if (texts == NULL) {
        return;
    }
    if (texts->slots != NULL) {
        cyaml_err_t rc = cyaml_free(&texts->config, &texts->top, texts->slots, 0);

        AQ_ASSERT(rc == CYAML_OK);
    }
    aq_free(texts->places);
    aq_free(texts->section_names);
    aq_free(texts->fields);
    aq_free(texts);
}

const char *aq_settings_texts_at(const aq_settings_texts *texts, size_t index)
{
    const text_place *place;
    const void *slot;

    AQ_ASSERT(index < texts->table->count);
    if (texts->slots == NULL) {
        return NULL;
    }
    place = &texts->places[index];
    slot = texts->slots[place->slot];
    if (slot == NULL || aq_setting_section_length(&texts->table->rows[index]) == 0) {
        return slot;
    }
    return ((const char *const *)slot)[place->index];
}

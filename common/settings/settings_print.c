/*
 * Settings: the whole of a struct as commented YAML. Above each setting stand its comment and what
 * is allowed, so that the printed file is also the manual.
 */
#include <string.h>

#include "common/base/buffer.h"
#include "common/settings/settings.h"
#include "common/settings/settings_table.h"
#include "common/settings/settings_value.h"

#define WIDTH 96 /* of a comment line */

/* Appends until the first failure, which it keeps. */
typedef struct writer {
    aq_buffer *out;
    int rc;
} writer;

static void put_bytes(writer *to, const char *bytes, size_t size)
{
    if (to->rc == 0) {
        to->rc = aq_buffer_append(to->out, bytes, size);
    }
}

static void put(writer *to, const char *text)
{
    put_bytes(to, text, strlen(text));
}

/* The words of `text` as comment lines of up to WIDTH columns. */
static void put_comment(writer *to, const char *indent, const char *text)
{
    size_t column = 0; /* 0: no line is begun */

    text += strspn(text, " \n");
    while (*text != '\0') {
        size_t length = strcspn(text, " \n");

        if (column > 0 && column + 1 + length > WIDTH) {
            put(to, "\n");
            column = 0;
        }
        if (column == 0) {
            put(to, indent);
            put(to, "#");
            column = strlen(indent) + 1;
        }
        put(to, " ");
        put_bytes(to, text, length);
        column += 1 + length;
        text += length;
        text += strspn(text, " \n");
    }
    if (column > 0) {
        put(to, "\n");
    }
}

static void put_row(writer *to, const aq_setting *row, const void *settings)
{
    const char *indent = aq_setting_section_length(row) > 0 ? "  " : "";
    char allowed[AQ_SETTING_DESCRIPTION_MAX];

    put_comment(to, indent, row->comment);
    put_comment(to, indent, aq_setting_describe(row, allowed, sizeof(allowed)));
    put_comment(to, indent,
                row->is_live ? "live: 'actorq set' changes it while the run goes on" : "");
    put(to, indent);
    put(to, aq_setting_short_key(row->key));
    put(to, ": ");
    if (to->rc == 0) {
        to->rc = aq_setting_append_value(row, settings, to->out);
    }
    put(to, "\n");
}

int aq_settings_print_yaml(const aq_settings_table *table, const void *settings, aq_buffer *out)
{
    size_t size_before = out->size;
    writer to = {.out = out};

    for (size_t i = 0; i < table->count; i++) {
        const aq_setting *row = &table->rows[i];

        if (i > 0) {
            put(&to, "\n");
        }
        if (aq_setting_section_length(row) > 0 &&
            (i == 0 || !aq_setting_same_section(row, &table->rows[i - 1]))) {
            put_bytes(&to, row->key, aq_setting_section_length(row));
            put(&to, ":\n");
        }
        put_row(&to, row, settings);
    }
    if (to.rc < 0) {
        out->size = size_before;
    }
    return to.rc;
}

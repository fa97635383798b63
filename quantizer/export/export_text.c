/*
 * Appending C to a buffer. Numbers are written by hand-sized lines, so that a diff of two exports
 * shows where they differ.
 */
#include "quantizer/export/export_text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"

static void append(aq_export_text *text, const char *bytes, size_t size)
{
    if (text->rc == 0) {
        text->rc = aq_buffer_append(text->out, bytes, size);
    }
}

/* Puts the number that `at` begins with the name of; returns what follows. */
static const char *put_number(aq_export_text *text, const char *at, const aq_export_number *number)
{
    while (number->name != NULL && strncmp(at, number->name, strlen(number->name)) != 0) {
        number++;
    }
    AQ_ASSERT(number->name != NULL);
    aq_export_print(text, "%zu", number->value);
    return at + strlen(number->name);
}

/* Puts `size` bytes, and a state behind each observation. A call and a parameter never stand
 * between two prefixes, so of the one nothing is left out for the other. */
static void put_plain(aq_export_text *text, const char *at, size_t size)
{
    static const struct {
        const char *obs, *state;
    } pairs[] = {{"const float *obs", ", float *state"}, {"_forward(obs", ", state"}};
    for (size_t i = 0; text->has_state && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const char *found = strstr(at, pairs[i].obs);
        const size_t length = found != NULL ? (size_t)(found - at) + strlen(pairs[i].obs) : 0;
        if (length > 0 && length <= size) {
            append(text, at, length);
            append(text, pairs[i].state, strlen(pairs[i].state));
            at += length;
            size -= length;
        }
    }
    append(text, at, size);
}

void aq_export_fill(aq_export_text *text, const char *piece, const aq_export_number *numbers)
{
    for (const char *at = piece; *at != '\0';) {
        const size_t plain = strcspn(at, numbers != NULL ? "@$" : "@");
        put_plain(text, at, plain);
        at += plain;
        if (*at == '@') {
            append(text, text->prefix, strlen(text->prefix));
            at++;
        } else if (*at == '$') {
            at = put_number(text, at + 1, numbers);
        }
    }
}

void aq_export_put(aq_export_text *text, const char *piece)
{
    aq_export_fill(text, piece, NULL);
}

void aq_export_print(aq_export_text *text, const char *format, ...)
{
    char line[AQ_EXPORT_LINE_MAX + 1];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    AQ_ASSERT(length >= 0 && length <= AQ_EXPORT_LINE_MAX);
    aq_export_put(text, line);
}

bool aq_export_names(const char *piece, const char *name)
{
    const size_t length = strlen(name);
    bool named = false;
    for (const char *at = strstr(piece, name); at != NULL && !named; at = strstr(at + 1, name)) {
        named = at[length] != '_' && !isalnum((unsigned char)at[length]);
    }
    return named;
}

bool aq_export_texts_name(const char *const *texts, size_t count, const char *name)
{
    bool named = false;
    for (size_t i = 0; i < count && !named; i++) {
        named = texts[i] != NULL && aq_export_names(texts[i], name);
    }
    return named;
}

void aq_export_float_text(float value, char line[32])
{
    (void)snprintf(line, 32, "%af", (double)value);
}

/* ---- arrays --------------------------------------------------------------------------------- */

typedef struct array_type {
    const char *name;
    size_t bytes; /* of a value */
    size_t a_line;
    void (*text_of)(const void *values, size_t index, char number[32]);
} array_type;

static void put_array(aq_export_text *text, const array_type *type, const char *name,
                      uint32_t index, const void *values, size_t count)
{
    aq_export_print(text, "\nstatic const %s @_%s%u[%zu] = {", type->name, name, index, count);
    for (size_t i = 0; i < count; i++) {
        char number[32];
        type->text_of(values, i, number);
        append(text, i % type->a_line == 0 ? "\n    " : " ", i % type->a_line == 0 ? 5 : 1);
        append(text, number, strlen(number));
        append(text, ",", 1);
    }
    append(text, "\n};\n", 4);
    text->constants_bytes += count * type->bytes;
}

static void text_of_float(const void *values, size_t index, char number[32])
{
    aq_export_float_text(((const float *)values)[index], number);
}

static void text_of_half(const void *values, size_t index, char number[32])
{
    (void)snprintf(number, 32, "0x%04x", ((const uint16_t *)values)[index]);
}

static void text_of_int8(const void *values, size_t index, char number[32])
{
    (void)snprintf(number, 32, "%d", ((const int8_t *)values)[index]);
}

static void text_of_word(const void *values, size_t index, char number[32])
{
    (void)snprintf(number, 32, "0x%08x", ((const uint32_t *)values)[index]);
}

void aq_export_floats(aq_export_text *text, const char *name, uint32_t index, const float *values,
                      size_t count)
{
    static const array_type type = {"float", sizeof(*values), 4, text_of_float};
    put_array(text, &type, name, index, values, count);
}

void aq_export_halves(aq_export_text *text, const char *name, uint32_t index,
                      const uint16_t *values, size_t count)
{
    static const array_type type = {"uint16_t", sizeof(*values), 11, text_of_half};
    put_array(text, &type, name, index, values, count);
}

void aq_export_int8(aq_export_text *text, const char *name, uint32_t index, const int8_t *values,
                    size_t count)
{
    static const array_type type = {"int8_t", sizeof(*values), 18, text_of_int8};
    put_array(text, &type, name, index, values, count);
}

void aq_export_words(aq_export_text *text, const char *name, uint32_t index, const uint32_t *values,
                     size_t count)
{
    static const array_type type = {"uint32_t", sizeof(*values), 7, text_of_word};
    put_array(text, &type, name, index, values, count);
}

/*
 * Settings, inside: one row's value as text, checked, stored and printed.
 *
 * The YAML file, `--set` and the table's own defaults all come through aq_setting_set, so they
 * accept the same texts and are refused with the same sentences.
 */
#include "common/settings/settings_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/choice.h"
#include "common/base/parse.h"
#include "common/base/utf8.h"
#include "common/settings/settings_table.h"

#define SHOWN_SIZE 64

/* A text from outside for an error message: quoted, on one line, cut at SHOWN_SIZE. */
static const char *show(char *out, const char *text)
{
    size_t used = 1;

    out[0] = '\'';
    while (*text != '\0') {
        uint32_t code_point = 0;
        size_t size = aq_utf8_decode(text, &code_point);

        if (used + 4 > SHOWN_SIZE - sizeof("...'")) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        if (size == 0 || aq_utf8_is_control(code_point)) {
            out[used++] = '?';
            text += size == 0 ? 1 : size;
        } else {
            memcpy(out + used, text, size);
            used += size;
            text += size;
        }
    }
    out[used] = '\'';
    out[used + 1] = '\0';
    return out;
}

static int fail_value(const aq_setting *row, const char *text, const char *why, aq_error *error)
{
    char shown[SHOWN_SIZE];
    char allowed[AQ_SETTING_DESCRIPTION_MAX];

    return aq_fail(error, AQ_E_INVALID, "%s: %s %s (allowed: %s)", row->key, show(shown, text), why,
                   aq_setting_describe(row, allowed, sizeof(allowed)));
}

static int set_u64(const aq_setting *row, const char *text, uint64_t *member, aq_error *error)
{
    uint64_t value;
    const bool is_negative = *text == '-';
    int rc = aq_parse_whole(text + is_negative, &value);

    if (rc == AQ_E_INVALID) {
        return fail_value(row, text, "is not a whole number", error);
    }
    if (rc != 0 || is_negative || (double)value < row->min || (double)value > row->max) {
        return fail_value(row, text, "is out of bounds", error);
    }
    if (member != NULL) {
        *member = value;
    }
    return 0;
}

static int set_f64(const aq_setting *row, const char *text, double *member, aq_error *error)
{
    double value;

    if (aq_parse_f64(text, &value) < 0) {
        return fail_value(row, text, "is not a finite decimal number", error);
    }
    if (value < row->min || value > row->max) {
        return fail_value(row, text, "is out of bounds", error);
    }
    if (member != NULL) {
        *member = value;
    }
    return 0;
}

static int set_bool(const aq_setting *row, const char *text, bool *member, aq_error *error)
{
    bool value;

    if (aq_parse_bool(text, &value) < 0) {
        return fail_value(row, text, "is neither true nor false", error);
    }
    if (member != NULL) {
        *member = value;
    }
    return 0;
}

static int set_text(const aq_setting *row, const char *text, char *member, aq_error *error)
{
    size_t length = strlen(text);

    if (length >= row->size) {
        return fail_value(row, text, "is too long", error);
    }
    if ((double)length < row->min) {
        return fail_value(row, text, "is too short", error);
    }
    if (!aq_utf8_is_plain(text)) {
        return fail_value(row, text, "holds a control character or is not UTF-8", error);
    }
    if (member != NULL) {
        memcpy(member, text, length + 1);
    }
    return 0;
}

/* "[64, 64]" is kept as "64,64", so that what means the same is the same. */
static int set_list(const aq_setting *row, const char *text, char *member, aq_error *error)
{
    char items[AQ_SETTING_LIST_MAX];
    size_t length = strlen(text);
    size_t used = 0;
    const bool is_bracketed = length >= 2 && text[0] == '[' && text[length - 1] == ']';

    if (length >= sizeof(items)) {
        return fail_value(row, text, "is too long", error);
    }
    text += is_bracketed;
    length -= 2 * (size_t)is_bracketed;
    for (size_t i = 0; i < length; i++) {
        const bool starts_item = used == 0 || items[used - 1] == ',';
        const size_t next = i + strspn(text + i, " ");
        const bool ends_item = next >= length || text[next] == ',';

        if (text[i] != ' ' || !(starts_item || ends_item)) {
            items[used++] = text[i];
        }
    }
    items[used] = '\0';
    return set_text(row, items, member, error);
}

static int set_choice(const aq_setting *row, const char *text, uint32_t *member, aq_error *error)
{
    int choice = aq_choice_find(row->choices, text);

    if (choice < 0) {
        return fail_value(row, text, "is none of the choices", error);
    }
    if (member != NULL) {
        *member = (uint32_t)choice;
    }
    return 0;
}

int aq_setting_set(const aq_setting *row, const char *text, void *settings, aq_error *error)
{
    void *member = settings == NULL ? NULL : (char *)settings + row->offset;

    switch (row->type) {
    case AQ_SETTING_U64:
        return set_u64(row, text, member, error);
    case AQ_SETTING_F64:
        return set_f64(row, text, member, error);
    case AQ_SETTING_BOOL:
        return set_bool(row, text, member, error);
    case AQ_SETTING_TEXT:
        return set_text(row, text, member, error);
    case AQ_SETTING_LIST:
        return set_list(row, text, member, error);
    case AQ_SETTING_CHOICE:
        return set_choice(row, text, member, error);
    }
    AQ_ASSERT(false);
    return AQ_E_INVALID;
}

/* "1e-08" becomes "1e-8". */
static void shorten_exponent(char *number)
{
    char *exponent = strchr(number, 'e');

    if (exponent != NULL) {
        char *digits = exponent + 2; /* after the sign, which %g always writes */
        size_t zeros = strspn(digits, "0");

        memmove(digits, digits + zeros, strlen(digits + zeros) + 1);
    }
}

/* The shortest text that reads back to the same number; whole numbers without an exponent. */
static const char *format_f64(char *out, double value)
{
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(out, AQ_SETTING_NUMBER_SIZE, "%.0f", value);
        return out;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, AQ_SETTING_NUMBER_SIZE, "%.*g", digits, value);
        double read = 0;
        if (aq_parse_f64(out, &read) == 0 && read == value) {
            break;
        }
    }
    shorten_exponent(out);
    return out;
}

/* "1 to 64", "at least 1", "at most 64", "any number" */
static void describe_bounds(const aq_setting *row, char *out, size_t size)
{
    bool is_whole = row->type == AQ_SETTING_U64;
    bool has_min = is_whole || row->min > -INFINITY;
    bool has_max = row->max < (is_whole ? 0x1p64 : INFINITY);
    char min[AQ_SETTING_NUMBER_SIZE];
    char max[AQ_SETTING_NUMBER_SIZE];

    if (is_whole) {
        snprintf(min, sizeof(min), "%.0f", fmax(row->min, 0.0));
        snprintf(max, sizeof(max), "%.0f", fmin(row->max, 0x1p64));
    } else {
        format_f64(min, row->min);
        format_f64(max, row->max);
    }
    if (has_min && has_max) {
        snprintf(out, size, "%s to %s", min, max);
    } else if (has_min) {
        snprintf(out, size, "at least %s", min);
    } else if (has_max) {
        snprintf(out, size, "at most %s", max);
    } else {
        snprintf(out, size, "any number");
    }
}

/* "fp32, fp16 or int8" */
static void describe_choices(const aq_setting *row, char *out, size_t size)
{
    for (size_t i = 0; row->choices[i] != NULL; i++) {
        const char *gap = i == 0 ? "" : row->choices[i + 1] == NULL ? " or " : ", ";

        aq_text_append(out, size, "%s%s", gap, row->choices[i]);
    }
}

const char *aq_setting_describe(const aq_setting *row, char *out, size_t size)
{
    char what[192] = "";
    char shown[SHOWN_SIZE];
    const char *initial = row->initial;

    switch (row->type) {
    case AQ_SETTING_U64:
    case AQ_SETTING_F64:
        describe_bounds(row, what, sizeof(what));
        break;
    case AQ_SETTING_BOOL:
        snprintf(what, sizeof(what), "true or false");
        break;
    case AQ_SETTING_TEXT:
    case AQ_SETTING_LIST:
        if (row->min > 0) {
            snprintf(what, sizeof(what), "%.0f to %zu bytes of text", row->min, row->size - 1);
        } else {
            snprintf(what, sizeof(what), "at most %zu bytes of text", row->size - 1);
        }
        initial = show(shown, row->initial);
        break;
    case AQ_SETTING_CHOICE:
        describe_choices(row, what, sizeof(what));
        break;
    }
    snprintf(out, size, "%s%s%s, default %s", what, row->unit[0] == '\0' ? "" : " ", row->unit,
             initial);
    return out;
}

static int append(aq_buffer *out, const char *text)
{
    return aq_buffer_append(out, text, strlen(text));
}

/* A YAML text in double quotes. What libyaml would not read back as it stands, or would fold, is
 * written as its code point. */
static int append_quoted(aq_buffer *out, const char *text)
{
    int rc = append(out, "\"");

    while (rc == 0 && *text != '\0') {
        uint32_t code_point = 0xfffd;
        size_t size = aq_utf8_decode(text, &code_point);
        char escaped[16];

        if (code_point == '"' || code_point == '\\') {
            snprintf(escaped, sizeof(escaped), "\\%c", (int)code_point);
            rc = append(out, escaped);
        } else if (size == 0 || aq_utf8_is_control(code_point) || code_point == 0x2028 ||
                   code_point == 0x2029 || code_point == 0xfeff ||
                   (code_point & 0xfffe) == 0xfffe) {
            snprintf(escaped, sizeof(escaped), "\\U%08" PRIX32, code_point);
            rc = append(out, escaped);
        } else {
            rc = aq_buffer_append(out, text, size);
        }
        text += size == 0 ? 1 : size;
    }
    return rc == 0 ? append(out, "\"") : rc;
}

const char *aq_setting_text(const aq_setting *row, const void *settings, char *number)
{
    const void *member = (const char *)settings + row->offset;

    switch (row->type) {
    case AQ_SETTING_U64:
        snprintf(number, AQ_SETTING_NUMBER_SIZE, "%" PRIu64, *(const uint64_t *)member);
        return number;
    case AQ_SETTING_F64:
        return format_f64(number, *(const double *)member);
    case AQ_SETTING_BOOL:
        return *(const bool *)member ? "true" : "false";
    case AQ_SETTING_TEXT:
    case AQ_SETTING_LIST:
        return member;
    case AQ_SETTING_CHOICE: {
        uint32_t choice = *(const uint32_t *)member;

        for (uint32_t i = 0; i <= choice; i++) {
            AQ_ASSERT(row->choices[i] != NULL);
        }
        return row->choices[choice];
    }
    }
    AQ_ASSERT(false);
    return NULL;
}

int aq_setting_append_value(const aq_setting *row, const void *settings, aq_buffer *out)
{
    char number[AQ_SETTING_NUMBER_SIZE];
    const char *text = aq_setting_text(row, settings, number);

    return aq_setting_is_text(row) ? append_quoted(out, text) : append(out, text);
}

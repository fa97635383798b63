/*
 * Plain text: see plain_text.h.
 */
#include "common/base/plain_text.h"

#include <stdarg.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/utf8.h"

enum { LABEL_COLUMNS = 14, FACT_BYTES_MAX = 1024, LINE_BYTES_MAX = 4096 };

const char *aq_plain_text(char *out, size_t size, const char *text)
{
    AQ_ASSERT(size >= 1);
    size_t used = 0;
    while (*text != '\0') {
        uint32_t code_point = 0;
        size_t bytes = aq_utf8_decode(text, &code_point);
        const char *from = bytes == 0 || aq_utf8_is_control(code_point) ? "?" : text;
        size_t count = from == text ? bytes : 1;
        if (used + count >= size) {
            break;
        }
        memcpy(out + used, from, count);
        used += count;
        text += bytes == 0 ? 1 : bytes;
    }
    out[used] = '\0';
    return out;
}

size_t aq_plain_columns(const char *text)
{
    size_t columns = 0;
    for (; *text != '\0'; text++) {
        columns += ((unsigned char)*text & 0xc0) != 0x80; /* not within a character */
    }
    return columns;
}

void aq_print_line(FILE *out, const char *format, ...)
{
    char line[LINE_BYTES_MAX];
    char plain[LINE_BYTES_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    (void)fprintf(out, "%s\n", aq_plain_text(plain, sizeof(plain), line));
}

void aq_print_failure(FILE *out, const char *who, const char *text)
{
    size_t length = strcspn(text, "\n");
    aq_print_line(out, "%s: %.*s", who, (int)length, text);
    while (text[length] == '\n') {
        text += length + 1;
        length = strcspn(text, "\n");
        aq_print_line(out, "  %.*s", (int)length, text);
    }
}

const char *aq_last_line(const char *text)
{
    const char *end = strrchr(text, '\n');
    return end != NULL ? end + 1 : text;
}

void aq_print_fact(FILE *out, const char *label, const char *format, ...)
{
    char value[FACT_BYTES_MAX];
    char plain[FACT_BYTES_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(value, sizeof(value), format, args);
    va_end(args);
    (void)fprintf(out, "  %-*s  %s\n", LABEL_COLUMNS, label,
                  aq_plain_text(plain, sizeof(plain), value));
}

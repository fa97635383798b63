/*
 * Long text: see long_text.h.
 */
#include "cli/text/long_text.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/base/plain_text.h"
#include "common/base/utf8.h"
#include "common/sys/file.h"

enum { PIECE_BYTES_MAX = 8192 };

void aq_long_text_init(aq_long_text *text, size_t size_max)
{
    aq_buffer_init(&text->bytes, size_max);
    text->rc = 0;
}

void aq_long_text_fini(aq_long_text *text)
{
    aq_buffer_fini(&text->bytes);
}

void aq_long_text_fail(aq_long_text *text, int rc)
{
    text->rc = text->rc != 0 ? text->rc : rc;
}

static void append(aq_long_text *text, const char *piece, size_t size)
{
    if (!text->rc) {
        text->rc = aq_buffer_append(&text->bytes, piece, size);
    }
}

void aq_long_text_add(aq_long_text *text, const char *format, ...)
{
    char piece[PIECE_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(piece, sizeof(piece), format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof(piece)) {
        aq_long_text_fail(text, AQ_E_TOO_BIG);
        return;
    }
    append(text, piece, (size_t)size);
}

void aq_long_text_add_cell(aq_long_text *text, double value)
{
    if (isfinite(value)) {
        aq_long_text_add(text, ",%.10g", value);
    } else {
        aq_long_text_add(text, ",");
    }
}

void aq_long_text_add_html(aq_long_text *text, const char *any)
{
    char plain[PIECE_BYTES_MAX];
    uint32_t code;
    size_t size;
    const char *letter = aq_plain_text(plain, sizeof(plain), any);
    for (; (size = aq_utf8_decode(letter, &code)) > 0; letter += size) {
        switch (code) {
        case '<':
            append(text, "&lt;", 4);
            break;
        case '>':
            append(text, "&gt;", 4);
            break;
        case '&':
            append(text, "&amp;", 5);
            break;
        case '"':
            append(text, "&quot;", 6);
            break;
        case '\'':
            append(text, "&#39;", 5);
            break;
        case 0xFFFE:
        case 0xFFFF:
            append(text, "?", 1);
            break;
        default:
            append(text, letter, size);
        }
    }
}

int aq_long_text_write(const aq_long_text *text, const char *path, aq_error *error)
{
    if (text->rc) {
        return aq_fail(error, text->rc, "%s: %s", path, aq_error_text(text->rc));
    }
    return aq_file_write_atomic(path, text->bytes.data, text->bytes.size, error);
}

int aq_long_text_end(aq_long_text *text, const char *folder, const char *name, aq_error *error)
{
    char path[PATH_MAX];
    int rc = aq_path_in(path, sizeof(path), folder, name, error);
    if (rc == 0) {
        rc = aq_long_text_write(text, path, error);
    }
    aq_long_text_fini(text);
    return rc;
}

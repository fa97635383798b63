/*
 * Logfmt: see logfmt.h.
 */
#include "common/sys/logfmt.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/utf8.h"

/* Up to the quote that closes it, or the end. */
static size_t quoted_length(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0' && text[length] != '"') {
        length += text[length] == '\\' && text[length + 1] != '\0' ? 2 : 1;
    }
    return length;
}

bool aq_logfmt_next(const char **cursor, aq_logfmt_pair *ret_pair)
{
    const char *at = *cursor + strspn(*cursor, " \n");
    if (*at == '\0') {
        *cursor = at;
        return false;
    }
    aq_logfmt_pair pair = {.key = at, .key_length = strcspn(at, "= \n")};
    at += pair.key_length;
    at += *at == '=';
    pair.is_quoted = at[0] == '"' && at[-1] == '=';
    at += pair.is_quoted;
    pair.value = at;
    if (pair.is_quoted) {
        pair.value_length = quoted_length(at);
        at += pair.value_length;
        at += *at == '"';
    } else if (at[-1] == '=') {
        pair.value_length = strcspn(at, " \n");
        at += pair.value_length;
    }
    *cursor = at;
    *ret_pair = pair;
    return true;
}

size_t aq_logfmt_escape(const char *text, char out[AQ_LOGFMT_ESCAPED_MAX])
{
    uint32_t code_point = 0;
    size_t size = aq_utf8_decode(text, &code_point);

    if (size == 0) { /* not UTF-8: the replacement character stands for the byte */
        snprintf(out, AQ_LOGFMT_ESCAPED_MAX, "\\ufffd");
        return 1;
    }
    if (code_point == '"' || code_point == '\\') {
        snprintf(out, AQ_LOGFMT_ESCAPED_MAX, "\\%c", (int)code_point);
    } else if (code_point == '\n') {
        snprintf(out, AQ_LOGFMT_ESCAPED_MAX, "\\n");
    } else if (code_point == '\t') {
        snprintf(out, AQ_LOGFMT_ESCAPED_MAX, "\\t");
    } else if (aq_utf8_is_control(code_point)) {
        snprintf(out, AQ_LOGFMT_ESCAPED_MAX, "\\u%04x", (unsigned)code_point & 0xffffu);
    } else {
        memcpy(out, text, size);
        out[size] = '\0';
    }
    return size;
}

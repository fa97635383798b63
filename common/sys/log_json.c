/*
 * Log lines as JSON: see log_json.h.
 *
 * A member is written where it may turn out not to fit; then the writer goes back to where it
 * began. What stands between the quotes of a logfmt value is JSON already (aq_logfmt_escape).
 */
#include "common/sys/log_json.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/sys/logfmt.h"

enum { NUMBER_LENGTH_MAX = 15 };

static const char cut_member[] = ",\"cut\":true";
static const char message_key[] = ",\"msg\":";
static const char end_of_line[] = "}\n";

typedef struct json_writer {
    char *out;
    size_t used;
    size_t limit; /* may be used */
    bool is_full; /* something did not fit */
} json_writer;

static void put_bytes(json_writer *to, const char *bytes, size_t size)
{
    if (to->is_full || to->limit - to->used < size) {
        to->is_full = true;
        return;
    }
    memcpy(to->out + to->used, bytes, size);
    to->used += size;
}

static void put(json_writer *to, const char *text)
{
    put_bytes(to, text, strlen(text));
}

/* A bare text of `length` bytes, which ends at a blank or the end of the line: no character of
 * several bytes reaches over that. */
static void put_text(json_writer *to, const char *text, size_t length)
{
    char escaped[AQ_LOGFMT_ESCAPED_MAX];
    put(to, "\"");
    for (size_t i = 0; i < length;) {
        i += aq_logfmt_escape(text + i, escaped);
        put(to, escaped);
    }
    put(to, "\"");
}

static size_t skip_digits(const char *text, size_t at, size_t length)
{
    while (at < length && isdigit((unsigned char)text[at])) {
        at++;
    }
    return at;
}

/* JSON's grammar: -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool is_number(const char *text, size_t length)
{
    size_t at = length > 0 && text[0] == '-' ? 1 : 0;
    size_t end = skip_digits(text, at, length);
    if (length > NUMBER_LENGTH_MAX || end == at || (text[at] == '0' && end > at + 1)) {
        return false;
    }
    if (end < length && text[end] == '.') {
        at = end + 1;
        end = skip_digits(text, at, length);
        if (end == at) {
            return false;
        }
    }
    if (end < length && (text[end] == 'e' || text[end] == 'E')) {
        at = end + 1;
        at += at < length && (text[at] == '-' || text[at] == '+');
        end = skip_digits(text, at, length);
        if (end == at) {
            return false;
        }
    }
    return end == length;
}

static bool is_one_of(const char *const *words, const char *text, size_t length)
{
    for (; *words; words++) {
        if (strlen(*words) == length && memcmp(*words, text, length) == 0) {
            return true;
        }
    }
    return false;
}

static void put_value(json_writer *to, const aq_logfmt_pair *pair)
{
    static const char *const booleans[] = {"true", "false", NULL};
    static const char *const no_numbers[] = {"nan", "-nan", "inf", "-inf", NULL};
    if (pair->is_quoted) {
        put(to, "\"");
        put_bytes(to, pair->value, pair->value_length);
        put(to, "\"");
    } else if (is_number(pair->value, pair->value_length) ||
               is_one_of(booleans, pair->value, pair->value_length)) {
        put_bytes(to, pair->value, pair->value_length);
    } else if (is_one_of(no_numbers, pair->value, pair->value_length)) {
        put(to, "null");
    } else {
        put_text(to, pair->value, pair->value_length);
    }
}

/* False when one did not fit; those before it are there. */
static bool put_pairs(json_writer *to, const char *pairs)
{
    aq_logfmt_pair pair;
    while (aq_logfmt_next(&pairs, &pair)) {
        size_t before = to->used;
        put(to, before > 1 ? "," : "");
        put_text(to, pair.key, pair.key_length);
        put(to, ":");
        put_value(to, &pair);
        if (to->is_full) {
            to->used = before;
            to->is_full = false;
            return false;
        }
    }
    return true;
}

size_t aq_log_json_line(const char *head, const char *fields, const char *quoted_message,
                        char out[AQ_LOG_JSON_LINE_MAX])
{
    json_writer to = {.out = out, .limit = AQ_LOG_JSON_LINE_MAX};
    size_t message_size =
        quoted_message[0] != '\0' ? strlen(message_key) + strlen(quoted_message) : 0;

    put(&to, "{");
    bool has_head = put_pairs(&to, head);
    AQ_ASSERT(has_head);
    size_t reserved = strlen(cut_member) + message_size + strlen(end_of_line);
    AQ_ASSERT(to.used + reserved <= AQ_LOG_JSON_LINE_MAX);
    to.limit = AQ_LOG_JSON_LINE_MAX - reserved;
    bool has_fields = put_pairs(&to, fields);
    to.limit = AQ_LOG_JSON_LINE_MAX;
    put(&to, has_fields ? "" : cut_member);
    if (message_size > 0) {
        put(&to, message_key);
        put(&to, quoted_message);
    }
    put(&to, end_of_line);
    AQ_ASSERT(!to.is_full);
    return to.used;
}

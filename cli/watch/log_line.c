/*
 * Log line: see log_line.h.
 *
 * A JSON line is made a logfmt line first, so that what follows knows one form only.
 */
#include "cli/watch/log_line.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/sys/logfmt.h"

/* ---- JSON to logfmt ------------------------------------------------------------------------- */

static bool needs_quotes(const char *text)
{
    return text[0] == '\0' || strpbrk(text, " \"\\=\n\t") != NULL;
}

static void add_member(char *out, const char *key, const json_t *value)
{
    char quoted[AQ_LOG_LINE_BYTES];
    char *dumped = NULL;
    const char *text = json_string_value(value);
    if (text != NULL) {
        /* A text that looks like a number is no number, and a message is always in quotes. */
        text = needs_quotes(text) || strcmp(key, "msg") == 0
                   ? aq_log_quote(quoted, sizeof(quoted), text)
                   : text;
    } else if (json_is_null(value)) {
        text = "nan";
    } else {
        dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        text = dumped != NULL ? dumped : "?";
    }
    aq_text_append(out, AQ_LOG_LINE_BYTES, "%s%s=%s", out[0] != '\0' ? " " : "", key, text);
    free(dumped);
}

/* False when it is no JSON object. */
static bool flatten(const char *text, char *out)
{
    const char *key;
    json_t *value;
    json_t *object = text[0] == '{' ? json_loads(text, 0, NULL) : NULL;
    out[0] = '\0';
    json_object_foreach(object, key, value)
    {
        add_member(out, key, value);
    }
    json_decref(object);
    return object != NULL;
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_key(const aq_logfmt_pair *pair, const char *key)
{
    return pair->key_length == strlen(key) && memcmp(pair->key, key, pair->key_length) == 0;
}

/* Cut to fit. */
static void take_value(const aq_logfmt_pair *pair, char *out, size_t size)
{
    size_t length = pair->value_length < size - 1 ? pair->value_length : size - 1;
    memcpy(out, pair->value, length);
    out[length] = '\0';
}

/* It is shown as it is, and lines are sorted by it: one that is no time is none. */
static void take_time(const aq_logfmt_pair *pair, char out[AQ_LOG_TS_BYTES])
{
    take_value(pair, out, AQ_LOG_TS_BYTES);
    if (out[strspn(out, "0123456789-:.TZ")] != '\0') {
        out[0] = '\0';
    }
}

/* False for a pair that is the event's own. */
static bool take_pair(const aq_logfmt_pair *pair, aq_log_line *line)
{
    char word[AQ_LOG_WORD_BYTES];
    if (is_key(pair, "ts")) {
        take_time(pair, line->ts);
    } else if (is_key(pair, "level")) {
        take_value(pair, word, sizeof(word));
        int rc = aq_log_level_from_text(word, &line->level);
        (void)rc; /* one of another version counts as info */
    } else if (is_key(pair, "role")) {
        take_value(pair, line->role, sizeof(line->role));
    } else if (is_key(pair, "id")) {
        take_value(pair, word, sizeof(word));
        int rc = aq_parse_i64(word, &line->id);
        (void)rc; /* it stays without */
    } else if (is_key(pair, "event")) {
        take_value(pair, line->event, sizeof(line->event));
    } else if (is_key(pair, "msg")) {
        take_value(pair, line->message, sizeof(line->message));
    } else {
        return false;
    }
    return true;
}

void aq_log_line_read(const char *text, aq_log_line *ret_line)
{
    char flat[AQ_LOG_LINE_BYTES];
    aq_logfmt_pair pair;
    size_t used = 0;
    const char *at = flatten(text, flat) ? flat : text;
    *ret_line = (aq_log_line){.level = AQ_LOG_INFO, .id = -1};
    if (strncmp(at, "ts=", 3) != 0) {
        ret_line->is_text = true;
        (void)snprintf(ret_line->pairs, sizeof(ret_line->pairs), "%s", text);
        return;
    }
    while (aq_logfmt_next(&at, &pair)) {
        size_t length = (size_t)(at - pair.key);
        if (!take_pair(&pair, ret_line) && used + length + 2 < sizeof(ret_line->pairs)) {
            if (used > 0) {
                ret_line->pairs[used++] = ' ';
            }
            memcpy(ret_line->pairs + used, pair.key, length);
            used += length;
            ret_line->pairs[used] = '\0';
        }
    }
}

const char *aq_log_line_logfmt(const aq_log_line *line, char *out)
{
    char id[32] = "";
    if (line->is_text) {
        (void)snprintf(out, (size_t)AQ_LOG_LINE_BYTES * 2, "%s", line->pairs);
        return out;
    }
    if (line->id >= 0) {
        (void)snprintf(id, sizeof(id), "id=%lld ", (long long)line->id);
    }
    (void)snprintf(out, (size_t)AQ_LOG_LINE_BYTES * 2, "ts=%s level=%s role=%s %sevent=%s%s%s",
                   line->ts, aq_log_level_name(line->level), line->role, id, line->event,
                   line->pairs[0] != '\0' ? " " : "", line->pairs);
    if (line->message[0] != '\0') {
        aq_text_append(out, (size_t)AQ_LOG_LINE_BYTES * 2, " msg=\"%s\"", line->message);
    }
    return out;
}

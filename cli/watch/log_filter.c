/*
 * Log filter: see log_filter.h.
 */
#define _GNU_SOURCE /* strptime, timegm */

#include "cli/watch/log_filter.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "common/base/choice.h"
#include "common/base/clock.h"
#include "common/base/parse.h"

enum { NUMBER_BYTES = 24 };

/* Seconds of a unit; 0 for none. */
static int64_t unit_s(char unit)
{
    switch (unit) {
    case 's':
        return 1;
    case 'm':
        return 60;
    case 'h':
        return 3600;
    case 'd':
        return 86400;
    default:
        return 0;
    }
}

/* "15m" */
static bool parse_age(const char *text, int64_t *ret_s)
{
    char number[NUMBER_BYTES];
    size_t length = strlen(text);
    uint64_t count = 0;
    if (length < 2 || length > NUMBER_BYTES || unit_s(text[length - 1]) == 0) {
        return false;
    }
    memcpy(number, text, length - 1);
    number[length - 1] = '\0';
    if (aq_parse_u64(number, &count) != 0 || count > INT32_MAX) {
        return false;
    }
    *ret_s = (int64_t)count * unit_s(text[length - 1]);
    return true;
}

/* Whether a clock and a calendar show it; what it leaves away is the least that there is. */
static bool is_time(const char *text, size_t length)
{
    char whole[] = "0000-00-00T00:00:00";
    struct tm parts = {0};
    memcpy(whole, text, length < strlen(whole) ? length : strlen(whole));
    if (strptime(whole, "%Y-%m-%dT%H:%M:%S", &parts) == NULL || parts.tm_sec > 60) {
        return false;
    }
    const int day = parts.tm_mday;
    parts.tm_sec = 0; /* a leap second would be of the next minute */
    (void)timegm(&parts);
    return parts.tm_mday == day; /* of a month that has it */
}

/* Whether it is a beginning of such a moment, of at least a day. */
static bool is_moment(const char *text)
{
    static const char shape[] = "0000-00-00T00:00:00.000Z";
    size_t length = strlen(text);
    if (length < strlen("0000-00-00") || length > strlen(shape)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (shape[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != shape[i]) {
            return false;
        }
    }
    return is_time(text, length);
}

int aq_log_filter_since(aq_log_filter *filter, const char *text, int64_t now_ns, aq_error *error)
{
    int64_t age_s = 0;
    if (parse_age(text, &age_s)) {
        time_t then = (time_t)(now_ns / AQ_NS_PER_S - age_s);
        struct tm utc;
        if (gmtime_r(&then, &utc)) {
            (void)strftime(filter->since, sizeof(filter->since), "%Y-%m-%dT%H:%M:%S", &utc);
            return 0;
        }
    }
    if (!is_moment(text)) {
        return aq_fail(error, AQ_E_INVALID,
                       "'%s' is neither a time ago (30s, 15m, 2h, 1d) nor a moment in UTC "
                       "(2026-11-20, 2026-11-20T10:30)",
                       text);
    }
    return aq_text_set(filter->since, sizeof(filter->since), text);
}

int aq_log_filter_role(aq_log_filter *filter, const char *text, aq_error *error)
{
    static const char *const roles[] = {"learner", "replay", "actor", "evaluator", NULL};
    if (aq_choice_find(roles, text) < 0) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not one of learner, replay, actor, evaluator",
                       text);
    }
    filter->role = text;
    return 0;
}

/* "actor-3" is of the role actor and of id 3. */
static bool passes_by_name(const aq_log_filter *filter, const char *name)
{
    const char *dash = strrchr(name, '-');
    size_t length = dash ? (size_t)(dash - name) : strlen(name);
    int64_t id = -1;
    if (filter->role &&
        (strlen(filter->role) != length || memcmp(filter->role, name, length) != 0)) {
        return false;
    }
    return filter->id < 0 || (dash && aq_parse_i64(dash + 1, &id) == 0 && id == filter->id);
}

bool aq_log_filter_passes(const aq_log_filter *filter, const aq_log_line *line, const char *name,
                          const char *time)
{
    if (strcmp(time, filter->since) < 0) {
        return false;
    }
    if (line->is_text) {
        return !filter->event && passes_by_name(filter, name);
    }
    return line->level >= filter->level && (filter->id < 0 || line->id == filter->id) &&
           (!filter->role || strcmp(filter->role, line->role) == 0) &&
           (!filter->event || strcmp(filter->event, line->event) == 0);
}

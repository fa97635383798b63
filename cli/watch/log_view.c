/*
 * Log view: see log_view.h.
 */
#include "cli/watch/log_view.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/plain_text.h"
#include "common/sys/log_json.h"

enum { DAY_LENGTH = 10, CLOCK_BEGINS = 11, CLOCK_LENGTH = 12, WHO_COLUMNS = 12 };

static const char reset[] = "\033[0m";
static const char bold[] = "\033[1m";
static const char dim[] = "\033[2m";

static const char *colour_of(enum aq_log_level level)
{
    switch (level) {
    case AQ_LOG_DEBUG:
        return dim;
    case AQ_LOG_WARN:
        return "\033[33m";
    case AQ_LOG_ERROR:
        return "\033[31m";
    default:
        return "";
    }
}

/* ---- for people ----------------------------------------------------------------------------- */

static const char *only_if(bool wanted, const char *text)
{
    return wanted ? text : "";
}

static void print_day(aq_log_view *view, FILE *out, const char *time)
{
    if (strlen(time) >= CLOCK_BEGINS && strncmp(view->day, time, DAY_LENGTH) != 0) {
        (void)snprintf(view->day, sizeof(view->day), "%.*s", (int)DAY_LENGTH, time);
        (void)fprintf(out, "%s%s (UTC)%s\n", only_if(view->has_colour, bold), view->day,
                      only_if(view->has_colour, reset));
    }
}

/* What a message says, as it was before it was put in quotes. */
static const char *unquote(const char *quoted, char *out)
{
    char text[AQ_LOG_LINE_BYTES + 2];
    (void)snprintf(text, sizeof(text), "\"%s\"", quoted);
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    const char *plain = json_string_value(value);
    (void)aq_plain_text(out, AQ_LOG_LINE_BYTES, plain ? plain : quoted);
    json_decref(value);
    return out;
}

static void print_text(const aq_log_view *view, FILE *out, const char *text, const char *name,
                       const char *clock)
{
    char plain[AQ_LOG_LINE_BYTES];
    (void)fprintf(out, "%-*.*s %s%-5s%s %-*s %s\n", (int)CLOCK_LENGTH, (int)CLOCK_LENGTH, clock,
                  only_if(view->has_colour, dim), "-", only_if(view->has_colour, reset),
                  (int)WHO_COLUMNS, name, aq_plain_text(plain, sizeof(plain), text));
}

static void print_event(const aq_log_view *view, FILE *out, const aq_log_line *line,
                        const char *clock)
{
    char who[2 * AQ_LOG_WORD_BYTES];
    char plain[AQ_LOG_LINE_BYTES];
    if (line->id >= 0) {
        (void)snprintf(who, sizeof(who), "%s-%lld", line->role, (long long)line->id);
    } else {
        (void)snprintf(who, sizeof(who), "%s", line->role);
    }
    (void)fprintf(out, "%-*.*s %s%-5s%s", (int)CLOCK_LENGTH, (int)CLOCK_LENGTH, clock,
                  only_if(view->has_colour, colour_of(line->level)), aq_log_level_name(line->level),
                  only_if(view->has_colour, reset));
    (void)fprintf(out, " %-*s", (int)WHO_COLUMNS, aq_plain_text(plain, sizeof(plain), who));
    (void)fprintf(out, " %s%s%s", only_if(view->has_colour, bold),
                  aq_plain_text(plain, sizeof(plain), line->event),
                  only_if(view->has_colour, reset));
    if (line->pairs[0] != '\0') {
        (void)fprintf(out, " %s", aq_plain_text(plain, sizeof(plain), line->pairs));
    }
    if (line->message[0] != '\0') {
        (void)fprintf(out, "  %s%s%s", only_if(view->has_colour, colour_of(line->level)),
                      unquote(line->message, plain), only_if(view->has_colour, reset));
    }
    (void)fputc('\n', out);
}

/* ---- as JSON -------------------------------------------------------------------------------- */

static void print_json(FILE *out, const aq_log_line *line, const char *name, const char *time)
{
    char logfmt[2 * AQ_LOG_LINE_BYTES], plain[2 * AQ_LOG_LINE_BYTES];
    char json[AQ_LOG_JSON_LINE_MAX];
    if (!line->is_text) {
        (void)aq_plain_text(plain, sizeof(plain), aq_log_line_logfmt(line, logfmt));
        size_t size = aq_log_json_line("", plain, "", json);
        (void)fwrite(json, 1, size, out);
        return;
    }
    json_t *object = json_pack("{s:s, s:s, s:s}", "ts", time, "file", name, "text",
                               aq_plain_text(plain, sizeof(plain), line->pairs));
    char *text = json_dumps(object, JSON_COMPACT);
    (void)fprintf(out, "%s\n", text ? text : "{}");
    free(text);
    json_decref(object);
}

void aq_log_view_print(aq_log_view *view, FILE *out, const aq_log_line *line, const char *name,
                       const char *time)
{
    char plain_name[AQ_LOG_WORD_BYTES];
    const char *clock = strlen(time) > CLOCK_BEGINS ? time + CLOCK_BEGINS : "";
    (void)aq_plain_text(plain_name, sizeof(plain_name), name);
    if (view->as_json) {
        print_json(out, line, plain_name, time);
        return;
    }
    print_day(view, out, time);
    if (line->is_text) {
        print_text(view, out, line->pairs, plain_name, clock);
    } else {
        print_event(view, out, line, clock);
    }
}

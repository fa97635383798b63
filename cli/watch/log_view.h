/*
 * Log view: how a line of a merged log is shown, for people or as JSON. One thread.
 */
#ifndef AQ_CLI_WATCH_LOG_VIEW_H
#define AQ_CLI_WATCH_LOG_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/watch/log_line.h"

typedef struct aq_log_view {
    bool as_json;
    bool has_colour;
    char day[16]; /* that was shown last */
} aq_log_view;

/* `name` is what the line's file is called, `time` when it stands. For people: the time of day, the
 * level, who, the event with its pairs, the message; each new day has a line of its own. As JSON:
 * the line as one object; one that is a text has `file` and `text`. */
void aq_log_view_print(aq_log_view *view, FILE *out, const aq_log_line *line, const char *name,
                       const char *time);

#endif

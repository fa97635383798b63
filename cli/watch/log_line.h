/*
 * Log line: one line of a daemon's log, in logfmt or JSON, as its parts. A line that is neither (a
 * refusal at the start, the last words of a crash) is a text.
 */
#ifndef AQ_CLI_WATCH_LOG_LINE_H
#define AQ_CLI_WATCH_LOG_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/sys/log.h"

/* More than the longest line in either form. */
enum { AQ_LOG_LINE_BYTES = 16384, AQ_LOG_TS_BYTES = 32, AQ_LOG_WORD_BYTES = 64 };

typedef struct aq_log_line {
    bool is_text;             /* then `pairs` is all of it, and the rest is empty */
    char ts[AQ_LOG_TS_BYTES]; /* "2026-11-20T10:30:38.805Z": texts sort as times; "": none */
    enum aq_log_level level;
    char role[AQ_LOG_WORD_BYTES];
    int64_t id; /* -1: none */
    char event[AQ_LOG_WORD_BYTES];
    char pairs[AQ_LOG_LINE_BYTES];   /* the event's own, in logfmt */
    char message[AQ_LOG_LINE_BYTES]; /* escaped as in the line; "" for none */
} aq_log_line;

/* `text` is a line without its end, shorter than AQ_LOG_LINE_BYTES. */
void aq_log_line_read(const char *text, aq_log_line *ret_line);

/* The whole of it as logfmt, into out[AQ_LOG_LINE_BYTES * 2]; a text as it is. Returns `out`. */
const char *aq_log_line_logfmt(const aq_log_line *line, char *out);

#endif

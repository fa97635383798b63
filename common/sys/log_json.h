/*
 * Log lines as JSON: one object a line, with the members of the logfmt line in its order. Any
 * thread.
 */
#ifndef AQ_COMMON_SYS_LOG_JSON_H
#define AQ_COMMON_SYS_LOG_JSON_H

#include <stddef.h>

/* A JSON line stays under PIPE_BUF, so that it reaches a pipe whole. */
enum { AQ_LOG_JSON_LINE_MAX = 4096 };

/* Writes {"ts": …} of the pairs in `head` and `fields` (logfmt, no control characters) and a
 * message in quotes ("": none), and a newline, into `out`; returns the bytes. Head and message must
 * leave room; of the fields as many as fit are kept, and "cut" is true when some are not.
 *
 * A bare value is a number if it is one in JSON and has at most 15 characters, so that ids of 16
 * digits are texts whatever digits they have; true and false are what they are; nan and inf are
 * null. All else is a text, in which what is not UTF-8 is \ufffd. */
size_t aq_log_json_line(const char *head, const char *fields, const char *quoted_message,
                        char out[AQ_LOG_JSON_LINE_MAX]);

#endif

/*
 * Plain text: what a peer or a file says, made fit for a terminal, and lines of it. A host name or
 * a task from elsewhere must not move the cursor or change the title of the window.
 */
#ifndef AQ_COMMON_BASE_PLAIN_TEXT_H
#define AQ_COMMON_BASE_PLAIN_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"

/* Copies `text` into out[size], cut to fit between two characters; what is not UTF-8 and control
 * characters become '?'. Returns `out`. `size` is at least 1. */
const char *aq_plain_text(char *out, size_t size, const char *text);

/* Columns that a text takes which aq_plain_text made: one a character. */
size_t aq_plain_columns(const char *text);

/* One line of at most 4 KiB, made plain, and a newline. */
void aq_print_line(FILE *out, const char *format, ...) AQ_PRINTF(2, 3);

/* "who: text"; lines of a text that has several, such as a traceback, stand indented below. */
void aq_print_failure(FILE *out, const char *who, const char *text);

/* The last line of a text that has several, which of a traceback is what was raised. */
const char *aq_last_line(const char *text);

/* "  label         value" and a newline; the value, of at most 1 KiB, is made plain. */
void aq_print_fact(FILE *out, const char *label, const char *format, ...) AQ_PRINTF(3, 4);

#endif

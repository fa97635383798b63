/*
 * Long text: a text that is written piece by piece. The first failure is kept and what follows is
 * dropped, so that the writer asks once, in the end. One thread.
 */
#ifndef AQ_CLI_TEXT_LONG_TEXT_H
#define AQ_CLI_TEXT_LONG_TEXT_H

#include "common/base/buffer.h"
#include "common/base/error.h"

typedef struct aq_long_text {
    aq_buffer bytes;
    int rc; /* of the first that failed */
} aq_long_text;

void aq_long_text_init(aq_long_text *text, size_t size_max);
void aq_long_text_fini(aq_long_text *text);

/* What follows a failure is dropped; `rc` 0 is none. */
void aq_long_text_fail(aq_long_text *text, int rc);

/* As printf; a piece of 8 KiB at most, AQ_E_TOO_BIG. */
void aq_long_text_add(aq_long_text *text, const char *format, ...) AQ_PRINTF(2, 3);

/* A cell of CSV that is not a row's first: a comma, and the number where it is finite. */
void aq_long_text_add_cell(aq_long_text *text, double value);

/* Any text, as one that HTML and SVG show: made plain (plain_text.h), without what XML must not
 * hold, and with < > & and quotes escaped. */
void aq_long_text_add_html(aq_long_text *text, const char *any);

/* Writes it whole, or not at all; what failed before is said now. */
int aq_long_text_write(const aq_long_text *text, const char *path, aq_error *error) AQ_MUST_USE;

/* Likewise, as that file of the folder, and frees it. */
int aq_long_text_end(aq_long_text *text, const char *folder, const char *name,
                     aq_error *error) AQ_MUST_USE;

#endif

/*
 * HTML page: what pages that we write have in common: one file that needs no other, with tables,
 * figures as SVG and words. Light or dark as the reader has it, and fit to be printed.
 */
#ifndef AQ_CLI_TEXT_HTML_PAGE_H
#define AQ_CLI_TEXT_HTML_PAGE_H

#include "cli/text/long_text.h"

/* Up to the body's content; `title` may be any text. */
void aq_html_begin(aq_long_text *out, const char *title);
void aq_html_end(aq_long_text *out);

void aq_html_heading(aq_long_text *out, const char *text); /* <h1> */

/* A table below its caption: what its heads are (<th>), then its rows. */
void aq_html_table_begin(aq_long_text *out, const char *caption);
void aq_html_table_rows(aq_long_text *out);
void aq_html_table_end(aq_long_text *out);

/* A cell of a table: a figure, which stands on the right, or words, which stand on the left. */
void aq_html_figure(aq_long_text *out, const char *text);
void aq_html_words(aq_long_text *out, const char *text);

/* A figure and what it varies by, which is NULL where nobody knows. */
void aq_html_mean(aq_long_text *out, const char *mean, const char *spread);

/* How figures were come by, folded away: its rows, of two cells each, go between. */
void aq_html_methods_begin(aq_long_text *out);
void aq_html_method(aq_long_text *out, const char *figure, const char *text);
void aq_html_methods_end(aq_long_text *out);

/* Each line that is not empty, between two elements of HTML; `lines` is done with then. One that
 * failed has none. */
void aq_html_lines(aq_long_text *out, aq_long_text *lines, const char *before, const char *after);

#endif

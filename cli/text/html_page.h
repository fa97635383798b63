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

/* A cell of a table: a figure, which stands on the right, or words, which stand on the left. */
void aq_html_figure(aq_long_text *out, const char *text);
void aq_html_words(aq_long_text *out, const char *text);

#endif

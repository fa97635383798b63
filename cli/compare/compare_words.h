/*
 * Compare words: what the figures say, in sentences: where int8 helps here, and where it does not.
 * Each sentence comes from numbers of the summary, and one whose numbers are missing is not said.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_WORDS_H
#define AQ_CLI_COMPARE_COMPARE_WORDS_H

#include "cli/compare/compare_summary.h"
#include "cli/text/long_text.h"

enum { AQ_COMPARE_METHODS = 6 };

/* How a figure of both the page and the terminal was come by. */
typedef struct aq_compare_method {
    const char *figure; /* its column */
    const char *text;
} aq_compare_method;

/* Static storage; i < AQ_COMPARE_METHODS. */
const aq_compare_method *aq_compare_method_at(size_t i);

/* One paragraph of plain text for each precision beside the baseline; of modes
 * compare_mode_words.h's. */
void aq_compare_words(const aq_compare_summary *summary, aq_long_text *out);

#endif

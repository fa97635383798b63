/*
 * Compare words: what the figures say, in sentences: where int8 helps here, and where it does not.
 * Each sentence comes from numbers of the summary, and one whose numbers are missing is not said.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_WORDS_H
#define AQ_CLI_COMPARE_COMPARE_WORDS_H

#include "cli/compare/compare_summary.h"
#include "cli/text/long_text.h"

/* One paragraph of plain text for each precision beside the baseline; of modes
 * compare_mode_words.h's. */
void aq_compare_words(const aq_compare_summary *summary, aq_long_text *out);

#endif

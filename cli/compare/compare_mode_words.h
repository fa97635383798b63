/*
 * Compare mode words: what the figures of a comparison of modes say, in sentences: the four
 * questions of such a comparison, answered as far as these figures answer them. Which sentence is
 * said follows from the numbers, and where they cannot tell modes apart, that is said.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_MODE_WORDS_H
#define AQ_CLI_COMPARE_COMPARE_MODE_WORDS_H

#include "cli/compare/compare_summary.h"
#include "cli/text/long_text.h"

/* A paragraph of plain text for what each mode was, and one for each question. */
void aq_compare_mode_words(const aq_compare_summary *summary, aq_long_text *out);

#endif

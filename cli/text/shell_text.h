/*
 * Shell text: what a person may copy into a shell, as a shell takes it.
 */
#ifndef AQ_CLI_TEXT_SHELL_TEXT_H
#define AQ_CLI_TEXT_SHELL_TEXT_H

#include <stddef.h>

/* `word` as one word of a shell: between quotes where it needs them. Returns `out`; one that does
 * not fit is cut. */
const char *aq_shell_word(char *out, size_t size, const char *word);

/* What to type for this program, as such a word: ./run says so when it is what was called. Returns
 * `out`. */
const char *aq_shell_program(char *out, size_t size);

#endif

/*
 * Words: the arguments that another program is started with, put together one by one. The texts are
 * the caller's. Any thread, each on words of its own.
 */
#ifndef AQ_CLI_LAUNCH_WORDS_H
#define AQ_CLI_LAUNCH_WORDS_H

#include <stddef.h>

enum { AQ_WORDS_MAX = 256 }; /* more are an assertion */

typedef struct aq_words {
    const char *list[AQ_WORDS_MAX + 1]; /* NULL-terminated */
    size_t count;
} aq_words;

/* An option and its value, two operands, or one word and NULL. */
void aq_words_add(aq_words *words, const char *name, const char *value);

#endif

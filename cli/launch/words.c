/*
 * Words: see words.h.
 */
#include "cli/launch/words.h"

#include "common/base/assert.h"

void aq_words_add(aq_words *words, const char *name, const char *value)
{
    AQ_ASSERT(words->count + 2 <= AQ_WORDS_MAX);
    words->list[words->count++] = name;
    if (value != NULL) {
        words->list[words->count++] = value;
    }
}

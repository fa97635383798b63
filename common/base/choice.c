/*
 * Choice: see choice.h.
 */
#include "common/base/choice.h"

#include <stddef.h>
#include <string.h>

uint32_t aq_choice_count(const char *const *words)
{
    uint32_t count = 0;
    while (words[count] != NULL) {
        count++;
    }
    return count;
}

int aq_choice_find(const char *const *words, const char *text)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            return i;
        }
    }
    return AQ_E_INVALID;
}

/*
 * Shell text: see shell_text.h.
 */
#include "cli/text/shell_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* That no shell reads anything into. */
static bool is_plain(const char *word)
{
    for (const char *letter = word; *letter != '\0'; letter++) {
        if (!isalnum((unsigned char)*letter) && strchr("_-+./:,=@%", *letter) == NULL) {
            return false;
        }
    }
    return word[0] != '\0';
}

const char *aq_shell_word(char *out, size_t size, const char *word)
{
    if (is_plain(word)) {
        (void)snprintf(out, size, "%s", word);
        return out;
    }
    static const char quote[] = "'\\''"; /* ends the text, gives a quote, and begins it again */
    size_t used = 0;
    out[used++] = '\'';
    for (const char *letter = word; *letter != '\0' && used + sizeof(quote) < size; letter++) {
        if (*letter == '\'') {
            memcpy(out + used, quote, sizeof(quote) - 1);
            used += sizeof(quote) - 1;
        } else {
            out[used++] = *letter;
        }
    }
    out[used++] = '\'';
    out[used] = '\0';
    return out;
}

const char *aq_shell_program(char *out, size_t size)
{
    const char *name = getenv("ACTORQ_CALLED_AS");
    return aq_shell_word(out, size, name != NULL && name[0] != '\0' ? name : "actorq");
}

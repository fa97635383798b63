/*
 * Refusal: see refusal.h.
 */
#include "cli/train/refusal.h"

#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 1024 };

/* "actorq-learner: words": the words; NULL for another line. */
static const char *words_of(const char *line)
{
    static const char prefix[] = "actorq-";
    const char *colon = strstr(line, ": ");
    return strncmp(line, prefix, sizeof(prefix) - 1) == 0 && colon != NULL &&
                   strcspn(line, " =") > (size_t)(colon - line)
               ? colon + 2
               : NULL;
}

bool aq_refusal_read(const char *log_path, char *out, size_t size)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *log = fopen(log_path, "re");
    while (log != NULL && fgets(line, sizeof(line), log) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *words = words_of(line);
        if (words != NULL) {
            (void)snprintf(out, size, "%s", words);
            found = true;
        }
    }
    if (log != NULL) {
        (void)fclose(log);
    }
    return found;
}

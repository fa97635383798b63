/*
 * Refusal: see refusal.h.
 */
#include "cli/launch/refusal.h"

#include <stdio.h>
#include <string.h>

#include "common/base/plain_text.h"

enum { LINE_BYTES = 16384, LOG_TAIL_LINES = 12 };

/* Of a line "actorq-learner: words" the words. */
static bool find_words(const char *line, char *out, size_t size)
{
    static const char prefix[] = "actorq-";
    const char *colon = strstr(line, ": ");
    if (strncmp(line, prefix, sizeof(prefix) - 1) != 0 || colon == NULL ||
        strcspn(line, " =") <= (size_t)(colon - line)) {
        return false;
    }
    (void)snprintf(out, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    return true;
}

bool aq_refusal_read(const char *log_path, int64_t from, char *out, size_t size)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *log = fopen(log_path, "re");
    const bool is_there = log != NULL && fseeko(log, (off_t)from, SEEK_SET) == 0;
    while (is_there && fgets(line, sizeof(line), log) != NULL) {
        found = find_words(line, out, size) || found;
    }
    if (log != NULL) {
        (void)fclose(log);
    }
    return found;
}

static void print_tail(const char *path)
{
    char lines[LOG_TAIL_LINES][512];
    size_t count = 0;
    FILE *log = fopen(path, "r");
    if (!log) {
        return;
    }
    while (fgets(lines[count % LOG_TAIL_LINES], sizeof(lines[0]), log)) {
        count++;
    }
    (void)fclose(log);
    size_t first = count > LOG_TAIL_LINES ? count - LOG_TAIL_LINES : 0;
    for (size_t i = first; i < count; i++) {
        const char *line = lines[i % LOG_TAIL_LINES];
        aq_print_line(stderr, "  %.*s", (int)strcspn(line, "\n"), line);
    }
}

void aq_refusal_tell(const aq_child_end *end, aq_error *error)
{
    char words[AQ_ERROR_TEXT_MAX];
    if (end->has_refused && aq_refusal_read(end->log_path, end->log_start, words, sizeof(words))) {
        (void)aq_fail(error, end->is_first ? AQ_E_PEER : AQ_E_IO, "%s: %s", end->name, words);
        return;
    }
    (void)fprintf(stderr, "the last lines of %s:\n", end->log_path);
    print_tail(end->log_path);
    (void)aq_fail(error, AQ_E_IO, "%s keeps dying (%s); see %s", end->name, end->how,
                  end->log_path);
}

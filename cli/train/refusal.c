/*
 * Refusal: see refusal.h.
 */
#include "cli/train/refusal.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/base/plain_text.h"
#include "common/sys/logfmt.h"

enum { LINE_BYTES = 16384, LOG_TAIL_LINES = 12 };

/* Takes what it looks for from a line, or finds nothing in it. */
typedef bool (*find_fn)(const char *line, char *out, size_t size);

/* In the last line that has it. */
static bool find_last(const char *log_path, find_fn find, char *out, size_t size)
{
    char line[LINE_BYTES];
    bool found = false;
    FILE *log = fopen(log_path, "re");
    while (log != NULL && fgets(line, sizeof(line), log) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = find(line, out, size) || found;
    }
    if (log != NULL) {
        (void)fclose(log);
    }
    return found;
}

/* "actorq-learner: words" */
static bool find_words(const char *line, char *out, size_t size)
{
    static const char prefix[] = "actorq-";
    const char *colon = strstr(line, ": ");
    if (strncmp(line, prefix, sizeof(prefix) - 1) != 0 || colon == NULL ||
        strcspn(line, " =") <= (size_t)(colon - line)) {
        return false;
    }
    (void)snprintf(out, size, "%s", colon + 2);
    return true;
}

/* "… event=env_failed … reason="…"", as logfmt has it */
static bool find_env_failure(const char *line, char *out, size_t size)
{
    aq_logfmt_pair pair;
    bool found = false;
    const char *at = strstr(line, " event=env_failed ");
    while (!found && at != NULL && aq_logfmt_next(&at, &pair)) {
        if (pair.is_quoted && strncmp(pair.key, "reason=", strlen("reason=")) == 0) {
            json_t *reason = /* with its quotes */
                json_loadb(pair.value - 1, pair.value_length + 2, JSON_DECODE_ANY, NULL);
            found = json_is_string(reason);
            if (found) {
                (void)snprintf(out, size, "%s", json_string_value(reason));
            }
            json_decref(reason);
        }
    }
    return found;
}

bool aq_refusal_read(const char *log_path, char *out, size_t size)
{
    return find_last(log_path, find_words, out, size);
}

bool aq_env_failure_read(const char *log_path, char *out, size_t size)
{
    return find_last(log_path, find_env_failure, out, size);
}

void aq_log_tail_print(const char *path)
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

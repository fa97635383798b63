/*
 * Metrics digest: see metrics_digest.h. Only evaluations, ends and the last lines are parsed; there
 * may be millions of the others.
 */
#include "cli/train/metrics_digest.h"

#include <stdbool.h>
#include <string.h>

#include "cli/text/run_lines.h"
#include "common/base/memory.h"

typedef struct digest_reader {
    aq_metrics_digest digest;
    char *last;     /* [AQ_RUN_LINE_BYTES_MAX]: the last line */
    char *progress; /* likewise: the last that is neither an evaluation nor an end */
} digest_reader;

static bool is_event(const json_t *line, const char *name)
{
    const char *event = json_string_value(json_object_get(line, "event"));
    return event && strcmp(event, name) == 0;
}

static bool is_better(const json_t *line, const json_t *best)
{
    if (!best) {
        return true;
    }
    bool confirmed = json_is_true(json_object_get(line, "confirmed"));
    bool best_confirmed = json_is_true(json_object_get(best, "confirmed"));
    if (confirmed != best_confirmed) {
        return confirmed;
    }
    return json_number_value(json_object_get(line, "return_mean")) >
           json_number_value(json_object_get(best, "return_mean"));
}

/* Puts `line` in the place of what is there. */
static void keep(json_t **place, json_t *line)
{
    json_decref(*place);
    *place = line ? json_incref(line) : NULL;
}

static void take_event(aq_metrics_digest *digest, const char *text)
{
    json_t *line = json_loads(text, 0, NULL);
    if (is_event(line, "end")) {
        keep(&digest->end, line);
    } else if (is_event(line, "evaluation") && !json_is_true(json_object_get(line, "fell_back")) &&
               json_is_number(json_object_get(line, "return_mean")) &&
               is_better(line, digest->best)) {
        keep(&digest->best, line);
    }
    json_decref(line);
}

static int take_line(void *user, const char *line)
{
    digest_reader *reader = user;
    aq_metrics_digest *digest = &reader->digest;
    const size_t size = strlen(line) + 1;
    if (line[0] == '\0') {
        return 0;
    }
    digest->lines++;
    memcpy(reader->last, line, size);
    if (strstr(line, "\"evaluation\"") || strstr(line, "\"end\"")) {
        take_event(digest, line);
    } else { /* progress: the run goes on */
        keep(&digest->end, NULL);
        memcpy(reader->progress, line, size);
    }
    return 0;
}

/* NULL for a text that is no object. */
static json_t *object_of(const char *text)
{
    json_t *line = json_loads(text, 0, NULL);
    if (!json_is_object(line)) {
        json_decref(line);
        return NULL;
    }
    return line;
}

int aq_metrics_digest_read(const char *path, aq_metrics_digest *ret_digest, aq_error *error)
{
    digest_reader reader = {.last = aq_alloc(2, AQ_RUN_LINE_BYTES_MAX)};
    if (reader.last == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", path);
    }
    reader.progress = reader.last + AQ_RUN_LINE_BYTES_MAX;
    const int rc = aq_run_lines_read(path, take_line, &reader, error);
    if (rc == 0) {
        reader.digest.last = object_of(reader.last);
        reader.digest.progress = object_of(reader.progress);
        *ret_digest = reader.digest;
    } else {
        aq_metrics_digest_fini(&reader.digest);
    }
    aq_free(reader.last);
    return rc;
}

void aq_metrics_digest_fini(aq_metrics_digest *digest)
{
    json_decref(digest->last);
    json_decref(digest->progress);
    json_decref(digest->best);
    json_decref(digest->end);
    *digest = (aq_metrics_digest){0};
}

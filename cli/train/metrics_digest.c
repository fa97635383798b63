/*
 * Metrics digest: see metrics_digest.h. Only evaluations, ends and the last lines are parsed; there
 * may be millions of the others.
 */
#include "cli/train/metrics_digest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"

enum { LINE_BYTES_MAX = 16384 };

/* Reads line by line; one that is longer than ours ever are is passed over. */
typedef struct line_reader {
    FILE *file;
    char *line;     /* [LINE_BYTES_MAX] */
    char *last;     /* likewise: what was read before the one at hand */
    char *progress; /* likewise: of those, the last that is neither an evaluation nor an end */
} line_reader;

/* True with the next whole line, without its newline, in reader->line. */
static bool next_line(line_reader *reader)
{
    bool skipping = false;
    while (fgets(reader->line, LINE_BYTES_MAX, reader->file)) {
        size_t size = strlen(reader->line);
        bool whole = size > 0 && reader->line[size - 1] == '\n';
        if (whole && !skipping) {
            reader->line[size - 1] = '\0';
            return true;
        }
        skipping = !whole;
    }
    return false;
}

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
    } else if (is_event(line, "evaluation") &&
               json_is_number(json_object_get(line, "return_mean")) &&
               is_better(line, digest->best)) {
        keep(&digest->best, line);
    }
    json_decref(line);
}

static void take_line(aq_metrics_digest *digest, const line_reader *reader)
{
    const size_t size = strlen(reader->line) + 1;
    digest->lines++;
    memcpy(reader->last, reader->line, size);
    if (strstr(reader->line, "\"evaluation\"") || strstr(reader->line, "\"end\"")) {
        take_event(digest, reader->line);
    } else { /* progress: the run goes on */
        keep(&digest->end, NULL);
        memcpy(reader->progress, reader->line, size);
    }
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

static void read_lines(line_reader *reader, aq_metrics_digest *digest)
{
    while (next_line(reader)) {
        if (reader->line[0] != '\0') {
            take_line(digest, reader);
        }
    }
    digest->last = object_of(reader->last);
    digest->progress = object_of(reader->progress);
}

int aq_metrics_digest_read(const char *path, aq_metrics_digest *ret_digest, aq_error *error)
{
    int rc = 0;
    aq_metrics_digest digest = {0};
    line_reader reader = {.file = fopen(path, "r")};
    if (!reader.file) {
        return aq_fail(error, aq_error_from_errno(errno), "%s: can't open: %s", path,
                       strerror(errno));
    }
    reader.line = aq_alloc(3, LINE_BYTES_MAX);
    if (!reader.line) {
        rc = aq_fail(error, AQ_E_NOMEM, "%s: out of memory", path);
        goto out;
    }
    reader.last = reader.line + LINE_BYTES_MAX;
    reader.progress = reader.last + LINE_BYTES_MAX;
    read_lines(&reader, &digest);
    if (ferror(reader.file)) {
        rc = aq_fail(error, AQ_E_IO, "%s: can't read", path);
        aq_metrics_digest_fini(&digest);
        goto out;
    }
    *ret_digest = digest;
out:
    aq_free(reader.line);
    (void)fclose(reader.file);
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

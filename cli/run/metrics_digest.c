/*
 * Metrics digest: see metrics_digest.h. Only ends and the last lines are parsed; there may be
 * millions of the others.
 */
#include "cli/run/metrics_digest.h"

#include <string.h>

#include "cli/run/run_lines.h"
#include "cli/text/command.h"
#include "common/base/memory.h"

typedef struct digest_reader {
    aq_metrics_digest digest;
    char *last;     /* [AQ_RUN_LINE_BYTES_MAX]: the last line */
    char *progress; /* likewise: the last of progress */
} digest_reader;

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

/* Whether the run has gone on behind its end: an evaluation may only be late. */
static bool is_beyond(const char *text, const json_t *end)
{
    json_t *line = object_of(text);
    const bool beyond = aq_json_count_of(line, "env_steps") > aq_json_count_of(end, "env_steps");
    json_decref(line);
    return beyond;
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
    const bool is_end = strstr(line, "\"end\"") != NULL;
    const bool is_progress = !is_end && strstr(line, "\"progress\"") != NULL;
    if (is_end || is_progress || (digest->end && is_beyond(line, digest->end))) {
        json_decref(digest->end);
        digest->end = is_end ? object_of(line) : NULL;
    }
    if (is_progress) {
        memcpy(reader->progress, line, size);
    }
    return 0;
}

int aq_metrics_digest_read(const char *folder, aq_metrics_digest *ret_digest, aq_error *error)
{
    digest_reader reader = {.last = aq_alloc(2, AQ_RUN_LINE_BYTES_MAX)};
    if (reader.last == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", folder);
    }
    reader.progress = reader.last + AQ_RUN_LINE_BYTES_MAX;
    const int rc = aq_run_lines_read(folder, take_line, &reader, error);
    if (rc == 0) {
        reader.digest.last = object_of(reader.last);
        reader.digest.progress = object_of(reader.progress);
        const json_t *told = reader.digest.end ? reader.digest.end : reader.digest.progress;
        reader.digest.best = json_incref(json_object_get(told, "best"));
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

aq_best_figure aq_metrics_digest_best(const aq_metrics_digest *digest)
{
    const json_t *best = digest->best;
    return (aq_best_figure){
        .mean = aq_json_number_of(best, "return_mean"),
        .std = aq_json_number_of(best, "return_std"),
        .version = aq_json_count_of(best, "policy_version"),
        .episodes = aq_json_count_of(best, "episodes"),
        .is_fresh = json_is_true(json_object_get(best, "confirmed")),
    };
}

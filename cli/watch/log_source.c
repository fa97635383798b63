/*
 * Log source: see log_source.h.
 */
#include "cli/watch/log_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/memory.h"

struct aq_log_source {
    int file;
    char name[AQ_LOG_WORD_BYTES];
    char bytes[AQ_LOG_LINE_BYTES]; /* read, and not looked at yet, from `start` to `end` */
    size_t start, end;
    bool has_line;
    char time[AQ_LOG_TS_BYTES];
    aq_log_line line;
};

int aq_log_source_open(const char *path, const char *name, aq_log_source **ret_source,
                       aq_error *error)
{
    aq_log_source *source = aq_alloc(1, sizeof(*source));
    if (!source) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    source->file = open(path, O_RDONLY | O_CLOEXEC);
    if (source->file < 0) {
        int rc = aq_fail(error, aq_error_from_errno(errno), "%s: %s", path, strerror(errno));
        aq_free(source);
        return rc;
    }
    (void)snprintf(source->name, sizeof(source->name), "%s", name);
    *ret_source = source;
    return 0;
}

void aq_log_source_close(aq_log_source *source)
{
    if (source) {
        (void)close(source->file);
        aq_free(source);
    }
}

const char *aq_log_source_name(const aq_log_source *source)
{
    return source->name;
}

/* False at the end of what is there. */
static bool read_more(aq_log_source *source)
{
    ssize_t got;
    memmove(source->bytes, source->bytes + source->start, source->end - source->start);
    source->end -= source->start;
    source->start = 0;
    do {
        got = read(source->file, source->bytes + source->end,
                   sizeof(source->bytes) - 1 - source->end);
    } while (got < 0 && errno == EINTR);
    source->end += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* Bytes of the next line, or SIZE_MAX. A NUL in a log ends what is shown of its line. */
static size_t find_line(aq_log_source *source, bool is_final)
{
    for (;;) {
        size_t size = source->end - source->start;
        const char *end = memchr(source->bytes + source->start, '\n', size);
        if (end) {
            return (size_t)(end - (source->bytes + source->start));
        }
        if (size == sizeof(source->bytes) - 1) {
            return size;
        }
        if (!read_more(source)) {
            return is_final && size > 0 ? size : SIZE_MAX;
        }
    }
}

static void take_text(aq_log_source *source, size_t size)
{
    char *text = source->bytes + source->start;
    source->start += size < source->end - source->start ? size + 1 : size;
    text[size] = '\0';
    aq_log_line_read(text, &source->line);
    if (source->line.ts[0] != '\0') {
        memcpy(source->time, source->line.ts, sizeof(source->time));
    }
    source->has_line = true;
}

const aq_log_line *aq_log_source_look(aq_log_source *source, bool is_final)
{
    if (!source->has_line) {
        size_t size = find_line(source, is_final);
        if (size == SIZE_MAX) {
            return NULL;
        }
        take_text(source, size);
    }
    return &source->line;
}

void aq_log_source_take(aq_log_source *source)
{
    source->has_line = false;
}

const char *aq_log_source_time(const aq_log_source *source)
{
    return source->time;
}

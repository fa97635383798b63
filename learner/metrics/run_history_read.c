/*
 * Run history: what earlier processes of a run wrote. A week's metrics.jsonl is a hundred megabytes
 * and more, of which a few hundred rows are kept: so the file is read in strips, evenly spread, and
 * its end whole. Each strip begins anew with the first line that starts in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "learner/metrics/run_history.h"

enum { STRIPS = 480 };
#define STRIP_BYTES ((size_t)16 << 10)
#define TAIL_BYTES  ((size_t)1 << 20)

/* Reads up to `size` bytes at `offset`; AQ_E_IO. Less comes where the file ends. */
static int read_at(int file, size_t offset, char *bytes, size_t size, size_t *ret_size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t more = pread(file, bytes + got, size - got, (off_t)(offset + got));
        if (more < 0 && errno == EINTR) {
            continue;
        }
        if (more < 0) {
            return AQ_E_IO;
        }
        if (more == 0) {
            break;
        }
        got += (size_t)more;
    }
    *ret_size = got;
    return 0;
}

/* The whole lines within; what is before the first of them and after the last is another strip's or
 * nobody's. */
static void take_lines(aq_run_history *history, const char *bytes, size_t size, bool from_a_start)
{
    const char *end = bytes + size;
    const char *line = bytes;
    if (!from_a_start) {
        const char *newline = memchr(bytes, '\n', size);
        line = newline ? newline + 1 : end;
    }
    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline) {
            return;
        }
        json_t *parsed = json_loadb(line, (size_t)(newline - line), 0, NULL);
        aq_run_history_line(history, parsed);
        json_decref(parsed);
        line = newline + 1;
    }
}

static int read_part(aq_run_history *history, int file, size_t offset, size_t size, char *room)
{
    size_t got;
    /* One byte before tells whether a line begins here. */
    const size_t before = offset > 0 ? 1 : 0;
    int rc = read_at(file, offset - before, room, size + before, &got);
    if (rc == 0 && got > before) {
        take_lines(history, room + before, got - before, before == 0 || room[0] == '\n');
    }
    return rc;
}

static int read_file(aq_run_history *history, int file, char *room)
{
    const off_t end = lseek(file, 0, SEEK_END);
    if (end < 0) {
        return AQ_E_IO;
    }
    const size_t size = (size_t)end;
    const size_t head = size > TAIL_BYTES ? size - TAIL_BYTES : 0;
    const size_t whole = STRIPS * STRIP_BYTES;
    int rc = 0;
    if (head <= whole) {
        return read_part(history, file, 0, size, room);
    }
    for (size_t i = 0; rc == 0 && i < STRIPS; i++) {
        rc = read_part(history, file, head / STRIPS * i, STRIP_BYTES, room);
    }
    return rc != 0 ? rc : read_part(history, file, head, TAIL_BYTES, room);
}

int aq_run_history_read(aq_run_history *history, const char *path, aq_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return errno == ENOENT
                   ? 0
                   : aq_fail(error, aq_error_from_errno(errno), "%s: %s", path, strerror(errno));
    }
    char *room = aq_alloc(STRIPS * STRIP_BYTES + TAIL_BYTES + 1, 1);
    int rc = room ? read_file(history, file, room) : AQ_E_NOMEM;
    aq_free(room);
    (void)close(file);
    return rc != 0 ? aq_fail(error, rc, "%s: %s", path, aq_error_text(rc)) : 0;
}

/*
 * Sweep journal: see sweep_journal.h.
 */
#define _GNU_SOURCE /* F_OFD_SETLK: of the open file, not of the process */

#include "cli/sweep/journal/sweep_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/sweep/journal/sweep_record.h"
#include "common/base/memory.h"
#include "common/sys/file.h"

enum { PATH_BYTES = PATH_MAX + 32, LINE_BYTES_MAX = 16 << 20, CHUNK_BYTES = 65536 };

struct aq_sweep_journal {
    char path[PATH_BYTES];
    int file;
    off_t read;      /* up to here all is applied */
    uint64_t number; /* of the next line */
    bool is_locked;
};

int aq_sweep_journal_open(const char *dir, int flags, aq_sweep_journal **ret_journal,
                          aq_error *error)
{
    aq_sweep_journal *journal = aq_alloc(1, sizeof(*journal));
    if (journal == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", dir);
    }
    journal->file = -1;
    int rc = aq_path_in(journal->path, sizeof(journal->path), dir, "journal.jsonl", error);
    if (rc == 0) {
        journal->file = open(journal->path, flags | O_CLOEXEC, 0666);
        rc = journal->file < 0 ? aq_file_fail(error, journal->path, "open it") : 0;
    }
    if (rc != 0) {
        aq_sweep_journal_close(journal);
        return rc;
    }
    *ret_journal = journal;
    return 0;
}

void aq_sweep_journal_close(aq_sweep_journal *journal)
{
    if (journal == NULL) {
        return;
    }
    if (journal->file >= 0) {
        (void)close(journal->file);
    }
    aq_free(journal);
}

/* ---- the lock ------------------------------------------------------------------------------- */

static int set_lock(aq_sweep_journal *journal, short type, int command)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    int rc;
    do {
        rc = fcntl(journal->file, command, &whole);
    } while (rc != 0 && errno == EINTR);
    return rc;
}

int aq_sweep_journal_lock(aq_sweep_journal *journal, aq_sweep_wait wait, void *user,
                          aq_error *error)
{
    const int command = wait != NULL ? F_OFD_SETLK : F_OFD_SETLKW;
    int rc = set_lock(journal, F_WRLCK, command);
    while (rc != 0 && wait != NULL && (errno == EAGAIN || errno == EACCES)) {
        if (!wait(user)) {
            return aq_fail(error, AQ_E_TIMEOUT,
                           "%s: another process has its lock and stands still: end it, or let it "
                           "go on",
                           journal->path);
        }
        rc = set_lock(journal, F_WRLCK, command);
    }
    if (rc != 0) {
        return aq_file_fail(error, journal->path, "lock it");
    }
    journal->is_locked = true;
    return 0;
}

void aq_sweep_journal_unlock(aq_sweep_journal *journal)
{
    int rc = set_lock(journal, F_UNLCK, F_OFD_SETLK);
    (void)rc; /* closing the file would do it, too */
    journal->is_locked = false;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int apply_line(aq_sweep_journal *journal, aq_sweep_study *study, const char *line,
                      size_t size, aq_error *error)
{
    aq_sweep_event event;
    aq_error problem = {0};
    int rc =
        aq_sweep_record_read(&study->spec->space, journal->number, line, size, &event, &problem);
    if (rc == 0) {
        rc = aq_sweep_study_apply(study, &event, &problem);
        aq_sweep_event_fini(&event);
    }
    if (rc != 0) {
        return aq_fail(error, rc, "%s:%" PRIu64 ": %s", journal->path, journal->number + 1,
                       problem.text);
    }
    journal->number++;
    journal->read += (off_t)size + 1;
    return 0;
}

/* Applies whole lines; *ret_rest is how many bytes of one without an end lie behind them. */
static int apply_lines(aq_sweep_journal *journal, aq_sweep_study *study, const aq_buffer *text,
                       size_t *ret_rest, aq_error *error)
{
    const char *at = (const char *)text->data;
    const char *const end = at + text->size;
    int rc = 0;
    while (rc == 0 && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL) {
            break;
        }
        rc = apply_line(journal, study, at, (size_t)(newline - at), error);
        at = newline + 1;
    }
    *ret_rest = (size_t)(end - at);
    return rc;
}

/* From where the last call ended to the end of the file. */
static int read_new(aq_sweep_journal *journal, aq_buffer *text, aq_error *error)
{
    for (;;) {
        uint8_t chunk[CHUNK_BYTES];
        const ssize_t got =
            pread(journal->file, chunk, sizeof(chunk), journal->read + (off_t)text->size);
        if (got < 0 && errno != EINTR) {
            return aq_file_fail(error, journal->path, "read it");
        }
        if (got == 0) {
            return 0;
        }
        int rc = got > 0 ? aq_buffer_append(text, chunk, (size_t)got) : 0;
        if (rc != 0) {
            return aq_fail(error, rc, "%s: %s", journal->path, aq_error_text(rc));
        }
    }
}

int aq_sweep_journal_read(aq_sweep_journal *journal, aq_sweep_study *study, aq_error *error)
{
    aq_buffer text;
    size_t rest = 0;
    aq_buffer_init(&text, (size_t)1 << 30);
    int rc = read_new(journal, &text, error);
    if (rc == 0 && text.size > 0) {
        rc = apply_lines(journal, study, &text, &rest, error);
    }
    aq_buffer_fini(&text);
    /* Nobody writes under our lock: a line without an end is what a crash left. */
    if (rc == 0 && rest > 0 && journal->is_locked && ftruncate(journal->file, journal->read) != 0) {
        rc = aq_file_fail(error, journal->path, "cut off half a line");
    }
    return rc;
}

/* ---- writing -------------------------------------------------------------------------------- */

static int write_all(int file, const uint8_t *bytes, size_t size, off_t at)
{
    while (size > 0) {
        const ssize_t written = pwrite(file, bytes, size, at);
        if (written < 0 && errno != EINTR) {
            return -1;
        }
        const size_t done = written > 0 ? (size_t)written : 0;
        bytes += done;
        size -= done;
        at += (off_t)done;
    }
    return 0;
}

int aq_sweep_journal_append(aq_sweep_journal *journal, aq_sweep_study *study,
                            const aq_sweep_event *event, aq_error *error)
{
    aq_buffer line;
    aq_buffer_init(&line, LINE_BYTES_MAX);
    int rc = aq_sweep_record_write(&study->spec->space, journal->number, event, &line);
    rc = rc != 0 ? aq_fail(error, rc, "%s: %s", journal->path, aq_error_text(rc))
                 : aq_sweep_study_apply(study, event, error);
    if (rc == 0 && (write_all(journal->file, line.data, line.size, journal->read) != 0 ||
                    fdatasync(journal->file) != 0)) {
        rc = aq_file_fail(error, journal->path, "write to it");
        const int cut = ftruncate(journal->file, journal->read);
        (void)cut; /* what is left is half a line, or one that others take as it is */
    }
    if (rc == 0) {
        journal->number++;
        journal->read += (off_t)line.size;
    }
    aq_buffer_fini(&line);
    return rc;
}

/*
 * Log file: see log_file.h.
 */
#include "learner/metrics/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { TAIL_BYTES = 4096 };

/* Bytes of `file`, which has `size`, up to the end of its last whole line. */
static int whole_lines(int file, uint64_t size, uint64_t *ret_size)
{
    char tail[TAIL_BYTES];
    while (size > 0) {
        const size_t want = size < TAIL_BYTES ? (size_t)size : TAIL_BYTES;
        const ssize_t got = pread(file, tail, want, (off_t)(size - want));
        if (got != (ssize_t)want) {
            return got < 0 ? aq_error_from_errno(errno) : AQ_E_IO;
        }
        for (size_t i = want; i > 0; i--) {
            if (tail[i - 1] == '\n') {
                *ret_size = size - (want - i);
                return 0;
            }
        }
        size -= want;
    }
    *ret_size = 0;
    return 0;
}

int aq_log_file_open(const char *path, aq_log_file *ret_log)
{
    uint64_t whole = 0;
    /* At its end, also when somebody has emptied it meanwhile. */
    const int file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
    int rc = size < 0 ? aq_error_from_errno(errno) : whole_lines(file, (uint64_t)size, &whole);
    if (rc == 0 && whole < (uint64_t)size && ftruncate(file, (off_t)whole) != 0) {
        rc = aq_error_from_errno(errno);
    }
    if (rc == 0) {
        *ret_log = (aq_log_file){.file = file, .size = whole};
    } else if (file >= 0) {
        (void)close(file);
    }
    return rc;
}

void aq_log_file_fini(aq_log_file *log)
{
    if (log->file >= 0) {
        (void)close(log->file);
        log->file = -1;
    }
}

/* Else the next record would stand behind what was cut short: the file is appended to. */
static int take_back(aq_log_file *log)
{
    if (log->is_torn && ftruncate(log->file, (off_t)log->size) != 0) {
        return aq_error_from_errno(errno);
    }
    log->is_torn = false;
    return 0;
}

int aq_log_file_append(aq_log_file *log, const void *bytes, size_t size)
{
    int rc = take_back(log);
    if (rc != 0) {
        return rc;
    }
    const ssize_t written = pwrite(log->file, bytes, size, (off_t)log->size);
    if (written == (ssize_t)size) {
        log->size += size;
        return 0;
    }
    rc = written < 0 ? aq_error_from_errno(errno) : AQ_E_NO_SPACE;
    log->is_torn = written > 0;
    const int problem = take_back(log);
    return problem != 0 ? problem : rc;
}

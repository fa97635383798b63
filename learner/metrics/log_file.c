/*
 * Log file: see log_file.h.
 */
#include "learner/metrics/log_file.h"

#include <errno.h>
#include <unistd.h>

int aq_log_file_init(aq_log_file *log, int file, uint64_t size)
{
    *log = (aq_log_file){.file = file, .size = size};
    return ftruncate(file, (off_t)size) ? aq_error_from_errno(errno) : 0;
}

void aq_log_file_fini(aq_log_file *log)
{
    if (log->file >= 0) {
        (void)close(log->file);
        log->file = -1;
    }
}

int aq_log_file_append(aq_log_file *log, const void *bytes, size_t size)
{
    const ssize_t written = pwrite(log->file, bytes, size, (off_t)log->size);
    if (written == (ssize_t)size) {
        log->size += size;
        return 0;
    }
    int rc = written < 0 ? aq_error_from_errno(errno) : AQ_E_NO_SPACE;
    if (written > 0 && ftruncate(log->file, (off_t)log->size)) {
        rc = aq_error_from_errno(errno); /* the next record is written over it */
    }
    return rc;
}

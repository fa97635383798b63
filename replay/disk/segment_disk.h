/*
 * Segment disk: the few calls that the segment writer makes to the operating system, as a table, so
 * that a test can have a disk that is full, fails to sync, or takes half of what it is given. Each
 * answers as the call of its name does, errno included.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_DISK_H
#define AQ_REPLAY_DISK_SEGMENT_DISK_H

#include <sys/types.h>
#include <sys/uio.h>

/* Senders' incarnations are in the files, which are secrets. */
enum { AQ_SEGMENT_MODE = 0600 };

typedef struct aq_segment_disk {
    int (*open)(const char *path, int flags, mode_t mode);
    ssize_t (*writev)(int fd, const struct iovec *parts, int count);
    int (*sync)(int fd); /* fdatasync; of a folder, too */
    int (*truncate)(int fd, off_t size);
    int (*rename)(const char *from, const char *to);
    int (*unlink)(const char *path);
    int retry_ms; /* after a failure */
} aq_segment_disk;

/* The operating system's own. */
const aq_segment_disk *aq_segment_disk_system(void);

#endif

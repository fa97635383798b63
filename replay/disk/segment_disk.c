/*
 * The operating system's own calls. open(2) takes a variable number of arguments, and a folder that
 * can't be synced has nothing to sync: hence the two functions.
 */
#include "replay/disk/segment_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { RETRY_MS = 1000 };

static int open_file(const char *path, int flags, mode_t mode)
{
    return open(path, flags, mode);
}

/* Some file systems can't sync a folder and say EINVAL: there is nothing more to do there. */
static int sync_file(int fd)
{
    return fdatasync(fd) == 0 || errno == EINVAL ? 0 : -1;
}

const aq_segment_disk *aq_segment_disk_system(void)
{
    static const aq_segment_disk disk = {
        .open = open_file,
        .writev = writev,
        .sync = sync_file,
        .truncate = ftruncate,
        .rename = rename,
        .unlink = unlink,
        .retry_ms = RETRY_MS,
    };
    return &disk;
}

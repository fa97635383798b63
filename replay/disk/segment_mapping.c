/*
 * Mapped files. The descriptor is closed at once: a mapping needs none, and a store may have more
 * segments than a process may have open files.
 */
#include "replay/disk/segment_mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

static void unmap(aq_lease *mapping)
{
    int rc = munmap((void *)(uintptr_t)mapping->bytes, mapping->size);
    AQ_ASSERT(rc == 0);
    aq_free(mapping);
}

int aq_segment_mapping_open(const char *path, size_t size, aq_lease **ret_mapping)
{
    AQ_ASSERT(size > 0);
    aq_lease *mapping = aq_alloc(1, sizeof(*mapping));
    if (mapping == NULL) {
        errno = ENOMEM;
        return AQ_E_NOMEM;
    }
    int rc = AQ_E_IO;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        goto fail;
    }
    void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    const int errno_value = errno;
    close(fd);
    if (bytes == MAP_FAILED) {
        errno = errno_value;
        rc = errno == ENODEV ? AQ_E_UNSUPPORTED : errno == ENOMEM ? AQ_E_NOMEM : AQ_E_IO;
        goto fail;
    }
    aq_lease_init(mapping, bytes, size, unmap);
    *ret_mapping = mapping;
    return 0;

fail:
    aq_free(mapping);
    return rc;
}

typedef struct part_lease {
    aq_lease lease; /* first */
    aq_lease *whole;
} part_lease;

static void free_part(aq_lease *lease)
{
    part_lease *part = (part_lease *)(void *)lease;
    aq_lease_unref(part->whole);
    aq_free(part);
}

int aq_segment_mapping_lease(aq_lease *whole, size_t offset, size_t size, aq_lease **ret_part)
{
    AQ_ASSERT(offset <= whole->size);
    AQ_ASSERT(size <= whole->size - offset);
    part_lease *part = aq_alloc(1, sizeof(*part));
    if (part == NULL) {
        return AQ_E_NOMEM;
    }
    part->whole = aq_lease_ref(whole);
    aq_lease_init(&part->lease, whole->bytes + offset, size, free_part);
    *ret_part = &part->lease;
    return 0;
}

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
#include "common/base/references.h"

struct aq_segment_mapping {
    const uint8_t *bytes;
    size_t size;
    aq_references references;
};

typedef struct mapped_lease {
    aq_lease lease; /* first */
    aq_segment_mapping *mapping;
} mapped_lease;

int aq_segment_mapping_open(const char *path, size_t size, aq_segment_mapping **ret_mapping)
{
    AQ_ASSERT(size > 0);
    aq_segment_mapping *mapping = aq_alloc(1, sizeof(*mapping));
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
    mapping->bytes = bytes;
    mapping->size = size;
    aq_references_init(&mapping->references);
    *ret_mapping = mapping;
    return 0;

fail:
    aq_free(mapping);
    return rc;
}

aq_segment_mapping *aq_segment_mapping_ref(aq_segment_mapping *mapping)
{
    aq_references_add(&mapping->references);
    return mapping;
}

void aq_segment_mapping_unref(aq_segment_mapping *mapping)
{
    if (mapping == NULL || !aq_references_drop(&mapping->references)) {
        return;
    }
    int rc = munmap((void *)(uintptr_t)mapping->bytes, mapping->size);
    AQ_ASSERT(rc == 0);
    aq_free(mapping);
}

const uint8_t *aq_segment_mapping_bytes(const aq_segment_mapping *mapping)
{
    return mapping->bytes;
}

size_t aq_segment_mapping_size(const aq_segment_mapping *mapping)
{
    return mapping->size;
}

static void free_lease(aq_lease *lease)
{
    mapped_lease *mapped = (mapped_lease *)(void *)lease;
    aq_segment_mapping_unref(mapped->mapping);
    aq_free(mapped);
}

int aq_segment_mapping_lease(aq_segment_mapping *mapping, size_t offset, size_t size,
                             aq_lease **ret_lease)
{
    AQ_ASSERT(offset <= mapping->size);
    AQ_ASSERT(size <= mapping->size - offset);
    mapped_lease *mapped = aq_alloc(1, sizeof(*mapped));
    if (mapped == NULL) {
        return AQ_E_NOMEM;
    }
    mapped->mapping = aq_segment_mapping_ref(mapping);
    aq_lease_init(&mapped->lease, mapping->bytes + offset, size, free_lease);
    *ret_lease = &mapped->lease;
    return 0;
}

/*
 * Opening a segment to read. The file is read once through a small buffer before it is mapped,
 * because a disk that can't be read is an error there and the end of the process in a mapping; that
 * also brings the file into memory in order, as fast as the disk allows.
 */
#include "replay/disk/segment_view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/disk/segment_format.h"
#include "replay/disk/segment_mapping.h"

#define PROBE_BYTES ((size_t)64 * 1024)

/* What reading a file once tells of it. */
typedef struct probe {
    size_t size;     /* that can be read */
    bool zeroed;     /* all of it */
    int errno_value; /* why no more can be read; 0: that is all */
} probe;

static probe probe_bytes(int fd)
{
    uint8_t bytes[PROBE_BYTES];
    probe found = {.zeroed = true};
    for (;;) {
        const ssize_t got = read(fd, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            found.errno_value = got < 0 ? errno : 0;
            return found;
        }
        for (ssize_t i = 0; found.zeroed && i < got; i++) {
            found.zeroed = bytes[i] == 0;
        }
        found.size += (size_t)got;
    }
}

static int probe_file(const char *path, probe *ret_probe, aq_error *error)
{
    struct stat status;
    int rc = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return aq_segment_fail(error, path, "open", errno);
    }
    if (fstat(fd, &status) != 0) {
        rc = aq_segment_fail(error, path, "look at", errno);
    } else if (!S_ISREG(status.st_mode)) {
        rc = aq_fail(error, AQ_E_FOREIGN, "%s: not a file", path);
    } else {
        *ret_probe = probe_bytes(fd);
    }
    close(fd);
    return rc;
}

/* A crash came while the header was written. */
static bool is_beginning_of_ours(const aq_segment_view *view, uint64_t store)
{
    uint8_t expected[AQ_FILE_HEADER_BYTES];
    const aq_file_header header = {
        .kind = AQ_STORE_FILE_SEGMENT,
        .store = store,
        .number = view->segment,
    };
    aq_file_header_encode(&header, expected);
    return view->size < sizeof(expected) && memcmp(expected, view->bytes, view->size) == 0;
}

/* Whether any record of this very segment is in it, so that its header must have been damaged. */
static bool has_record(const aq_segment_view *view, uint64_t store)
{
    if (view->size <= AQ_FILE_HEADER_BYTES) {
        return false;
    }
    const uint32_t salt = aq_record_salt(store, view->segment);
    return aq_segment_scan(view->bytes, view->size, salt, AQ_FILE_HEADER_BYTES).kind !=
           AQ_SCAN_TORN;
}

static int check_header(aq_segment_view *view, uint64_t store, bool zeroed, aq_error *error)
{
    aq_file_header header;
    int rc = aq_file_header_decode(view->bytes, view->size, view->path, &header, error);
    if (rc == 0 && (header.kind != AQ_STORE_FILE_SEGMENT || header.store != store ||
                    header.number != view->segment)) {
        return aq_fail(error, AQ_E_FOREIGN,
                       "%s: it is file %" PRIu64 " of store %016" PRIx64 ", not file %" PRIu64
                       " of store %016" PRIx64,
                       view->path, header.number, header.store, view->segment, store);
    }
    if (rc == AQ_E_VERSION) {
        return rc;
    }
    if (rc == 0) {
        view->state = AQ_SEGMENT_GOOD;
    } else if (zeroed || is_beginning_of_ours(view, store)) {
        view->state = AQ_SEGMENT_EMPTY;
    } else if (rc == AQ_E_CORRUPT || has_record(view, store)) {
        view->state = AQ_SEGMENT_BAD_HEADER;
    } else {
        return aq_fail(error, AQ_E_FOREIGN, "%s: not a segment of a replay store", view->path);
    }
    return 0;
}

int aq_segment_view_open(const aq_segment_folder *folder, uint64_t segment,
                         aq_segment_view *ret_view, aq_error *error)
{
    aq_segment_view view = {.segment = segment, .state = AQ_SEGMENT_EMPTY};
    probe found = {0};
    aq_segment_path(folder->path, segment, view.path);
    int rc = probe_file(view.path, &found, error);
    if (rc != 0) {
        return rc;
    }
    view.size = found.size;
    view.read_errno = found.errno_value;
    if (view.size > 0) {
        rc = aq_segment_mapping_open(view.path, view.size, &view.mapping);
        if (rc != 0) {
            return aq_segment_fail(error, view.path, "map", errno);
        }
        view.bytes = view.mapping->bytes;
        rc = check_header(&view, folder->identity.store, found.zeroed, error);
    }
    if (rc != 0) {
        aq_segment_view_close(&view);
        return rc;
    }
    *ret_view = view;
    return 0;
}

void aq_segment_view_close(aq_segment_view *view)
{
    aq_lease_unref(view->mapping);
    view->mapping = NULL;
}

/*
 * The memory for a block is taken only once its mark holds and the file is large enough for it.
 */
#include "common/data_set/data_set_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/crc32c.h"
#include "common/base/fnv1a.h"
#include "common/base/little_endian.h"
#include "common/base/memory.h"
#include "common/base/parse.h"

struct aq_data_set_reader {
    char path[PATH_MAX];
    FILE *file;
    uint64_t size, at;
    aq_data_set_info info;
    aq_data_set_counts found;
    aq_layout layout;
    uint32_t marks_crc;
    bool has_ended;
    uint8_t *columns;
    size_t columns_size;
};

static int corrupt(const aq_data_set_reader *reader, uint64_t at, const char *what, aq_error *error)
{
    return aq_fail(error, AQ_E_CORRUPT, "%s: offset %" PRIu64 ": %s", reader->path, at, what);
}

static int take(aq_data_set_reader *reader, void *bytes, size_t size, aq_error *error)
{
    if (reader->size - reader->at < size) {
        return corrupt(reader, reader->at, "the file is cut short", error);
    }
    errno = 0;
    if (fread(bytes, 1, size, reader->file) != size) {
        return errno != 0
                   ? aq_fail(error, AQ_E_IO, "%s: can't read: %s", reader->path, strerror(errno))
                   : corrupt(reader, reader->at, "the file is cut short", error);
    }
    reader->at += size;
    return 0;
}

static int take_header(aq_data_set_reader *reader, aq_error *error)
{
    uint8_t start[AQ_DATA_SET_START_BYTES];
    size_t text_bytes = 0;
    if (reader->size < sizeof(start)) {
        return aq_fail(error, AQ_E_FOREIGN, "%s: not a data set", reader->path);
    }
    int rc = take(reader, start, sizeof(start), error);
    if (rc == 0) {
        rc = aq_data_set_start_decode(reader->path, start, &text_bytes, error);
    }
    if (rc != 0) {
        return rc;
    }
    uint8_t *text = aq_alloc(text_bytes, 1);
    if (text == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", reader->path);
    }
    rc = take(reader, text, text_bytes, error);
    if (rc == 0) {
        rc = aq_data_set_text_decode(reader->path, start, text, text_bytes, &reader->info, error);
    }
    aq_free(text);
    return rc;
}

static int open_file(aq_data_set_reader *reader, const char *path, aq_error *error)
{
    struct stat status;
    if (aq_text_set(reader->path, sizeof(reader->path), path) != 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "the path of the data set is too long");
    }
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO is not waited for */
    reader->file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (reader->file == NULL || fstat(fd, &status) != 0) {
        const int failure = errno;
        if (reader->file == NULL && fd >= 0) {
            (void)close(fd);
        }
        return aq_fail(error, aq_error_from_errno(failure), "%s: %s", path, strerror(failure));
    }
    if (!S_ISREG(status.st_mode)) {
        return aq_fail(error, AQ_E_FOREIGN, "%s: not a data set", path);
    }
    reader->size = (uint64_t)status.st_size;
    return 0;
}

int aq_data_set_reader_open(const char *path, aq_data_set_reader **ret_reader, aq_error *error)
{
    aq_data_set_reader *reader = aq_alloc(1, sizeof(*reader));
    if (reader == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", path);
    }
    reader->found.n_step = 1;
    int rc = open_file(reader, path, error);
    if (rc == 0) {
        rc = take_header(reader, error);
    }
    if (rc == 0) {
        rc = aq_data_set_layout(&reader->info, &reader->layout, error);
    }
    if (rc != 0) {
        aq_data_set_reader_close(reader);
        return rc;
    }
    *ret_reader = reader;
    return 0;
}

void aq_data_set_reader_close(aq_data_set_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    if (reader->file != NULL) {
        (void)fclose(reader->file);
    }
    aq_free(reader->columns);
    aq_free(reader);
}

const aq_data_set_info *aq_data_set_reader_info(const aq_data_set_reader *reader)
{
    return &reader->info;
}

const aq_layout *aq_data_set_reader_layout(const aq_data_set_reader *reader)
{
    return &reader->layout;
}

static bool counts_agree(const aq_data_set_counts *a, const aq_data_set_counts *b)
{
    return a->blocks == b->blocks && a->transitions == b->transitions &&
           a->episodes == b->episodes && a->n_step == b->n_step;
}

static int take_end(const aq_data_set_reader *reader, const aq_data_set_mark *mark, uint64_t at,
                    aq_error *error)
{
    if (mark->crc != reader->marks_crc || !counts_agree(&mark->counts, &reader->found)) {
        return corrupt(reader, at, "the end does not fit the blocks before it", error);
    }
    if (!counts_agree(&reader->info.counts, &reader->found)) {
        return corrupt(reader, 0, "the header does not fit the blocks", error);
    }
    if (reader->at != reader->size) {
        return corrupt(reader, reader->at, "something follows the end", error);
    }
    return 0;
}

/* Of the columns behind a mark, which must be there. */
static int check_size(const aq_data_set_reader *reader, const aq_data_set_mark *mark, uint64_t at,
                      uint64_t *ret_size, aq_error *error)
{
    const uint32_t length = mark->block.view.length;
    if (length < 1 || length > AQ_CHUNK_LENGTH_MAX) {
        return corrupt(reader, at, "a block of a length that cannot be", error);
    }
    const uint64_t size = aq_layout_bytes(&reader->layout, length);
    if (size > AQ_CHUNK_BYTES_MAX || size > reader->size - at - AQ_DATA_SET_MARK_BYTES) {
        return corrupt(reader, at, "the file is cut short", error);
    }
    *ret_size = size;
    return 0;
}

static int take_columns(aq_data_set_reader *reader, const aq_data_set_mark *mark, uint64_t at,
                        aq_error *error)
{
    uint64_t size;
    int rc = check_size(reader, mark, at, &size, error);
    if (rc != 0) {
        return rc;
    }
    if (size > reader->columns_size) {
        aq_free(reader->columns);
        reader->columns_size = 0;
        reader->columns = aq_alloc((size_t)size, 1);
        if (reader->columns == NULL) {
            return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", reader->path);
        }
        reader->columns_size = (size_t)size;
    }
    rc = take(reader, reader->columns, (size_t)size, error);
    if (rc == 0 && aq_crc32c(0, reader->columns, (size_t)size) != mark->crc) {
        rc = corrupt(reader, at, "the block is damaged", error);
    }
    return rc;
}

int aq_data_set_reader_next(aq_data_set_reader *reader, bool *ret_more,
                            aq_data_set_block *ret_block, aq_error *error)
{
    uint8_t bytes[AQ_DATA_SET_MARK_BYTES];
    aq_data_set_mark mark;
    const uint64_t at = reader->at;
    if (reader->has_ended) {
        *ret_more = false;
        return 0;
    }
    int rc = take(reader, bytes, sizeof(bytes), error);
    if (rc == 0 && aq_data_set_mark_decode(bytes, &mark) != 0) {
        rc = corrupt(reader, at, "no block begins here", error);
    }
    if (rc == 0 && mark.is_end) {
        rc = take_end(reader, &mark, at, error);
        if (rc == 0) {
            reader->has_ended = true;
            *ret_more = false;
        }
        return rc;
    }
    if (rc == 0) {
        rc = take_columns(reader, &mark, at, error);
    }
    if (rc != 0) {
        return rc;
    }
    aq_chunk_view *view = &mark.block.view;
    aq_chunk_view_lay(view, &reader->layout, reader->columns);
    rc = aq_chunk_view_validate(view, &reader->layout, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "%s: offset %" PRIu64, reader->path, at);
    }
    reader->marks_crc = aq_crc32c(reader->marks_crc, bytes, sizeof(bytes));
    aq_data_set_count(&reader->found, view);
    *ret_block = mark.block;
    *ret_more = true;
    return 0;
}

/* Without the check sum at each mark's end: with that, all marks have the same one. */
int aq_data_set_reader_digest(const aq_data_set_reader *reader, uint64_t *ret_digest,
                              aq_error *error)
{
    uint8_t bytes[AQ_DATA_SET_MARK_BYTES];
    aq_data_set_mark mark = {0};
    uint64_t digest = AQ_FNV1A_START;
    uint64_t at = reader->at;
    AQ_ASSERT(reader->found.blocks == 0);
    while (!mark.is_end) {
        uint64_t size = 0;
        const ssize_t got = pread(fileno(reader->file), bytes, sizeof(bytes), (off_t)at);
        if (got < 0) {
            return aq_fail(error, AQ_E_IO, "%s: can't read: %s", reader->path, strerror(errno));
        }
        if (got != sizeof(bytes) || aq_data_set_mark_decode(bytes, &mark) != 0) {
            return corrupt(reader, at, "no block begins here, and no end", error);
        }
        for (size_t i = 0; i < sizeof(bytes) - sizeof(uint32_t); i += sizeof(uint32_t)) {
            digest = aq_fnv1a_word(digest, aq_u32_get(bytes + i));
        }
        int rc = mark.is_end ? 0 : check_size(reader, &mark, at, &size, error);
        if (rc != 0) {
            return rc;
        }
        at += sizeof(bytes) + size;
    }
    *ret_digest = digest;
    return 0;
}

double aq_data_set_reader_done(const aq_data_set_reader *reader)
{
    return reader->size > 0 ? (double)reader->at / (double)reader->size : 1.0;
}

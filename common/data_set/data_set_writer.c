/*
 * Workload: gigabytes in blocks of some kilobytes; stdio's buffer makes them few large writes.
 */
#include "common/data_set/data_set_writer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/crc32c.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

enum { BUFFER_BYTES = 1 << 20 };

struct aq_data_set_writer {
    char path[PATH_MAX];
    char temporary[PATH_MAX];
    FILE *file;
    char *buffer;
    aq_data_set_info info;
    aq_layout layout;
    size_t text_bytes;
    uint32_t marks_crc;
    bool renamed;
};

static int put(aq_data_set_writer *writer, const void *bytes, size_t size, aq_error *error)
{
    return fwrite(bytes, 1, size, writer->file) == size
               ? 0
               : aq_file_fail(error, writer->path, "write");
}

static int put_header(aq_data_set_writer *writer, aq_error *error)
{
    aq_buffer header;
    aq_buffer_init(&header, AQ_DATA_SET_START_BYTES + AQ_DATA_SET_TEXT_BYTES_MAX);
    int rc = aq_data_set_header_encode(&writer->info, writer->text_bytes, &header);
    if (rc != 0) {
        rc = aq_fail(error, rc, "%s: the header: %s", writer->path, aq_error_text(rc));
    } else {
        writer->text_bytes = header.size - AQ_DATA_SET_START_BYTES;
        rc = put(writer, header.data, header.size, error);
    }
    aq_buffer_fini(&header);
    return rc;
}

static int open_file(aq_data_set_writer *writer, aq_error *error)
{
    int fd = open(writer->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        return aq_file_fail(error, writer->path, "make the file");
    }
    writer->file = fdopen(fd, "w+");
    if (writer->file == NULL) {
        (void)close(fd);
        (void)unlink(writer->temporary);
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", writer->path);
    }
    (void)setvbuf(writer->file, writer->buffer, _IOFBF, BUFFER_BYTES);
    return 0;
}

int aq_data_set_writer_create(const char *path, const aq_data_set_info *info, bool replaces,
                              aq_data_set_writer **ret_writer, aq_error *error)
{
    if (!replaces && aq_path_exists(path)) {
        return aq_fail(error, AQ_E_EXISTS, "%s exists already; give --force to replace it", path);
    }
    aq_data_set_writer *writer = aq_alloc(1, sizeof(*writer));
    if (writer == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", path);
    }
    writer->info = *info;
    writer->info.counts = (aq_data_set_counts){.n_step = 1};
    writer->info.schema_hash = aq_schema_hash(&info->schema);
    writer->buffer = aq_alloc(BUFFER_BYTES, 1);
    int rc = writer->buffer != NULL ? 0 : aq_fail(error, AQ_E_NOMEM, "%s: out of memory", path);
    if (rc == 0 && (aq_text_set(writer->path, sizeof(writer->path), path) != 0 ||
                    aq_file_temporary(writer->temporary, sizeof(writer->temporary), path) != 0)) {
        rc = aq_fail(error, AQ_E_TOO_BIG, "the path of the data set is too long");
    }
    if (rc == 0) {
        rc = aq_data_set_layout(info, &writer->layout, error);
    }
    if (rc == 0) {
        rc = open_file(writer, error);
    }
    if (rc == 0) {
        rc = put_header(writer, error);
    }
    if (rc != 0) {
        aq_data_set_writer_destroy(writer);
        return rc;
    }
    *ret_writer = writer;
    return 0;
}

void aq_data_set_writer_destroy(aq_data_set_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    if (writer->file != NULL) {
        (void)fclose(writer->file);
        if (!writer->renamed) {
            (void)unlink(writer->temporary);
        }
    }
    aq_free(writer->buffer);
    aq_free(writer);
}

int aq_data_set_writer_add(aq_data_set_writer *writer, const aq_data_set_block *block,
                           aq_error *error)
{
    const aq_chunk_view *view = &block->view;
    const aq_layout *layout = &writer->layout;
    uint8_t bytes[AQ_DATA_SET_MARK_BYTES];
    int rc = aq_chunk_view_validate(view, layout, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "%s", writer->path);
    }
    aq_data_set_mark mark = {.block = *block};
    for (uint32_t i = 0; i < layout->column_count; i++) {
        mark.crc = aq_crc32c(mark.crc, aq_chunk_view_column(view, i),
                             aq_column_bytes(&layout->columns[i], view->length));
    }
    aq_data_set_mark_encode(&mark, bytes);
    writer->marks_crc = aq_crc32c(writer->marks_crc, bytes, sizeof(bytes));
    rc = put(writer, bytes, sizeof(bytes), error);
    for (uint32_t i = 0; rc == 0 && i < layout->column_count; i++) {
        rc = put(writer, aq_chunk_view_column(view, i),
                 aq_column_bytes(&layout->columns[i], view->length), error);
    }
    if (rc == 0) {
        aq_data_set_count(&writer->info.counts, view);
    }
    return rc;
}

int aq_data_set_writer_finish(aq_data_set_writer *writer, aq_error *error)
{
    uint8_t bytes[AQ_DATA_SET_MARK_BYTES];
    const aq_data_set_mark mark = {
        .is_end = 1, .counts = writer->info.counts, .crc = writer->marks_crc};
    aq_data_set_mark_encode(&mark, bytes);
    int rc = put(writer, bytes, sizeof(bytes), error);
    if (rc == 0 && fseek(writer->file, 0, SEEK_SET) != 0) {
        rc = aq_file_fail(error, writer->path, "write");
    }
    if (rc == 0) {
        rc = put_header(writer, error);
    }
    if (rc == 0 && (fflush(writer->file) != 0 || fsync(fileno(writer->file)) != 0)) {
        rc = aq_file_fail(error, writer->path, "write");
    }
    if (rc == 0 && rename(writer->temporary, writer->path) != 0) {
        rc = aq_file_fail(error, writer->path, "give the file its name");
    }
    if (rc == 0) {
        writer->renamed = true;
        rc = aq_file_sync_folder(writer->path, NULL) != 0
                 ? aq_file_fail(error, writer->path, "sync")
                 : 0;
    }
    return rc;
}

aq_data_set_counts aq_data_set_writer_counts(const aq_data_set_writer *writer)
{
    return writer->info.counts;
}

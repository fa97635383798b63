/*
 * Any bytes in a data set's place are refused in words, or read: as they are, and behind a header
 * that is right, as blocks whose check sums are right, which otherwise would keep everything else
 * out.
 */
#include <string.h>

#include "common/base/assert.h"
#include "common/base/crc32c.h"
#include "common/data_set/data_set_reader.h"
#include "tests/fuzz/fuzz_place.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"

/* Every byte is looked at, so that the sanitizers look, too. */
static void touch(const aq_data_set_block *block, const aq_layout *layout)
{
    static volatile uint32_t sum;
    const aq_chunk_view *view = &block->view;
    sum = aq_crc32c(sum, aq_chunk_view_column(view, AQ_COLUMN_OBS),
                    ((size_t)view->length + 1) * layout->columns[AQ_COLUMN_OBS].bytes);
    sum = aq_crc32c(sum, aq_chunk_view_column(view, AQ_COLUMN_ACTION),
                    (size_t)view->length * layout->columns[AQ_COLUMN_ACTION].bytes);
    sum = aq_crc32c(sum, aq_chunk_view_column(view, AQ_COLUMN_REWARD),
                    (size_t)view->length * sizeof(float));
    sum = aq_crc32c(sum, aq_chunk_view_column(view, AQ_COLUMN_VERSION),
                    (size_t)view->length * sizeof(uint32_t));
}

static void read_all(const aq_buffer *bytes)
{
    aq_data_set_reader *reader;
    aq_data_set_block block;
    aq_error error = {0};
    bool more = true;
    const char *path = fuzz_place_write("set.aqds", bytes->data, bytes->size);
    int rc = aq_data_set_reader_open(path, &reader, &error);
    AQ_ASSERT(error.code == rc);
    if (rc != 0) {
        return;
    }
    while (rc == 0 && more) {
        rc = aq_data_set_reader_next(reader, &more, &block, &error);
        AQ_ASSERT(error.code == rc);
        if (rc == 0 && more) {
            touch(&block, aq_data_set_reader_layout(reader));
        }
    }
    aq_data_set_reader_close(reader);
}

static void append(aq_buffer *out, const void *bytes, size_t size)
{
    must(aq_buffer_append(out, bytes, size));
}

static void put_header(aq_buffer *out)
{
    static const float low[1] = {-1.0f}, high[1] = {1.0f};
    aq_data_set_info info = {.task = "a:b", .counts = {.n_step = 1}};
    aq_space_init_box(&info.schema.obs, 1, low, high);
    aq_space_init_discrete(&info.schema.action, 3);
    info.schema_hash = aq_schema_hash(&info.schema);
    must(aq_data_set_header_encode(&info, 0, out));
}

/* The input is a block's mark and columns, whose check sums are mended. */
static void put_block(aq_buffer *out, const uint8_t *data, size_t size)
{
    uint8_t mark[AQ_DATA_SET_MARK_BYTES];
    memcpy(mark, data, sizeof(mark));
    memcpy(mark, size % 5 == 0 ? "AQED" : "AQBK", 4);
    uint32_t crc = aq_crc32c(0, data + sizeof(mark), size - sizeof(mark));
    memcpy(mark + 56, &crc, 4);
    crc = aq_crc32c(0, mark, 60);
    memcpy(mark + 60, &crc, 4);
    append(out, mark, sizeof(mark));
    append(out, data + sizeof(mark), size - sizeof(mark));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    aq_buffer bytes;
    aq_buffer_init(&bytes, 1 << 20);
    append(&bytes, data, size);
    read_all(&bytes);
    aq_buffer_clear(&bytes);
    put_header(&bytes);
    append(&bytes, data, size);
    read_all(&bytes);
    if (size >= AQ_DATA_SET_MARK_BYTES) {
        aq_buffer_clear(&bytes);
        put_header(&bytes);
        put_block(&bytes, data, size);
        read_all(&bytes);
    }
    aq_buffer_fini(&bytes);
    return 0;
}

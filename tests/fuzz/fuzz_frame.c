/*
 * Frames for the fuzz targets.
 */
#include "tests/fuzz/fuzz_frame.h"

#include <string.h>

#include "common/base/assert.h"
#include "tests/support/must.h"

void fuzz_frame_wrap(const uint8_t *payload, size_t size, enum aq_frame_kind kind, aq_buffer *out)
{
    size_t start;
    aq_buffer_init(out, FUZZ_FRAME_BYTES_MAX);
    must(aq_frame_begin(out, &start));
    must(aq_buffer_append(out, payload, size));
    aq_frame_end(out, start, kind);
}

int fuzz_frame_receive(const uint8_t *data, size_t size, enum aq_frame_kind kind,
                       void (*receive)(const uint8_t *data, size_t size))
{
    receive(data, size);
    if (size >= AQ_FRAME_HEADER_BYTES && size <= FUZZ_FRAME_BYTES_MAX) {
        aq_buffer mended;
        fuzz_frame_wrap(data + AQ_FRAME_HEADER_BYTES, size - AQ_FRAME_HEADER_BYTES, kind, &mended);
        receive(mended.data, mended.size);
        aq_buffer_fini(&mended);
    }
    return 0;
}

void fuzz_frame_assert_same(aq_buffer *once, aq_buffer *twice)
{
    AQ_ASSERT(once->size == twice->size);
    AQ_ASSERT(once->size == 0 || memcmp(once->data, twice->data, once->size) == 0);
    aq_buffer_fini(once);
    aq_buffer_fini(twice);
}

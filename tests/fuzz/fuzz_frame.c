/*
 * Frames for the fuzz targets.
 */
#include "tests/fuzz/fuzz_frame.h"

#include <string.h>

#include "common/base/assert.h"

bool fuzz_frame_mend(const uint8_t *data, size_t size, enum aq_frame_kind kind, aq_buffer *out)
{
    size_t start;
    if (size < AQ_FRAME_HEADER_BYTES || size > FUZZ_FRAME_BYTES_MAX) {
        return false;
    }
    aq_buffer_init(out, FUZZ_FRAME_BYTES_MAX);
    AQ_ASSERT(aq_frame_begin(out, &start) == 0);
    AQ_ASSERT(aq_buffer_append(out, data + AQ_FRAME_HEADER_BYTES, size - AQ_FRAME_HEADER_BYTES) ==
              0);
    aq_frame_end(out, start, kind);
    return true;
}

void fuzz_frame_assert_same(aq_buffer *once, aq_buffer *twice)
{
    AQ_ASSERT(once->size == twice->size);
    AQ_ASSERT(memcmp(once->data, twice->data, once->size) == 0);
    aq_buffer_fini(once);
    aq_buffer_fini(twice);
}

/*
 * What the fuzz targets share. Their input is a whole frame, so that a recorded one is a seed; its
 * header is made right before it is decoded, or the check sum would keep everything else out.
 */
#ifndef AQ_TESTS_FUZZ_FUZZ_FRAME_H
#define AQ_TESTS_FUZZ_FUZZ_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/net/rpc/frame.h"
#include "tests/fuzz/fuzz_target.h"

enum { FUZZ_FRAME_BYTES_MAX = 1 << 24 };

/* Gives the input to the decoder as it is, and, if it has a header at all, with one that is made
 * right for `kind`. Returns 0. */
int fuzz_frame_receive(const uint8_t *data, size_t size, enum aq_frame_kind kind,
                       void (*receive)(const uint8_t *data, size_t size));

/* Starts `out` and puts a frame around the payload. */
void fuzz_frame_wrap(const uint8_t *payload, size_t size, enum aq_frame_kind kind, aq_buffer *out);

/* What was read was written again, and again after it was read from there: same bytes. Finishes
 * both. */
void fuzz_frame_assert_same(aq_buffer *once, aq_buffer *twice);

#endif

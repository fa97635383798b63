/*
 * An input as a row of steps.
 */
#include "tests/fuzz/fuzz_stream.h"

#include "tests/fuzz/fuzz_target.h"

bool fuzz_stream_next(fuzz_stream *stream, fuzz_step *ret_step)
{
    if (stream->left < FUZZ_STREAM_HEADER_BYTES || stream->steps == FUZZ_STREAM_STEPS_MAX) {
        return false;
    }
    const uint8_t *at = stream->bytes;
    size_t left = stream->left - FUZZ_STREAM_HEADER_BYTES;
    size_t size = (size_t)at[1] | (size_t)at[2] << 8;
    *ret_step = (fuzz_step){
        .kind = (enum fuzz_step_kind)fuzz_choice(at[0], FUZZ_STEP_KINDS),
        .bytes = at + FUZZ_STREAM_HEADER_BYTES,
        .size = size < left ? size : left,
    };
    stream->bytes = ret_step->bytes + ret_step->size;
    stream->left = left - ret_step->size;
    stream->steps++;
    return true;
}

int64_t fuzz_step_ms(const fuzz_step *step)
{
    int64_t ms = step->size > 0 ? step->bytes[0] : 1;
    return step->size > 1 ? ms | (int64_t)step->bytes[1] << 8 : ms;
}

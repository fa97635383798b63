/*
 * Pictures of one channel a frame, four frames: the usual case, in which the compiler knows the
 * sizes.
 */
#include "common/experience/frames.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { USUAL_COUNT = 4, USUAL_BYTES = 1 };

aq_frames aq_frames_of(const aq_space *space)
{
    if (space->frames == 0) {
        return (aq_frames){0};
    }
    const uint32_t bytes = (uint32_t)(aq_space_bytes(space) / space->frames);
    const size_t elements = aq_space_elements(space);
    const size_t pixels = space->rank > 1 ? elements / space->shape[space->rank - 1] : 1;
    return (aq_frames){
        .count = space->frames, .bytes = bytes, .pixel_bytes = (uint32_t)(bytes / pixels)};
}

INLINE void split(const aq_frames *frames, const uint8_t *restrict value, uint8_t *restrict out,
                  uint32_t first, const uint32_t count, const uint32_t pixel_bytes)
{
    for (uint32_t f = first; f < count; f++) {
        uint8_t *frame = out + (size_t)(f - first) * frames->bytes;
        for (uint32_t at = 0; at < frames->bytes; at += pixel_bytes) {
            memcpy(frame + at, value + (size_t)at * count + f * pixel_bytes, pixel_bytes);
        }
    }
}

static void split_from(const aq_frames *frames, const uint8_t *value, uint32_t first, uint8_t *out)
{
    if (frames->count == USUAL_COUNT && frames->pixel_bytes == USUAL_BYTES) {
        split(frames, value, out, first, USUAL_COUNT, USUAL_BYTES);
    } else {
        split(frames, value, out, first, frames->count, frames->pixel_bytes);
    }
}

void aq_frames_split(const aq_frames *frames, const uint8_t *value, uint8_t *ret_frames)
{
    split_from(frames, value, 0, ret_frames);
}

void aq_frames_newest(const aq_frames *frames, const uint8_t *value, uint8_t *ret_frame)
{
    split_from(frames, value, frames->count - 1, ret_frame);
}

INLINE void join(const aq_frames *frames, const uint8_t *restrict from, uint8_t *restrict value,
                 const uint32_t count, const uint32_t pixel_bytes)
{
    for (uint32_t at = 0; at < frames->bytes; at += pixel_bytes) {
        for (uint32_t f = 0; f < count; f++) {
            memcpy(value + (size_t)at * count + f * pixel_bytes,
                   from + (size_t)f * frames->bytes + at, pixel_bytes);
        }
    }
}

void aq_frames_join(const aq_frames *frames, const uint8_t *from, uint8_t *ret_value)
{
    if (frames->bytes == frames->pixel_bytes) {
        memcpy(ret_value, from, (size_t)frames->count * frames->bytes);
    } else if (frames->count == USUAL_COUNT && frames->pixel_bytes == USUAL_BYTES) {
        join(frames, from, ret_value, USUAL_COUNT, USUAL_BYTES);
    } else if (frames->pixel_bytes == USUAL_BYTES) {
        join(frames, from, ret_value, frames->count, USUAL_BYTES);
    } else {
        join(frames, from, ret_value, frames->count, frames->pixel_bytes);
    }
}

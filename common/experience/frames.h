/*
 * Frames: a value that is the last few of what came before it, such as the four pictures that an
 * agent sees at once. From one step to the next such a value loses its oldest frame and gets a new
 * one, so a chunk holds each frame once: the frames of its first value, the oldest first, then the
 * newest of each value. Value t begins at frame t. Where an episode begins is nothing special: what
 * stands for the frames before it, is in its first value.
 *
 * In a value the frames are interleaved, pixel by pixel, or laid end to end where there are no
 * pixels. Plain data; any thread.
 */
#ifndef AQ_COMMON_EXPERIENCE_FRAMES_H
#define AQ_COMMON_EXPERIENCE_FRAMES_H

#include <stdint.h>

#include "common/experience/schema.h"

typedef struct aq_frames {
    uint32_t count;       /* 0: a value is whole */
    uint32_t bytes;       /* of one */
    uint32_t pixel_bytes; /* of one, at each place where they are interleaved */
} aq_frames;

aq_frames aq_frames_of(const aq_space *space);

/* All frames of a value, the oldest first. */
void aq_frames_split(const aq_frames *frames, const uint8_t *value, uint8_t *ret_frames);

/* The newest one. */
void aq_frames_newest(const aq_frames *frames, const uint8_t *value, uint8_t *ret_frame);

/* The value whose oldest frame is at `from`. */
void aq_frames_join(const aq_frames *frames, const uint8_t *from, uint8_t *ret_value);

#endif

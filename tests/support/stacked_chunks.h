/*
 * Chunks whose observations are stacks of frames, and the same experience in chunks of whole
 * values, stacked in the plainest way there is: number by number.
 */
#ifndef AQ_TESTS_SUPPORT_STACKED_CHUNKS_H
#define AQ_TESTS_SUPPORT_STACKED_CHUNKS_H

#include "tests/support/chance.h"
#include "tests/support/chunks.h"

/* Four pictures of 5 by 3; three of 2 by 3 with two channels; two of three floats. */
#define STACKED_PICTURE                                                                            \
    {                                                                                              \
        .kind = AQ_SPACE_BOX, .dtype = AQ_DTYPE_U8, .rank = 3, .shape = {5, 3, 4}, .frames = 4,    \
        .bound_count = 1, .high = {                                                                \
            255                                                                                    \
        }                                                                                          \
    }
#define STACKED_CHANNELS                                                                           \
    {                                                                                              \
        .kind = AQ_SPACE_BOX, .dtype = AQ_DTYPE_F32, .rank = 3, .shape = {2, 3, 6}, .frames = 3,   \
        .bound_count = 1, .high = {                                                                \
            1                                                                                      \
        }                                                                                          \
    }
#define STACKED_NUMBERS                                                                            \
    {                                                                                              \
        .kind = AQ_SPACE_BOX, .dtype = AQ_DTYPE_F32, .rank = 1, .shape = {6}, .frames = 2,         \
        .bound_count = 1, .high = {                                                                \
            1                                                                                      \
        }                                                                                          \
    }

static inline aq_layout stacked_layout(const aq_space *obs, uint32_t n_step, uint32_t length_max)
{
    aq_space action;
    aq_space_init_discrete(&action, 3);
    return chunk_layout_of(*obs, action, n_step, length_max);
}

static inline aq_layout whole_layout(const aq_space *obs, uint32_t n_step, uint32_t length_max)
{
    aq_space plain = *obs;
    plain.frames = 0;
    return stacked_layout(&plain, n_step, length_max);
}

/* The value that the frames at `from` make. */
static inline void stack_plainly(const aq_frames *frames, uint32_t dtype, const uint8_t *from,
                                 uint8_t *value)
{
    const size_t size = dtype == AQ_DTYPE_U8 ? 1 : 4;
    const size_t elements = frames->bytes / size;
    const size_t channels = frames->pixel_bytes / size;
    for (size_t f = 0; f < frames->count; f++) {
        for (size_t e = 0; e < elements; e++) {
            const size_t to = (e / channels * frames->count + f) * channels + e % channels;
            memcpy(value + to * size, from + (f * elements + e) * size, size);
        }
    }
}

/* `ending`: 0 the episode goes on, 1 it terminates, 2 it is truncated. One reference. */
static inline aq_chunk *stacked_chunk(const aq_layout *layout, uint32_t length, uint32_t ending,
                                      aq_rng *rng)
{
    aq_chunk *chunk;
    int rc = aq_chunk_create(layout, length, &chunk);
    AQ_ASSERT(rc == 0);
    chunk->view.length = length;
    chunk->view.terminated = ending == 1;
    chunk->view.truncated = ending == 2;
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        uint8_t *bytes = chunk_column_of(chunk, i);
        const size_t count = aq_column_bytes(column, length);
        for (size_t at = 0; column->dtype == AQ_DTYPE_U8 && at < count; at++) {
            bytes[at] = (uint8_t)aq_rng_below(rng, 256);
        }
        for (size_t at = 0; column->dtype != AQ_DTYPE_U8 && at < count; at += 4) {
            const uint32_t choice = (uint32_t)aq_rng_below(rng, 3);
            const float number = (float)aq_rng_uniform(rng);
            memcpy(bytes + at, column->dtype == AQ_DTYPE_F32 ? (const void *)&number : &choice, 4);
        }
    }
    return chunk;
}

/* The same in whole values. One reference. */
static inline aq_chunk *whole_chunk(const aq_layout *stacked, const aq_layout *whole,
                                    const aq_chunk *chunk)
{
    aq_chunk *made;
    const uint32_t length = chunk->view.length;
    int rc = aq_chunk_create(whole, length, &made);
    AQ_ASSERT(rc == 0);
    for (uint32_t i = 0; i < whole->column_count; i++) {
        const aq_column *from = &stacked->columns[i];
        const uint8_t *bytes = aq_chunk_view_column(&chunk->view, i);
        uint8_t *to = chunk_column_of(made, i);
        if (from->frames.count == 0) {
            memcpy(to, bytes, aq_column_bytes(from, length));
            continue;
        }
        for (size_t t = 0; t < aq_column_values(from, length); t++) {
            stack_plainly(&from->frames, from->dtype, bytes + t * from->frames.bytes,
                          to + t * from->bytes);
        }
    }
    made->view.length = length;
    made->view.terminated = chunk->view.terminated;
    made->view.truncated = chunk->view.truncated;
    return made;
}

#endif

/*
 * Frame stack: the last observations of an environment, scaled, as one row. Frames of more
 * than two dimensions lie along the last, and those of two, (height, width), along one behind it;
 * others lie behind each other. The oldest is first.
 *
 * Constant after init; any thread.
 */
#ifndef AQ_ENVS_FRAME_STACK_H
#define AQ_ENVS_FRAME_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "common/experience/schema.h"

typedef struct aq_frame_stack {
    uint32_t frames;
    float scale; /* of floats; 1: they are copied */
    size_t frame_bytes;
    size_t pixels;   /* places that frames are interleaved at: 1 where they are laid end to end */
    size_t channels; /* elements of a frame at each of them */
} aq_frame_stack;

/* `frame` is the space of one; a scale other than 1 is for floats. */
void aq_frame_stack_init(aq_frame_stack *stack, const aq_space *frame, uint32_t frames,
                         double scale);

/* The space of the row. One that is no box stays as it is. */
void aq_frame_stack_space(const aq_frame_stack *stack, const aq_space *frame, aq_space *ret_space);

/* Writes the row of `frames` that lie behind each other. */
void aq_frame_stack_write(const aq_frame_stack *stack, const uint8_t *frames, void *row);

#endif

/*
 * Frame stack: see frame_stack.h.
 */
#include "envs/frame_stack.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Height and width: a channel that is not said. */
static bool is_grey(const aq_space *frame)
{
    return frame->kind == AQ_SPACE_BOX && frame->rank == 2;
}

void aq_frame_stack_init(aq_frame_stack *stack, const aq_space *frame, uint32_t frames,
                         double scale)
{
    const size_t elements = aq_space_elements(frame);
    const size_t channels = is_grey(frame)    ? 1
                            : frame->rank > 1 ? frame->shape[frame->rank - 1]
                                              : elements;
    *stack = (aq_frame_stack){
        .frames = frames,
        .scale = (float)scale,
        .frame_bytes = aq_space_bytes(frame),
        .pixels = elements / channels,
        .channels = channels,
    };
}

/* One bound each where there is room for as many, else one for all. */
static void stack_bounds(const aq_frame_stack *stack, const aq_space *frame, aq_space *space)
{
    const size_t row = stack->channels * stack->frames, count = stack->pixels * row;
    if (frame->bound_count > 1 && count <= AQ_BOUNDS_MAX) {
        space->bound_count = (uint32_t)count;
        for (size_t i = 0; i < count; i++) {
            const size_t from = i / row * stack->channels + i % stack->channels;
            space->low[i] = frame->low[from] * stack->scale;
            space->high[i] = frame->high[from] * stack->scale;
        }
        return;
    }
    space->bound_count = 1;
    space->low[0] = frame->low[0];
    space->high[0] = frame->high[0];
    for (uint32_t i = 1; i < frame->bound_count; i++) {
        space->low[0] = fminf(space->low[0], frame->low[i]);
        space->high[0] = fmaxf(space->high[0], frame->high[i]);
    }
    space->low[0] *= stack->scale;
    space->high[0] *= stack->scale;
}

void aq_frame_stack_space(const aq_frame_stack *stack, const aq_space *frame, aq_space *ret_space)
{
    *ret_space = *frame;
    if (frame->kind != AQ_SPACE_BOX) {
        return;
    }
    if (ret_space->rank == 0) {
        ret_space->rank = 1;
        ret_space->shape[0] = 1;
    }
    if (stack->frames > 1 && is_grey(frame)) {
        ret_space->shape[ret_space->rank++] = 1;
    }
    ret_space->shape[ret_space->rank - 1] *= stack->frames;
    if (stack->frames > 1) {
        ret_space->frames = stack->frames;
    }
    stack_bounds(stack, frame, ret_space);
}

static void scale_frame(const aq_frame_stack *stack, const uint8_t *frame, size_t nth, float *row)
{
    const float *from = (const float *)(const void *)frame;
    const size_t stride = stack->frames * stack->channels;
    for (size_t pixel = 0; pixel < stack->pixels; pixel++) {
        float *to = row + pixel * stride + nth * stack->channels;
        for (size_t i = 0; i < stack->channels; i++) {
            to[i] = from[pixel * stack->channels + i] * stack->scale;
        }
    }
}

static void copy_frame(const aq_frame_stack *stack, const uint8_t *frame, size_t nth, uint8_t *row)
{
    const size_t bytes = stack->frame_bytes / stack->pixels;
    const size_t stride = stack->frames * bytes;
    if (bytes == 1) { /* grey pictures: a call for each byte takes ten times as long */
        for (size_t pixel = 0; pixel < stack->pixels; pixel++) {
            row[pixel * stride + nth] = frame[pixel];
        }
        return;
    }
    for (size_t pixel = 0; pixel < stack->pixels; pixel++) {
        memcpy(row + pixel * stride + nth * bytes, frame + pixel * bytes, bytes);
    }
}

void aq_frame_stack_write(const aq_frame_stack *stack, const uint8_t *frames, void *row)
{
    for (size_t i = 0; i < stack->frames; i++) {
        const uint8_t *frame = frames + i * stack->frame_bytes;
        if (stack->scale != 1.0f) {
            scale_frame(stack, frame, i, row);
        } else {
            copy_frame(stack, frame, i, row);
        }
    }
}

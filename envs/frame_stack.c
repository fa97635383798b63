/*
 * Frame stack: see frame_stack.h.
 */
#include "envs/frame_stack.h"

#include <math.h>
#include <stdbool.h>

/* Height and width: a channel that is not said. */
static bool is_grey(const aq_space *frame)
{
    return frame->kind == AQ_SPACE_BOX && frame->rank == 2;
}

/* One bound each where there is room for as many, else one for all. */
static void stack_bounds(const aq_space *frame, uint32_t frames, float scale, aq_space *space)
{
    const size_t elements = aq_space_elements(frame), count = elements * frames;
    const size_t channels = is_grey(frame)    ? 1
                            : frame->rank > 1 ? frame->shape[frame->rank - 1]
                                              : elements;
    if (frame->bound_count > 1 && count <= AQ_BOUNDS_MAX) {
        space->bound_count = (uint32_t)count;
        for (size_t i = 0; i < count; i++) {
            const size_t from = i / (channels * frames) * channels + i % channels;
            space->low[i] = frame->low[from] * scale;
            space->high[i] = frame->high[from] * scale;
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
    space->low[0] *= scale;
    space->high[0] *= scale;
}

void aq_frame_stack_space(const aq_space *frame, uint32_t frames, float scale, aq_space *ret_space)
{
    *ret_space = *frame;
    if (frame->kind != AQ_SPACE_BOX) {
        return;
    }
    if (frames > 1 && is_grey(frame)) {
        ret_space->shape[ret_space->rank++] = 1;
    }
    ret_space->shape[ret_space->rank - 1] *= frames;
    if (frames > 1) {
        ret_space->frames = frames;
    }
    stack_bounds(frame, frames, scale, ret_space);
}

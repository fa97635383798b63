/*
 * Frame stack: the space of the last observations of an environment, scaled, as one row. Frames of
 * more than two dimensions lie along the last, and those of two, (height, width), along one behind
 * it; others lie behind each other. The oldest is first. aq_frames_join makes such rows.
 *
 * Any thread.
 */
#ifndef AQ_ENVS_FRAME_STACK_H
#define AQ_ENVS_FRAME_STACK_H

#include <stdint.h>

#include "common/experience/schema.h"

/* `frame` is the space of one; one that is no box stays as it is. A scale other than 1 is for
 * floats. */
void aq_frame_stack_space(const aq_space *frame, uint32_t frames, float scale, aq_space *ret_space);

#endif

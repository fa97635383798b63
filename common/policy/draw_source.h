/*
 * Draw source: the noise that heads draw from, as a function of who draws and when. So nobody keeps
 * a generator's state, and noise can be had again by whoever knows the numbers.
 *
 * No state; any thread.
 */
#ifndef AQ_COMMON_POLICY_DRAW_SOURCE_H
#define AQ_COMMON_POLICY_DRAW_SOURCE_H

#include <stdint.h>

#include "common/policy/head.h"

/* Which of them: the draw number `draw` of an environment. A normal number is a sum of as many as
 * there are octaves, 1 at least, of which each is held for twice as many draws as the one before,
 * divided by the root of their count. So ten octaves are pink noise but for what is slower than 512
 * draws, each number of it standard normal, and one octave is white noise. */
typedef struct aq_draw_at {
    uint64_t key; /* of one start of one actor in one run */
    uint64_t draw;
    uint32_t lane;
    uint32_t octaves;
} aq_draw_at;

/* `count` numbers of the head's kind of noise; uniform ones have no octaves. */
void aq_draw_noise(const aq_head_drawing *drawing, const aq_draw_at *at, uint32_t count,
                   float *ret_noise);

/* The same for a policy's layers that take noise (layer_spec.h): factors of factorized Gaussian
 * noise (Fortunato et al., 2018), sign(n) sqrt(|n|) of normal numbers n. */
void aq_draw_layer_noise(const aq_draw_at *at, uint32_t count, float *ret_noise);

#endif

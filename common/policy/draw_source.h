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

/* Of the draw number `draw` of an environment: `count` numbers of the head's kind of noise.
 * `key` is of one start of one actor in one run. */
void aq_draw_noise(const aq_head_drawing *drawing, uint64_t key, uint32_t lane, uint64_t draw,
                   uint32_t count, float *ret_noise);

/* The same for a policy's layers that take noise (layer_spec.h): factors of factorized Gaussian
 * noise (Fortunato et al., 2018), sign(n) sqrt(|n|) of normal numbers n. */
void aq_draw_layer_noise(uint64_t key, uint32_t lane, uint64_t draw, uint32_t count,
                         float *ret_noise);

#endif

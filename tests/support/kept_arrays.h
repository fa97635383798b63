/*
 * Kept arrays: the list that an algorithm of ours keeps in a checkpoint, over arrays of the test.
 */
#ifndef AQ_TESTS_SUPPORT_KEPT_ARRAYS_H
#define AQ_TESTS_SUPPORT_KEPT_ARRAYS_H

#include "common/nn/named_arrays.h"

/* Four arrays of `count` floats: parameters, target, adam_m, adam_v; and how many steps there
 * were. */
void kept_arrays(size_t count, float *const arrays[4], uint64_t *adam_step,
                 aq_named_arrays *ret_arrays);

/* The values of one that must be there. */
float *kept_floats(const aq_named_arrays *arrays, const char *name);
uint64_t kept_adam_step(const aq_named_arrays *arrays);

#endif

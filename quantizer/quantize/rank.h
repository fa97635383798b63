/*
 * Rank: the value at a place of the sorted order, without sorting. A radix selection over the bits
 * of the floats: four passes whatever the values are, and no copy of them.
 *
 * No state; any thread.
 */
#ifndef AQ_QUANTIZER_QUANTIZE_RANK_H
#define AQ_QUANTIZER_QUANTIZE_RANK_H

#include <stddef.h>

/* The value that stands at `index` when `values`, of which none is NaN, are sorted upwards;
 * index < count. -0 is below 0. */
float aq_rank_value(const float *values, size_t count, size_t index);

#endif

/*
 * Input ranges: what goes into each layer, for static quantization of the activations. A range
 * observer (quantizer/engine) finds them.
 *
 * No state; any thread.
 */
#ifndef AQ_QUANTIZER_QUANTIZE_INPUT_RANGES_H
#define AQ_QUANTIZER_QUANTIZE_INPUT_RANGES_H

#include <stdint.h>

#include "common/policy/netspec.h"

/* low <= 0 <= high for each layer's input; both 0 where nothing was seen: dynamic. */
typedef struct aq_input_ranges {
    float low[AQ_NET_LAYERS_MAX];
    float high[AQ_NET_LAYERS_MAX];
} aq_input_ranges;

/* The scale and zero point of one range, as the kernels' rows have them (qkernels.h); `ret_scale`
 * is 0 for a range that is empty, or too small or too large for one. low <= 0 <= high. */
void aq_input_range_quant(float low, float high, float *ret_scale, int32_t *ret_zero_point);

#endif

/*
 * Input ranges: what goes into each layer on observed states, for static quantization of the
 * activations. Observed over batches of replayed observations, one after the other.
 *
 * One thread at a time per observer.
 */
#ifndef AQ_QUANTIZER_QUANTIZE_INPUT_RANGES_H
#define AQ_QUANTIZER_QUANTIZE_INPUT_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/nn/params.h"
#include "common/policy/netspec.h"
#include "common/policy/range_method.h"

/* low <= 0 <= high for each layer's input; both 0 where nothing was seen, or what is put in depends
 * on steps before (behind a GRU): dynamic. */
typedef struct aq_input_ranges {
    float low[AQ_NET_LAYERS_MAX];
    float high[AQ_NET_LAYERS_MAX];
} aq_input_ranges;

#define AQ_RANGE_AVERAGE_SHARE  0.1   /* of the newest batch */
#define AQ_RANGE_PERCENTILE_CUT 0.001 /* share of values beyond each end */

typedef struct aq_range_observer {
    uint32_t method;
    uint64_t batches;
    aq_input_ranges ranges; /* so far */
} aq_range_observer;

void aq_range_observer_init(aq_range_observer *observer, enum aq_range_method method);

/* Takes in obs (rows, inputs), rows > 0, through the fp32 network; the same network each time.
 * AQ_E_CORRUPT, and nothing taken in, when a value on the way or at the end is NaN or infinite;
 * AQ_E_NOMEM. */
int aq_range_observe(aq_range_observer *observer, const aq_net_spec *spec, const aq_params *params,
                     const float *obs, size_t rows) AQ_MUST_USE;

/* The scale and zero point of one range, as the kernels' rows have them (qkernels.h); `ret_scale`
 * is 0 for a range that is empty, or too small or too large for one. low <= 0 <= high. */
void aq_input_range_quant(float low, float high, float *ret_scale, int32_t *ret_zero_point);

#endif

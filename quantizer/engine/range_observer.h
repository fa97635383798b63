/*
 * Range observer: what goes into each layer on observed states (input_ranges.h). Observed over
 * batches of replayed observations, one after the other.
 *
 * One thread at a time per observer.
 */
#ifndef AQ_QUANTIZER_ENGINE_RANGE_OBSERVER_H
#define AQ_QUANTIZER_ENGINE_RANGE_OBSERVER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/range_method.h"
#include "quantizer/engine/engine.h"
#include "quantizer/quantize/input_ranges.h"

#define AQ_RANGE_AVERAGE_SHARE  0.1   /* of the newest batch */
#define AQ_RANGE_PERCENTILE_CUT 0.001 /* share of values beyond each end */

typedef struct aq_range_observer {
    uint32_t method;
    uint64_t batches;
    aq_input_ranges ranges; /* so far */
} aq_range_observer;

void aq_range_observer_init(aq_range_observer *observer, enum aq_range_method method);

/* Takes in obs (rows, inputs), 0 < rows <= the engine's rows_max, through `exact`, the policy in
 * fp32; the same network each time. Nothing is seen where a layer has no weights to multiply with,
 * makes deviations, or depends on steps before (behind a GRU). AQ_E_CORRUPT, and nothing taken in,
 * when a value that goes into one of the others is NaN or infinite; AQ_E_NOMEM. */
int aq_range_observe(aq_range_observer *observer, aq_engine *exact, const float *obs,
                     size_t rows) AQ_MUST_USE;

#endif

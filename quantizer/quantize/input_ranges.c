/*
 * Observing the ranges of the layers' inputs. A batch is looked at as a whole before any of it is
 * taken in, so that a broken value in its last layer leaves the observer as it was.
 */
#include "quantizer/quantize/input_ranges.h"

#include <float.h>
#include <math.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/experience/finite.h"
#include "common/nn/forward.h"
#include "common/policy/netspec.h"
#include "quantizer/quantize/rank.h"

/* A larger step could not be multiplied by every level. */
#define INPUT_SCALE_MAX (FLT_MAX / 256.0f)

static const struct method_row {
    double cut; /* share of a batch's values beyond each end */
    bool averages;
} methods[AQ_RANGE_METHOD_END] = {
    [AQ_RANGE_MIN_MAX] = {0.0, false},
    [AQ_RANGE_MOVING_AVERAGE] = {0.0, true},
    [AQ_RANGE_PERCENTILE] = {AQ_RANGE_PERCENTILE_CUT, true},
};

static bool is_method(uint32_t method)
{
    return method > AQ_RANGE_NONE && method < AQ_RANGE_METHOD_END;
}

void aq_range_observer_init(aq_range_observer *observer, enum aq_range_method method)
{
    AQ_ASSERT(is_method(method));
    *observer = (aq_range_observer){.method = method};
}

/* ---- one batch ------------------------------------------------------------------------------ */

typedef struct batch_view {
    const aq_net_spec *spec;
    uint64_t remembering; /* values; see find_remembering */
    double cut;
    bool is_finite;
    aq_input_ranges ranges;
} batch_view;

static void find_range(const float *values, size_t count, double cut, float *ret_low,
                       float *ret_high)
{
    const size_t beyond = (size_t)(cut * (double)count);
    float low = 0.0f;
    float high = 0.0f;
    if (beyond > 0) {
        const float first = aq_rank_value(values, count, beyond);
        const float last = aq_rank_value(values, count, count - 1 - beyond);
        low = first < 0.0f ? first : 0.0f;
        high = last > 0.0f ? last : 0.0f;
    } else {
        for (size_t i = 0; i < count; i++) {
            low = values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
        }
    }
    *ret_low = low;
    *ret_high = high;
}

/* The values, one bit each, that depend on steps before: a batch, in which every row is a first
 * step, does not show how far they reach. */
static uint64_t find_remembering(const aq_net_spec *spec)
{
    uint64_t found = 0;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_sources sources = aq_net_sources(spec, i);
        uint64_t remembers = aq_layer_state(&spec->layers[i]) > 0;
        for (uint32_t k = 0; k < sources.count; k++) {
            remembers |= found >> sources.values[k] & 1;
        }
        found |= remembers << (1 + i);
    }
    return found;
}

static void visit_layer(void *user, uint32_t layer, const float *in, size_t rows)
{
    batch_view *batch = user;
    const uint32_t value = aq_net_sources(batch->spec, layer).values[0];
    const size_t count = rows * aq_net_value_width(batch->spec, value);
    if (aq_find_nonfinite(in, count) < count) {
        batch->is_finite = false;
    } else if ((batch->remembering >> value & 1) == 0) {
        find_range(in, count, batch->cut, &batch->ranges.low[layer], &batch->ranges.high[layer]);
    }
}

/* ---- all batches ---------------------------------------------------------------------------- */

static void take_in(float *so_far, float newest, bool averages)
{
    if (averages) {
        *so_far =
            (float)((double)*so_far + AQ_RANGE_AVERAGE_SHARE * ((double)newest - (double)*so_far));
    } else if (fabsf(newest) > fabsf(*so_far)) {
        *so_far = newest;
    }
}

int aq_range_observe(aq_range_observer *observer, const aq_net_spec *spec, const aq_params *params,
                     const float *obs, size_t rows)
{
    AQ_ASSERT(is_method(observer->method));
    AQ_ASSERT(rows > 0);
    const struct method_row *method = &methods[observer->method];
    const size_t outputs = rows * aq_net_spec_outputs(spec);
    float *out = aq_alloc(outputs + aq_forward_scratch(spec, rows), sizeof(*out));
    if (out == NULL) {
        return AQ_E_NOMEM;
    }
    batch_view batch = {
        .spec = spec, .remembering = find_remembering(spec), .cut = method->cut, .is_finite = true};
    const aq_forward_visitor visitor = {.user = &batch, .visit = visit_layer};
    aq_forward_visit(spec, params, obs, rows, out + outputs, out, &visitor);
    const bool is_finite = batch.is_finite && aq_find_nonfinite(out, outputs) == outputs;
    aq_free(out);
    if (!is_finite) {
        return AQ_E_CORRUPT;
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const bool averages = method->averages && observer->batches > 0;
        take_in(&observer->ranges.low[i], batch.ranges.low[i], averages);
        take_in(&observer->ranges.high[i], batch.ranges.high[i], averages);
    }
    observer->batches++;
    return 0;
}

void aq_input_range_quant(float low, float high, float *ret_scale, int32_t *ret_zero_point)
{
    const float step = 1.0f / 255.0f;
    const float scale = high * step - low * step;
    const bool is_usable = scale >= FLT_MIN && scale <= INPUT_SCALE_MAX;
    *ret_scale = is_usable ? scale : 0.0f;
    *ret_zero_point = is_usable ? (int32_t)lrintf(-low * (1.0f / scale)) : 0;
}

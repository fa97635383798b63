/*
 * Observing the ranges of the layers' inputs. A batch is looked at as a whole before any of it is
 * taken in, so that a broken value in its last layer leaves the observer as it was.
 *
 * Each input is computed anew, from the observations on, as what lies between layers is gone when
 * the engine returns. All these passes together take less time than one of the reference of
 * common/nn, also where layers are many.
 */
#include "quantizer/engine/range_observer.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/experience/finite.h"
#include "common/policy/netspec.h"
#include "quantizer/quantize/rank.h"

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

/* What goes into the matrix of a layer that has one, acts and remembers nothing. */
static bool finds_ranges(aq_engine *exact, const float *obs, size_t rows, double cut, float *room,
                         aq_input_ranges *ret_ranges)
{
    const aq_net_spec *spec = &aq_engine_snapshot(exact)->spec;
    const uint64_t remembering = find_remembering(spec);
    bool acting[AQ_NET_LAYERS_MAX], is_finite = true;
    aq_net_find_acting(spec, acting);
    for (uint32_t i = 0; i < spec->layer_count && is_finite; i++) {
        const aq_layer_spec *layer = &spec->layers[i];
        const uint32_t value = aq_net_sources(spec, i).values[0];
        const size_t count = rows * aq_net_value_width(spec, value);
        if (!acting[i] || !aq_layer_is_quantizable(layer) || aq_layer_state(layer) > 0 ||
            (remembering >> value & 1) != 0) {
            continue;
        }
        if (value > 0) {
            aq_engine_forward_until(exact, obs, rows, value, room);
        }
        const float *in = value > 0 ? room : obs;
        is_finite = aq_find_nonfinite(in, count) == count;
        if (is_finite) {
            find_range(in, count, cut, &ret_ranges->low[i], &ret_ranges->high[i]);
        }
    }
    return is_finite;
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

int aq_range_observe(aq_range_observer *observer, aq_engine *exact, const float *obs, size_t rows)
{
    AQ_ASSERT(is_method(observer->method));
    AQ_ASSERT(rows > 0);
    const struct method_row *method = &methods[observer->method];
    const aq_net_spec *spec = &aq_engine_snapshot(exact)->spec;
    aq_input_ranges batch = {0};
    float *room = aq_alloc_unset(rows, aq_net_spec_width_max(spec) * sizeof(*room));
    if (room == NULL) {
        return AQ_E_NOMEM;
    }
    const bool is_finite = finds_ranges(exact, obs, rows, method->cut, room, &batch);
    aq_free(room);
    if (!is_finite) {
        return AQ_E_CORRUPT;
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const bool averages = method->averages && observer->batches > 0;
        take_in(&observer->ranges.low[i], batch.low[i], averages);
        take_in(&observer->ranges.high[i], batch.high[i], averages);
    }
    observer->batches++;
    return 0;
}

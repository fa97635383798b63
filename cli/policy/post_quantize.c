/*
 * Post-training quantization: see post_quantize.h.
 */
#include "cli/policy/post_quantize.h"

#include "quantizer/engine/engine.h"
#include "quantizer/engine/qerror.h"
#include "quantizer/engine/range_observer.h"

/* Rows that ranges are observed over at once, as a batch of replay is; and that are measured at
 * once. */
enum { RANGE_ROWS = 256, ENGINE_ROWS = 256 };

static int observe(aq_snapshot *exact, const aq_post_quantize_plan *plan,
                   const aq_post_quantize_obs *obs, aq_input_ranges *ret_ranges, aq_error *error)
{
    aq_range_observer observer;
    aq_engine *engine = NULL;
    const size_t inputs = aq_net_spec_inputs(&exact->spec);
    int rc = aq_engine_create(exact, RANGE_ROWS, plan->cpu_flags, &engine, error);
    if (rc != 0) {
        return rc;
    }
    aq_range_observer_init(&observer, plan->range_method);
    for (size_t row = 0; rc == 0 && row < obs->ranged_rows; row += RANGE_ROWS) {
        const size_t left = obs->ranged_rows - row;
        rc = aq_range_observe(&observer, engine, obs->ranged + row * inputs,
                              left < RANGE_ROWS ? left : RANGE_ROWS);
    }
    aq_engine_destroy(engine);
    if (rc != 0) {
        return aq_fail(error, rc, "the ranges of activations: %s",
                       rc == AQ_E_CORRUPT ? "the network computes NaN or infinity"
                                          : aq_error_text(rc));
    }
    *ret_ranges = observer.ranges;
    return 0;
}

static int measure(aq_snapshot *snapshot, aq_snapshot *exact, const aq_post_quantize_plan *plan,
                   const aq_post_quantize_obs *obs, aq_error *error)
{
    aq_engine *engine = NULL;
    aq_quant_error measured;
    int rc = aq_engine_create(snapshot, ENGINE_ROWS, plan->cpu_flags, &engine, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_quant_error_measure(engine, exact, obs->measured, obs->measured_rows, &measured);
    aq_engine_destroy(engine);
    if (rc != 0) {
        return aq_fail(error, rc, "the error can't be measured: %s",
                       rc == AQ_E_CORRUPT ? "it is NaN or infinite" : aq_error_text(rc));
    }
    snapshot->quant_error = measured;
    return 0;
}

int aq_post_quantize(aq_snapshot *exact, const aq_post_quantize_plan *plan,
                     const aq_post_quantize_obs *obs, aq_snapshot **ret_snapshot, aq_error *error)
{
    aq_input_ranges ranges;
    aq_quantize_plan quantize = plan->quantize;
    aq_snapshot *snapshot = NULL;
    int rc = 0;
    quantize.ranges = NULL;
    if (plan->static_activations) {
        rc = observe(exact, plan, obs, &ranges, error);
        quantize.ranges = &ranges;
    }
    rc = rc != 0 ? rc : aq_quantize_policy(exact, &quantize, &snapshot, error);
    rc = rc != 0 ? rc : measure(snapshot, exact, plan, obs, error);
    if (rc != 0) {
        aq_snapshot_unref(snapshot);
        return rc;
    }
    *ret_snapshot = snapshot;
    return 0;
}

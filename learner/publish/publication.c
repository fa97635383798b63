/*
 * Publication: see publication.h.
 */
#include "learner/publish/publication.h"

#include <math.h>
#include <stdio.h>

#include "common/config/layer_plan.h"
#include "common/wire/wire_delta.h"
#include "common/wire/wire_policy.h"
#include "quantizer/engine/engine.h"
#include "quantizer/engine/qerror.h"

/* A frame holds the tensors and a description of at most a few KiB. */
#define FRAME_OVERHEAD_MAX ((size_t)64 * 1024)

/* Packing a version in fp32, of which nothing is sent, costs as much as four in int8: one in so
 * many is packed, and stands for those up to the next.
 *
 * Few rows are enough to see that the cost is a FAR-th of the budget or less; otherwise it is
 * measured on all. */
enum { TWIN_PERIOD = 64, ROWS_FEW = 32, FAR = 8 };

int aq_publication_plan(const aq_run_config *config, const aq_net_spec *spec, uint32_t cpu_flags,
                        aq_publication_config *ret_plan, aq_error *error)
{
    const uint64_t bits =
        config->learner.qat_bits > 0 ? config->learner.qat_bits : config->quantizer.bits;
    aq_publication_config made = {
        .plan = {.format = aq_run_config_format(config),
                 .bits = (uint32_t)bits,
                 .paper = config->quantizer.formula == AQ_FORMULA_PAPER,
                 .density = (float)config->quantizer.density},
        /* What was trained for its levels must not be rounded to others. */
        .has_own_scales = config->learner.qat_bits > 0,
        .full_period = (uint32_t)config->quantizer.full_period,
        .error_budget = config->quantizer.error_budget,
        .error_rows = (uint32_t)config->quantizer.error_rows,
        .range_method = aq_run_config_range_method(config),
        .cpu_flags = cpu_flags,
    };
    int rc = aq_layer_plan(config, spec, made.plan.layer_formats, error);
    if (rc == 0) {
        *ret_plan = made;
    }
    return rc;
}

void aq_publication_history_init(aq_publication_history *history,
                                 const aq_publication_config *config)
{
    *history = (aq_publication_history){0};
    if (config->range_method != AQ_RANGE_NONE) {
        aq_range_observer_init(&history->ranges, (enum aq_range_method)config->range_method);
    }
}

void aq_publication_history_fini(aq_publication_history *history)
{
    aq_snapshot_unref(history->newest);
    aq_snapshot_unref(history->twin);
    history->newest = NULL;
    history->twin = NULL;
}

/* The policy in fp32 and packed for it, the same quantized, and its frame. */
size_t aq_publication_room_bytes(const aq_net_spec *spec)
{
    return 4 * aq_net_spec_parameters(spec) * sizeof(float);
}

/* ---- in other formats ----------------------------------------------------------------------- */

static bool has_integers(const aq_quantize_plan *plan, const aq_net_spec *spec)
{
    bool has = aq_format_is_integer(plan->format);
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        has |= aq_format_is_integer(plan->layer_formats[i]);
    }
    return has;
}

/* Only integers have a use for them. */
static int observe_ranges(const aq_publication_config *config, aq_publication_history *history,
                          aq_snapshot *exact, const float *obs, size_t rows, aq_error *error)
{
    aq_engine *engine = NULL;
    if (config->range_method == AQ_RANGE_NONE || rows == 0 ||
        !has_integers(&config->plan, &exact->spec)) {
        return 0;
    }
    int rc = aq_engine_create(exact, rows, config->cpu_flags, &engine, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_range_observe(&history->ranges, engine, obs, rows);
    aq_engine_destroy(engine);
    return rc != 0 ? aq_fail(error, rc, "the ranges of the layers' inputs could not be observed")
                   : 0;
}

static int measure(const aq_publication_config *config, const aq_publication *made,
                   const float *obs, size_t rows, aq_error *error)
{
    const size_t few = rows < ROWS_FEW ? rows : ROWS_FEW;
    aq_quant_error *measured = &made->snapshot->quant_error;
    aq_engine *engine = NULL;
    int rc = aq_engine_create(made->snapshot, rows, config->cpu_flags, &engine, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_quant_error_measure(engine, made->twin, obs, few, measured);
    if (rc == 0 && few < rows && (double)measured->cost * FAR > config->error_budget) {
        rc = aq_quant_error_measure(engine, made->twin, obs, rows, measured);
    }
    aq_engine_destroy(engine);
    return rc != 0 ? aq_fail(error, rc, "the quantization error could not be measured") : 0;
}

static bool is_all_fp32(const aq_quantize_plan *plan, const aq_net_spec *spec)
{
    bool is_fp32 = plan->format == AQ_FORMAT_F32;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        is_fp32 &= plan->layer_formats[i] == 0 || plan->layer_formats[i] == AQ_FORMAT_F32;
    }
    return is_fp32;
}

/* The twin goes out. */
static void fall_back(aq_publication *made)
{
    aq_snapshot_unref(made->snapshot);
    made->snapshot = aq_snapshot_ref(made->twin);
    made->fell_back = true;
}

/* What goes out: the quantized form, or the twin. */
static int quantize(const aq_publication_config *config, const aq_publication_history *history,
                    const float *obs, size_t rows, aq_publication *made, aq_error *error)
{
    aq_quantize_plan plan = config->plan;
    plan.previous = config->has_own_scales ? NULL : history->newest;
    plan.ranges = history->ranges.batches > 0 ? &history->ranges.ranges : NULL;
    aq_error why = {0};
    int rc = 0;
    if (is_all_fp32(&plan, &made->twin->spec)) {
        made->snapshot = aq_snapshot_ref(made->twin);
    } else {
        rc = aq_quantize_policy(made->twin, &plan, &made->snapshot, &why);
    }
    if (rc == AQ_E_CORRUPT) { /* a form that says nothing of an output: fp32 can say it */
        fall_back(made);
        (void)snprintf(made->fallback, sizeof(made->fallback), "%s", why.text);
        return 0;
    }
    if (rc != 0) {
        return aq_fail(error, rc, "%s", why.text);
    }
    if (rows > 0) {
        rc = measure(config, made, obs, rows, error);
    }
    if (rc != 0) {
        return rc;
    }
    made->measured = made->snapshot->quant_error;
    if ((double)made->measured.cost > config->error_budget) {
        fall_back(made);
        (void)snprintf(made->fallback, sizeof(made->fallback),
                       "quantizing costs %.3g of what is at stake; quantizer.error_budget is %.3g",
                       (double)made->measured.cost, config->error_budget);
    }
    return 0;
}

/* ---- as frames ------------------------------------------------------------------------------ */

static bool may_be_delta(const aq_publication_config *config, const aq_publication_history *history,
                         const aq_snapshot *snapshot)
{
    return history->newest && history->deltas + 1 < config->full_period &&
           aq_wire_delta_possible(history->newest, snapshot);
}

static int pack(const aq_publication_config *config, const aq_publication_history *history,
                aq_publication *made)
{
    made->frame_bytes_fp32 = aq_wire_policy_bytes(made->twin);
    size_t bytes_max = made->frame_bytes_fp32 + FRAME_OVERHEAD_MAX;
    aq_buffer_init(&made->frame, bytes_max);
    aq_buffer_init(&made->delta, bytes_max);
    int rc = aq_wire_policy_pack_compact(made->snapshot, &made->frame);
    if (rc == 0 && may_be_delta(config, history, made->snapshot)) {
        rc = aq_wire_delta_pack(history->newest, made->snapshot, &made->delta);
    }
    if (rc == 0 && made->delta.size >= made->frame.size) {
        aq_buffer_fini(&made->delta);
    }
    return rc;
}

/* Bytes of the twin, compact or as a change of the one before. */
static int pack_twin(const aq_publication_history *history, const aq_publication *made,
                     bool is_delta, size_t *ret_bytes)
{
    aq_buffer frame;
    aq_buffer_init(&frame, made->frame_bytes_fp32 + FRAME_OVERHEAD_MAX);
    int rc = is_delta ? aq_wire_delta_pack(history->twin, made->twin, &frame)
                      : aq_wire_policy_pack_compact(made->twin, &frame);
    if (rc == 0) {
        *ret_bytes = frame.size;
    }
    aq_buffer_fini(&frame);
    return rc;
}

/* What this version takes where all are sent in fp32, by the same rules. */
static int count_twin(const aq_publication_config *config, aq_publication_history *history,
                      aq_publication *made)
{
    const bool is_delta = history->twin != NULL && history->twin_deltas + 1 < config->full_period;
    aq_twin_size *size = &history->twin_sizes[is_delta];
    int rc = 0;
    if (made->snapshot == made->twin && !made->fell_back) { /* that is what is sent */
        *size = (aq_twin_size){aq_publication_broadcast(made)->size, history->twins};
    } else if (size->bytes == 0 || history->twins - size->at >= TWIN_PERIOD) {
        size->at = history->twins;
        rc = pack_twin(history, made, is_delta, &size->bytes);
    }
    if (rc != 0) {
        return rc;
    }
    made->packed_bytes_fp32 = size->bytes;
    history->twins++;
    history->twin_deltas = is_delta ? history->twin_deltas + 1 : 0;
    aq_snapshot_unref(history->twin);
    history->twin = aq_snapshot_ref(made->twin);
    return 0;
}

/* Counted in bytes as far as one holds the number, for vectors. */
static uint64_t bytes_that_differ(const uint8_t *a, const uint8_t *b, size_t size)
{
    uint64_t all = 0;
    for (size_t at = 0; at < size;) {
        const size_t end = size - at < UINT8_MAX ? size : at + UINT8_MAX;
        uint8_t some = 0;
        for (; at < end; at++) {
            some = (uint8_t)(some + (a[at] != b[at]));
        }
        all += some;
    }
    return all;
}

static double share_changed(const aq_snapshot *before, const aq_snapshot *now)
{
    uint64_t bytes = 0, changed = 0;
    for (uint32_t i = 0; before != NULL && i < now->spec.layer_count; i++) {
        const aq_snapshot_layer *was = &before->layers[i], *is = &now->layers[i];
        if (is->format == AQ_FORMAT_F32 || was->format != is->format ||
            was->sizes.weights_bytes != is->sizes.weights_bytes) {
            continue;
        }
        changed += bytes_that_differ(was->weights, is->weights, is->sizes.weights_bytes);
        bytes += is->sizes.weights_bytes;
    }
    return bytes > 0 ? (double)changed / (double)bytes : (double)NAN;
}

int aq_publication_make(const aq_publication_config *config, aq_publication_history *history,
                        const aq_quantize_meta *meta, aq_snapshot *exact, const float *obs,
                        size_t rows, aq_publication *ret_publication, aq_error *error)
{
    aq_publication made = {.twin = exact};
    rows = rows < config->error_rows ? rows : config->error_rows;
    int rc = aq_quantize_label(meta, exact, error);
    if (rc == 0) { /* what is not finite has no form at all */
        rc = aq_snapshot_settle(exact, error);
    }
    if (rc == 0) {
        rc = observe_ranges(config, history, exact, obs, rows, error);
    }
    if (rc == 0) {
        rc = quantize(config, history, obs, rows, &made, error);
    }
    if (rc != 0) {
        goto fail;
    }
    rc = pack(config, history, &made);
    if (rc == 0) {
        rc = count_twin(config, history, &made);
    }
    if (rc != 0) {
        (void)aq_fail(error, rc, "policy version %llu could not be packed",
                      (unsigned long long)meta->version);
        goto fail;
    }
    made.changed = share_changed(history->newest, made.snapshot);
    aq_snapshot_unref(history->newest);
    history->newest = aq_snapshot_ref(made.snapshot);
    history->deltas = made.delta.size > 0 ? history->deltas + 1 : 0;
    *ret_publication = made;
    return 0;

fail:
    aq_publication_fini(&made);
    return rc;
}

void aq_publication_fini(aq_publication *publication)
{
    aq_snapshot_unref(publication->snapshot);
    aq_snapshot_unref(publication->twin);
    publication->snapshot = NULL;
    publication->twin = NULL;
    aq_buffer_fini(&publication->frame);
    aq_buffer_fini(&publication->delta);
}

const aq_buffer *aq_publication_broadcast(const aq_publication *publication)
{
    return publication->delta.size > 0 ? &publication->delta : &publication->frame;
}

double aq_publication_cost(const aq_publication *publication)
{
    return publication != NULL && publication->measured.rows > 0
               ? (double)publication->measured.cost
               : (double)NAN;
}

/*
 * The engine: a list of packed layers and two halves of scratch that activations alternate between.
 *
 * Rows of scratch start on cache lines, and a line of slack keeps the rows of a power-of-two width
 * from falling into the same sets of the cache.
 */
#include "quantizer/engine.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "quantizer/packed_layer.h"
#include "quantizer/qactivate.h"
#include "quantizer/qkernels.h"

struct aq_engine {
    aq_snapshot *snapshot;
    const aq_qkernels *kernels;
    size_t rows_max;
    uint32_t layer_count;
    aq_packed_layer layers[AQ_NET_LAYERS_MAX];

    size_t y_stride; /* floats */
    float *y[2];     /* (rows_max, y_stride) each: layer i writes y[i % 2] and reads the other */
    size_t q_stride; /* bytes */
    uint8_t *q;      /* (rows_max, q_stride): the quantized input of one layer */
    aq_row_quant *quant;
};

static size_t round_up(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static int create_scratch(aq_engine *engine)
{
    const size_t width = aq_net_spec_width_max(&engine->snapshot->spec);
    const size_t line = AQ_ALIGNMENT_BYTES;

    engine->y_stride = round_up(width, line / sizeof(float)) + line / sizeof(float);
    engine->q_stride = round_up(width, AQ_QKERNEL_Q_PADDING) + line;
    engine->y[0] = aq_alloc(engine->rows_max, engine->y_stride * sizeof(float));
    engine->y[1] = aq_alloc(engine->rows_max, engine->y_stride * sizeof(float));
    engine->q = aq_alloc(engine->rows_max, engine->q_stride);
    engine->quant = aq_alloc(engine->rows_max, sizeof(*engine->quant));
    return engine->y[0] != NULL && engine->y[1] != NULL && engine->q != NULL &&
                   engine->quant != NULL
               ? 0
               : AQ_E_NOMEM;
}

static int pack_layers(aq_engine *engine)
{
    const aq_snapshot *snapshot = engine->snapshot;
    while (engine->layer_count < snapshot->spec.layer_count) {
        const uint32_t i = engine->layer_count;
        int rc = aq_packed_layer_init(engine->kernels, &snapshot->spec.layers[i],
                                      &snapshot->layers[i], &engine->layers[i]);
        if (rc != 0) {
            return rc;
        }
        engine->layer_count++;
    }
    return 0;
}

int aq_engine_create(aq_snapshot *snapshot, size_t rows_max, uint32_t cpu_flags,
                     aq_engine **ret_engine, aq_error *error)
{
    if (rows_max == 0 || rows_max > AQ_ENGINE_ROWS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "engine: %zu rows at once; 1 to %u are possible",
                       rows_max, AQ_ENGINE_ROWS_MAX);
    }
    int rc = aq_snapshot_validate(snapshot, error);
    if (rc != 0) {
        return rc;
    }
    aq_engine *engine = aq_alloc(1, sizeof(*engine));
    if (engine == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "engine: %s", aq_error_text(AQ_E_NOMEM));
    }
    engine->snapshot = aq_snapshot_ref(snapshot);
    engine->kernels = aq_qkernels_select(cpu_flags);
    engine->rows_max = rows_max;
    rc = create_scratch(engine);
    if (rc == 0) {
        rc = pack_layers(engine);
    }
    if (rc != 0) {
        aq_engine_destroy(engine);
        return aq_fail(error, rc, "engine for %zu rows: %s", rows_max, aq_error_text(rc));
    }
    *ret_engine = engine;
    return 0;
}

void aq_engine_destroy(aq_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    for (uint32_t i = 0; i < engine->layer_count; i++) {
        aq_packed_layer_fini(&engine->layers[i]);
    }
    aq_free(engine->y[0]);
    aq_free(engine->y[1]);
    aq_free(engine->q);
    aq_free(engine->quant);
    aq_snapshot_unref(engine->snapshot);
    aq_free(engine);
}

void aq_engine_forward(aq_engine *engine, const float *obs, size_t rows, float *out)
{
    AQ_ASSERT(rows <= engine->rows_max);
    aq_kernel_input input = {
        .x = obs,
        .x_stride = engine->layers[0].inputs,
        .q = engine->q,
        .q_stride = engine->q_stride,
        .quant = engine->quant,
        .rows = rows,
    };

    for (uint32_t i = 0; i < engine->layer_count; i++) {
        const aq_packed_layer *layer = &engine->layers[i];
        const aq_linear_kernel *kernel = aq_qkernels_linear(engine->kernels, layer->format);
        const bool last = i + 1 == engine->layer_count;
        float *y = last ? out : engine->y[i % 2];
        const size_t y_stride = last ? layer->outputs : engine->y_stride;

        if (kernel->quantizes_input) {
            engine->kernels->quantize_rows(input.x, input.x_stride, rows, layer->inputs, engine->q,
                                           engine->q_stride, engine->quant);
        }
        kernel->run(layer, &input, y, y_stride);
        aq_qactivate(layer->activation, y, rows, layer->outputs, y_stride);
        input.x = y;
        input.x_stride = y_stride;
    }
}

const aq_snapshot *aq_engine_snapshot(const aq_engine *engine)
{
    return engine->snapshot;
}

size_t aq_engine_rows_max(const aq_engine *engine)
{
    return engine->rows_max;
}

const char *aq_engine_rung(const aq_engine *engine)
{
    return engine->kernels->name;
}

uint32_t aq_argmax(const float *values, uint32_t count)
{
    AQ_ASSERT(count > 0);
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (values[i] > values[best] || (isnan(values[best]) && !isnan(values[i]))) {
            best = i;
        }
    }
    return best;
}

/*
 * gru: the kernel of its format for what the state says, and the gates in floats, in one order:
 * logistic(v) is 0.5 tanh(0.5 v) + 0.5, by the tanh of all layers.
 */
#include "quantizer/engine/engine_layer.h"

static int init(aq_engine_layer *layer)
{
    return aq_engine_matrix_init(layer, AQ_ACTIVATION_NONE);
}

static aq_engine_need need(const aq_engine_layer *layer, size_t rows_max)
{
    aq_engine_need whole = aq_engine_matrix_need(layer, rows_max);
    whole.room_bytes = rows_max * layer->spec->inputs * sizeof(float);
    return whole;
}

/* s becomes 0.5 (x + s), over both gates. */
static void halve(const float *x, size_t count, float *s)
{
    for (size_t i = 0; i < count; i++) {
        s[i] = 0.5f * (x[i] + s[i]);
    }
}

/* y = x + r s, with r from its tanh. */
static void open_reset(const float *x, const float *r, const float *s, size_t width, float *y)
{
    for (size_t i = 0; i < width; i++) {
        const float gate = 0.5f * r[i] + 0.5f;
        y[i] = x[i] + gate * s[i];
    }
}

/* y = n + z (h - n), with y as n, and z from its tanh. */
static void mix(const float *state, const float *z, size_t width, float *y)
{
    for (size_t i = 0; i < width; i++) {
        const float gate = 0.5f * z[i] + 0.5f;
        y[i] = y[i] + gate * (state[i] - y[i]);
    }
}

static void run(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                const aq_const_rows *x, const aq_float_rows *y)
{
    const size_t width = layer->spec->outputs, stride = layer->spec->inputs;
    const aq_float_passes *passes = layer->tables->passes;
    const aq_float_rows said = {
        .values = (float *)(void *)scratch->room, .stride = stride, .rows = y->rows};
    aq_engine_matrix_run(layer, scratch, &x[0], &said);
    for (size_t row = 0; row < y->rows; row++) {
        halve(x[1].values + row * x[1].stride, 2 * width, said.values + row * stride);
    }
    passes->activate(AQ_ACTIVATION_TANH, &said, 2 * width);
    for (size_t row = 0; row < y->rows; row++) {
        const float *gates = said.values + row * stride;
        open_reset(x[1].values + row * x[1].stride + 2 * width, gates, gates + 2 * width, width,
                   y->values + row * y->stride);
    }
    passes->activate(AQ_ACTIVATION_TANH, y, width);
    for (size_t row = 0; row < y->rows; row++) {
        mix(x[0].values + row * x[0].stride, said.values + row * stride + width, width,
            y->values + row * y->stride);
    }
}

const aq_engine_kind aq_engine_gru = {.init = init, .need = need, .run = run};

/*
 * noise: in floats. Products and sums of two numbers have the same bits everywhere, so there are no
 * rungs of it. Without noise, what it would be multiplied with was not computed and is not read.
 */
#include "quantizer/engine/engine_layer.h"

static void run_row(const aq_layer_spec *spec, const float *noise, const float *mean,
                    const float *deviation, float *y)
{
    const uint32_t group = spec->outputs / aq_layer_noise_count(spec);
    for (uint32_t i = 0; i < spec->outputs; i++) {
        const float at = mean != NULL ? mean[i] : 0.0f;
        y[i] = noise != NULL ? at + noise[i / group] * deviation[i] : at;
    }
}

/* x[0] is the noise of the rows, without values where there is none. */
static void run(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                const aq_const_rows *x, const aq_float_rows *y)
{
    const bool is_sum = layer->spec->inputs > layer->spec->outputs;
    const aq_const_rows *mean = is_sum ? &x[1] : NULL, *deviation = &x[1 + is_sum];
    (void)scratch;
    const bool is_noisy = x->values != NULL;
    for (size_t row = 0; row < y->rows; row++) {
        run_row(layer->spec, is_noisy ? x->values + row * x->stride : NULL,
                mean != NULL ? mean->values + row * mean->stride : NULL,
                is_noisy ? deviation->values + row * deviation->stride : NULL,
                y->values + row * y->stride);
    }
    layer->tables->passes->activate(layer->spec->activation, y, layer->spec->outputs);
}

const aq_engine_kind aq_engine_noise = {.run = run};

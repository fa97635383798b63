/*
 * norm: gain and bias as they are stored, in fp32.
 */
#include "quantizer/engine/engine_layer.h"

static void run(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                const aq_const_rows *x, const aq_float_rows *y)
{
    const aq_float_passes *passes = layer->tables->passes;
    (void)scratch;
    passes->norm(x, layer->spec->inputs, layer->stored->weights, layer->stored->bias, y);
    passes->activate(layer->spec->activation, y, layer->spec->outputs);
}

const aq_engine_kind aq_engine_norm = {.run = run};

/*
 * pool: in floats.
 */
#include "quantizer/engine/engine_layer.h"

static void run(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                const aq_const_rows *x, const aq_float_rows *y)
{
    const aq_float_passes *passes = layer->tables->passes;
    (void)scratch;
    passes->pool(x, &layer->spec->conv, y);
    passes->activate(layer->spec->activation, y, layer->spec->outputs);
}

const aq_engine_kind aq_engine_pool = {.run = run};

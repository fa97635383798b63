/*
 * add: in floats. One sum an element has the same bits everywhere, so there are no rungs of it.
 */
#include "quantizer/engine/engine_layer.h"

static void run(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                const aq_const_rows *x, const aq_float_rows *y)
{
    (void)scratch;
    for (size_t row = 0; row < y->rows; row++) {
        const float *a = x[0].values + row * x[0].stride;
        const float *b = x[1].values + row * x[1].stride;
        float *out = y->values + row * y->stride;
        for (uint32_t i = 0; i < layer->spec->outputs; i++) {
            out[i] = a[i] + b[i];
        }
    }
}

const aq_engine_kind aq_engine_add = {.run = run};

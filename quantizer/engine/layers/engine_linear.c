/*
 * linear: the kernel of its format.
 */
#include "quantizer/engine/engine_layer.h"

static int init(aq_engine_layer *layer)
{
    return aq_engine_matrix_init(layer, layer->spec->activation);
}

static void run(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                const aq_const_rows *x, const aq_float_rows *y)
{
    aq_engine_matrix_run(layer, scratch, x, y);
    aq_engine_activate(layer, y);
}

const aq_engine_kind aq_engine_linear = {.init = init, .need = aq_engine_matrix_need, .run = run};

/*
 * dueling and categorical: a pass each.
 */
#include "common/base/memory.h"
#include "quantizer/engine/engine_layer.h"

static void run_dueling(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                        const aq_const_rows *x, const aq_float_rows *y)
{
    (void)scratch;
    layer->tables->passes->dueling(x, &layer->spec->head, y);
}

const aq_engine_kind aq_engine_dueling = {.run = run_dueling};

static int init_categorical(aq_engine_layer *layer)
{
    const aq_head_shape *head = &layer->spec->head;
    layer->own = aq_alloc(head->atoms, sizeof(*layer->own));
    for (uint32_t k = 0; layer->own != NULL && k < head->atoms; k++) {
        layer->own[k] = aq_head_atom(head, k);
    }
    return layer->own != NULL ? 0 : AQ_E_NOMEM;
}

static void run_categorical(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                            const aq_const_rows *x, const aq_float_rows *y)
{
    (void)scratch;
    layer->tables->passes->categorical(x, &layer->spec->head, layer->own, y);
}

const aq_engine_kind aq_engine_categorical = {.init = init_categorical, .run = run_categorical};

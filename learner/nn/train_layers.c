/*
 * The table of the kinds of layers that can be trained, and what they share.
 */
#include "learner/nn/train_layers.h"

#include "common/base/assert.h"
#include "learner/nn/passes.h"

#define DECLARE(number, NAME, name) extern const aq_train_kind aq_train_##name;
AQ_LAYER_KINDS(DECLARE)
#undef DECLARE

const aq_train_kind *aq_train_kind_of(const aq_layer_spec *layer)
{
#define ROW(number, NAME, name) [number] = &aq_train_##name,
    static const aq_train_kind *const kinds[] = {AQ_LAYER_KINDS(ROW)};
#undef ROW
    AQ_ASSERT(layer->kind < AQ_LAYER_KINDS_END);
    AQ_ASSERT(kinds[layer->kind]->forward != NULL);
    return kinds[layer->kind];
}

void aq_train_activation_backward(const aq_train_layer *layer, const aq_train_gradient *gradient,
                                  uint32_t rows)
{
    const aq_passes *passes = aq_passes_best();
    const uint32_t counted = gradient->counted_rows, width = aq_layer_matrix(layer->spec).rows;
    const size_t pixels = layer->spec->outputs / width; /* 1, but for images */
    const size_t at = (size_t)counted * layer->spec->outputs;
    passes->activate_backward(gradient->d, layer->out, counted * pixels, width,
                              layer->spec->activation, gradient->bias);
    if (rows > counted && layer->spec->activation != AQ_ACTIVATION_NONE) {
        passes->activate_backward(gradient->d + at, layer->out + at, (rows - counted) * pixels,
                                  width, layer->spec->activation, gradient->uncounted);
    }
}

/*
 * Arrays, then layer by layer weights before biases, without gaps: the block is the canonical order
 * in which parameters are stored in a checkpoint. Arrays come first, so that a network's first
 * layers and its arrays are the beginning of its block.
 */
#include "common/nn/params.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/policy/layer_kind.h"

aq_params aq_params_view(const aq_net_spec *spec, float *block)
{
    aq_params params = {.count = aq_net_spec_parameters(spec), .block = block};
    float *at = block;
    for (uint32_t i = 0; i < spec->array_count; i++) {
        params.array[i] = at;
        at += spec->arrays[i].count;
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&spec->layers[i]);
        params.weight[i] = at;
        at += (size_t)matrix.rows * matrix.columns;
        params.bias[i] = at;
        at += matrix.rows;
    }
    AQ_ASSERT(at == params.block + params.count);
    return params;
}

int aq_params_init(const aq_net_spec *spec, aq_params *ret_params)
{
    float *block = aq_alloc_large(aq_net_spec_parameters(spec), sizeof(*block));
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    *ret_params = aq_params_view(spec, block);
    return 0;
}

void aq_params_fini(aq_params *params)
{
    if (params == NULL) {
        return;
    }
    aq_free(params->block);
    memset(params, 0, sizeof(*params));
}

static void reset_uniform(const aq_layer_spec *layer, float *parameters, aq_rng *rng)
{
    const size_t count = aq_layer_parameters(layer);
    const double bound = count > 0 ? sqrt(1.0 / aq_layer_matrix(layer).columns) : 0.0;
    for (size_t k = 0; k < count; k++) {
        parameters[k] = (float)aq_rng_range(rng, -bound, bound);
    }
}

void aq_params_randomize(const aq_net_spec *spec, aq_params *params, aq_rng *rng)
{
    memset(params->block, 0, aq_net_spec_array_values(spec) * sizeof(*params->block));
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_spec *layer = &spec->layers[i];
        const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
        (kind->reset != NULL ? kind->reset : reset_uniform)(layer, params->weight[i], rng);
    }
}

void aq_params_copy(aq_params *to, const aq_params *from)
{
    AQ_ASSERT(to->count == from->count);
    memcpy(to->block, from->block, from->count * sizeof(*from->block));
}

void aq_params_cut(const aq_net_part *part, const aq_params *whole, const aq_params *to)
{
    const size_t arrays = aq_net_spec_array_values(&part->spec);
    memcpy(to->block, whole->block, arrays * sizeof(*to->block));
    for (uint32_t i = 0; i < part->spec.layer_count; i++) {
        memcpy(to->weight[i], whole->weight[part->layers[i]],
               aq_layer_parameters(&part->spec.layers[i]) * sizeof(*to->block));
    }
}

/*
 * Layer by layer, weights before biases, without gaps: the block is the canonical order in which
 * parameters are stored in a checkpoint.
 */
#include "common/nn/params.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

int aq_params_init(const aq_net_spec *spec, aq_params *ret_params)
{
    aq_params params;
    memset(&params, 0, sizeof(params));
    params.count = aq_net_spec_parameters(spec);
    params.block = aq_alloc(params.count, sizeof(*params.block));
    if (params.block == NULL) {
        return AQ_E_NOMEM;
    }
    float *at = params.block;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_spec *layer = &spec->layers[i];
        params.weight[i] = at;
        at += (size_t)layer->inputs * layer->outputs;
        params.bias[i] = at;
        at += layer->outputs;
    }
    AQ_ASSERT(at == params.block + params.count);
    *ret_params = params;
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

void aq_params_randomize(const aq_net_spec *spec, aq_params *params, aq_rng *rng)
{
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_spec *layer = &spec->layers[i];
        size_t count = ((size_t)layer->inputs + 1) * layer->outputs;
        double bound = sqrt(1.0 / layer->inputs);
        for (size_t k = 0; k < count; k++) {
            params->weight[i][k] = (float)aq_rng_range(rng, -bound, bound);
        }
    }
}

void aq_params_copy(aq_params *to, const aq_params *from)
{
    AQ_ASSERT(to->count == from->count);
    memcpy(to->block, from->block, from->count * sizeof(*from->block));
}

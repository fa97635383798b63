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

/* ---- how they begin ------------------------------------------------------------------------- */

/* Layers with a matrix that lead to what an add layer adds: those of residual blocks. Whether there
 * are any. */
static bool find_branches(const aq_net_spec *spec, bool is_branch[AQ_NET_LAYERS_MAX])
{
    bool is_residual = false;
    memset(is_branch, 0, AQ_NET_LAYERS_MAX * sizeof(*is_branch));
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        if (!aq_layer_kind_of(spec->layers[i].kind)->joins_branch) {
            continue;
        }
        is_residual = true;
        uint32_t value = aq_net_sources(spec, i).values[1];
        while (value > 0 && aq_layer_is_affine(&spec->layers[value - 1])) {
            is_branch[--value] = true;
            value = aq_net_sources(spec, value).values[0];
        }
    }
    return is_residual;
}

static void fill_normal(float *values, size_t count, double deviation, aq_rng *rng)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)(deviation * aq_rng_normal(rng));
    }
}

/* Of vectors of `length` floats, `step` apart, each takes what lies along those before it out of
 * itself, and has a length of 1. */
static void make_orthonormal(float *values, size_t count, size_t apart, size_t length, size_t step)
{
    for (size_t i = 0; i < count; i++) {
        float *own = values + i * apart;
        double squares = 0.0;
        for (size_t k = 0; k < i; k++) {
            const float *other = values + k * apart;
            double along = 0.0;
            for (size_t j = 0; j < length; j++) {
                along += (double)own[j * step] * (double)other[j * step];
            }
            for (size_t j = 0; j < length; j++) {
                own[j * step] -= (float)(along * (double)other[j * step]);
            }
        }
        for (size_t j = 0; j < length; j++) {
            squares += (double)own[j * step] * (double)own[j * step];
        }
        for (size_t j = 0; j < length; j++) {
            own[j * step] = (float)((double)own[j * step] / sqrt(squares));
        }
    }
}

/* Rows at right angles to each other; columns, where there are fewer of them. */
static void reset_orthogonal(const aq_layer_matrix_shape *matrix, float *weights, aq_rng *rng)
{
    const size_t rows = matrix->rows, columns = matrix->columns;
    fill_normal(weights, rows * columns, 1.0, rng);
    if (rows <= columns) {
        make_orthonormal(weights, rows, columns, columns, 1);
    } else {
        make_orthonormal(weights, columns, 1, rows, columns);
    }
}

static void reset_residual(const aq_layer_spec *layer, bool is_branch, float *parameters,
                           aq_rng *rng)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer);
    const size_t weights = (size_t)matrix.rows * matrix.columns;
    if (is_branch) {
        fill_normal(parameters, weights, sqrt(2.0 / matrix.columns), rng);
    } else {
        reset_orthogonal(&matrix, parameters, rng);
    }
    memset(parameters + weights, 0, matrix.rows * sizeof(*parameters));
}

/* What a layer that keeps a state takes begins as that one does, of which it is a part: as
 * PyTorch's. */
static uint32_t bound_columns(const aq_net_spec *spec, uint32_t index)
{
    const bool is_part = index + 1 < spec->layer_count && aq_net_is_chained(spec, index + 1) &&
                         aq_layer_state(&spec->layers[index + 1]) > 0;
    return aq_layer_matrix(&spec->layers[index + is_part]).columns;
}

static void reset_uniform(const aq_layer_spec *layer, uint32_t columns, float *parameters,
                          aq_rng *rng)
{
    const size_t count = aq_layer_parameters(layer);
    const double bound = count > 0 ? sqrt(1.0 / columns) : 0.0;
    for (size_t k = 0; k < count; k++) {
        parameters[k] = (float)aq_rng_range(rng, -bound, bound);
    }
}

void aq_params_randomize(const aq_net_spec *spec, aq_params *params, aq_rng *rng)
{
    bool is_branch[AQ_NET_LAYERS_MAX];
    const bool is_residual = find_branches(spec, is_branch);
    memset(params->block, 0, aq_net_spec_array_values(spec) * sizeof(*params->block));
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_spec *layer = &spec->layers[i];
        const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
        if (is_residual && kind->is_affine) {
            reset_residual(layer, is_branch[i], params->weight[i], rng);
        } else if (kind->reset != NULL) {
            kind->reset(layer, params->weight[i], rng);
        } else {
            reset_uniform(layer, bound_columns(spec, i), params->weight[i], rng);
        }
    }
}

/* ---- copies --------------------------------------------------------------------------------- */

void aq_params_copy(aq_params *to, const aq_params *from)
{
    AQ_ASSERT(to->count == from->count);
    memcpy(to->block, from->block, from->count * sizeof(*from->block));
}

/* ---- as a policy in fp32 -------------------------------------------------------------------- */

aq_params aq_params_of(const aq_snapshot *exact)
{
    const aq_net_spec *spec = &exact->spec;
    aq_params params = {.count = aq_net_spec_parameters(spec)};
    float *at = (float *)exact->arrays;
    for (uint32_t i = 0; i < spec->array_count; i++) {
        params.array[i] = at;
        at += spec->arrays[i].count;
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        AQ_ASSERT(exact->layers[i].format == AQ_FORMAT_F32);
        params.weight[i] = (float *)exact->layers[i].weights;
        params.bias[i] = (float *)exact->layers[i].bias;
    }
    return params;
}

void aq_params_put(const aq_params *params, aq_snapshot *exact)
{
    const aq_net_spec *spec = &exact->spec;
    const size_t arrays = aq_net_spec_array_values(spec);
    if (arrays > 0) { /* they lie one after the other */
        memcpy(aq_snapshot_arrays_edit(exact), params->array[0], arrays * sizeof(float));
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const size_t rows = aq_layer_matrix(&spec->layers[i]).rows;
        aq_snapshot_layer_data to;
        aq_snapshot_layer_edit(exact, i, &to);
        if (rows > 0) {
            memcpy(to.weights, params->weight[i], exact->layers[i].sizes.weights_bytes);
            memcpy(to.bias, params->bias[i], rows * sizeof(float));
        }
    }
}

/*
 * Forward and backward of a multi-layer perceptron.
 *
 * All products are sgemm: its cost per call (about 0.1 us) is below that of loops of our own even
 * for two outputs. What happens between them is one pass each (passes.h).
 */
#include "learner/mlp_train.h"

#include <cblas.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/rl/columns.h"
#include "learner/passes.h"

struct aq_mlp_train {
    aq_net_spec spec;
    uint32_t rows_max, backward_rows_max;
    uint32_t rows;                 /* of the last forward */
    const float *input;            /* of the last forward */
    float *out[AQ_NET_LAYERS_MAX]; /* X[l+1], rows_max rows */
    float *d_in[2]; /* dX of one layer and of the next, backward_rows_max rows of the widest */
};

int aq_mlp_train_create(const aq_net_spec *spec, uint32_t rows_max, uint32_t backward_rows_max,
                        aq_mlp_train **ret_train)
{
    size_t bytes = sizeof(aq_mlp_train);
    size_t out[AQ_NET_LAYERS_MAX], d_in[2];
    aq_mlp_train *train;
    char *block;

    AQ_ASSERT(backward_rows_max > 0);
    AQ_ASSERT(backward_rows_max <= rows_max);
    for (uint32_t l = 0; l < spec->layer_count; l++) {
        out[l] = aq_columns_add(&bytes, rows_max, spec->layers[l].outputs * sizeof(float));
    }
    for (int i = 0; i < 2; i++) {
        d_in[i] =
            aq_columns_add(&bytes, backward_rows_max, aq_net_spec_width_max(spec) * sizeof(float));
    }
    block = aq_alloc(1, bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    train = (aq_mlp_train *)block;
    train->spec = *spec;
    train->rows_max = rows_max;
    train->backward_rows_max = backward_rows_max;
    for (uint32_t l = 0; l < spec->layer_count; l++) {
        train->out[l] = (float *)(block + out[l]);
    }
    for (int i = 0; i < 2; i++) {
        train->d_in[i] = (float *)(block + d_in[i]);
    }
    *ret_train = train;
    return 0;
}

void aq_mlp_train_destroy(aq_mlp_train *train)
{
    aq_free(train);
}

const float *aq_mlp_forward(aq_mlp_train *train, const aq_params *params, const float *input,
                            uint32_t rows)
{
    const aq_passes *passes = aq_passes_best();
    const float *x = input;

    AQ_ASSERT(rows > 0);
    AQ_ASSERT(rows <= train->rows_max);
    for (uint32_t l = 0; l < train->spec.layer_count; l++) {
        const aq_layer_spec *layer = &train->spec.layers[l];
        int inputs = (int)layer->inputs, outputs = (int)layer->outputs;

        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, outputs, inputs, 1.0f, x,
                    inputs, params->weight[l], inputs, 0.0f, train->out[l], outputs);
        passes->bias_activate(train->out[l], params->bias[l], rows, layer->outputs,
                              layer->activation);
        x = train->out[l];
    }
    train->rows = rows;
    train->input = input;
    return x;
}

void aq_mlp_backward(aq_mlp_train *train, const aq_params *params, float *d_out, uint32_t rows,
                     aq_params *gradient)
{
    const aq_passes *passes = aq_passes_best();
    float *d = d_out;

    AQ_ASSERT(rows > 0);
    AQ_ASSERT(rows <= train->rows);
    AQ_ASSERT(rows <= train->backward_rows_max);
    for (uint32_t l = train->spec.layer_count; l-- > 0;) {
        const aq_layer_spec *layer = &train->spec.layers[l];
        const float *x = l > 0 ? train->out[l - 1] : train->input;
        int inputs = (int)layer->inputs, outputs = (int)layer->outputs;

        passes->activate_backward(d, train->out[l], rows, layer->outputs, layer->activation,
                                  gradient->bias[l]);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, outputs, inputs, (int)rows, 1.0f, d,
                    outputs, x, inputs, 0.0f, gradient->weight[l], inputs);
        if (l > 0) {
            float *d_in = train->d_in[l % 2];

            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, inputs, outputs, 1.0f,
                        d, outputs, params->weight[l], inputs, 0.0f, d_in, inputs);
            d = d_in;
        }
    }
}

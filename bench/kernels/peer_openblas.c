/*
 * OpenBLAS: a matrix-vector product for one row, a matrix product for more; the bias is what the
 * sum begins with, ReLU a pass over the result. Weights stay as they are: OpenBLAS has no layout of
 * its own to keep them in.
 */
#include <cblas.h>
#include <stdio.h>
#include <string.h>

#include "bench/kernels/peer_tables.h"
#include "common/base/memory.h"

typedef struct blas_chain {
    const aq_bench_problem *problem; /* lent */
    float *y[2];                     /* (rows, width) each */
    const float *out;
} blas_chain;

static void destroy(void *self)
{
    blas_chain *chain = self;
    if (chain == NULL) {
        return;
    }
    aq_free(chain->y[0]);
    aq_free(chain->y[1]);
    aq_free(chain);
}

static int create(const aq_bench_problem *problem, void **ret_self, aq_error *error)
{
    const size_t values = problem->rows * aq_net_spec_width_max(&problem->spec);
    blas_chain *chain = aq_alloc(1, sizeof(*chain));
    if (chain == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "openblas: no memory for a network");
    }
    chain->problem = problem;
    chain->y[0] = aq_alloc(values, sizeof(float));
    chain->y[1] = aq_alloc(values, sizeof(float));
    if (chain->y[0] == NULL || chain->y[1] == NULL) {
        destroy(chain);
        return aq_fail(error, AQ_E_NOMEM, "openblas: no memory for a network's rows");
    }
    *ret_self = chain;
    return 0;
}

/* y (rows, outputs) = act(x (rows, inputs) W^T + b) */
static void run_layer(const aq_bench_problem *problem, uint32_t index, const float *x, float *y)
{
    const aq_layer_spec *layer = &problem->spec.layers[index];
    const int rows = (int)problem->rows;
    const int inputs = (int)layer->inputs;
    const int outputs = (int)layer->outputs;
    const float *weights = problem->params.weight[index];

    for (size_t row = 0; row < problem->rows; row++) {
        memcpy(y + row * layer->outputs, problem->params.bias[index],
               layer->outputs * sizeof(float));
    }
    if (rows == 1) {
        cblas_sgemv(CblasRowMajor, CblasNoTrans, outputs, inputs, 1.0f, weights, inputs, x, 1, 1.0f,
                    y, 1);
    } else {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, outputs, inputs, 1.0f, x, inputs,
                    weights, inputs, 1.0f, y, outputs);
    }
    if (layer->activation == AQ_ACTIVATION_RELU) {
        for (size_t i = 0; i < problem->rows * layer->outputs; i++) {
            y[i] = y[i] < 0.0f ? 0.0f : y[i];
        }
    }
}

static void run(void *self)
{
    blas_chain *chain = self;
    const float *x = chain->problem->obs;
    for (uint32_t i = 0; i < chain->problem->spec.layer_count; i++) {
        run_layer(chain->problem, i, x, chain->y[i % 2]);
        x = chain->y[i % 2];
    }
    chain->out = x;
}

static const float *result(const void *self)
{
    const blas_chain *chain = self;
    return chain->out;
}

static void describe(char *out, size_t size)
{
    (void)snprintf(out, size, "%s, core %s, %d thread", openblas_get_config(),
                   openblas_get_corename(), openblas_get_num_threads());
}

const aq_bench_peer aq_bench_peer_openblas_fp32 = {
    .name = "openblas-fp32",
    .library = "openblas",
    .describe = describe,
    .create = create,
    .run = run,
    .result = result,
    .destroy = destroy,
};

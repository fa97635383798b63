/*
 * The chain: which arrays each layer reads and writes. What the layers do is train_layers.c.
 */
#include "learner/nn/net_train.h"

#include "common/base/assert.h"
#include "common/base/columns.h"
#include "common/base/memory.h"
#include "learner/nn/train_layers.h"

struct aq_net_train {
    aq_net_spec spec;
    aq_fake_quant quant;
    bool is_quantized;
    uint32_t rows_max, backward_rows_max;
    uint32_t rows;                            /* of the last forward */
    aq_train_layer layers[AQ_NET_LAYERS_MAX]; /* of the last forward */
    float *quant_weight[AQ_NET_LAYERS_MAX];   /* NULL: never quantized */
    float *quant_input[AQ_NET_LAYERS_MAX];    /* (rows_max, inputs) */
    float *uncounted;                         /* sums that nobody wants, of the widest layer */
    float *d_in[2]; /* dX of one layer and of the next, backward_rows_max rows of the widest */
};

/* Offsets of the arrays in the block; 0 for those that are not there. */
typedef struct layout {
    size_t bytes;
    size_t out[AQ_NET_LAYERS_MAX];
    size_t normed[AQ_NET_LAYERS_MAX];
    size_t kept[AQ_NET_LAYERS_MAX];
    size_t quant_weight[AQ_NET_LAYERS_MAX];
    size_t quant_input[AQ_NET_LAYERS_MAX];
    size_t uncounted;
    size_t d_in[2];
} layout;

static layout lay_out(const aq_net_train_config *config)
{
    const aq_net_spec *spec = config->spec;
    layout at = {.bytes = sizeof(aq_net_train)};

    for (uint32_t l = 0; l < spec->layer_count; l++) {
        const aq_layer_spec *layer = &spec->layers[l];
        const aq_layer_matrix_shape matrix = aq_layer_matrix(layer);

        at.out[l] = aq_columns_add(&at.bytes, config->rows_max, layer->outputs * sizeof(float));
        if (layer->kind == AQ_LAYER_NORM) {
            at.normed[l] = aq_columns_add(&at.bytes, config->rows_max, sizeof(aq_norm_row));
        }
        if (layer->kind == AQ_LAYER_CATEGORICAL) {
            at.kept[l] = aq_columns_add(&at.bytes, config->rows_max, layer->inputs * sizeof(float));
        }
        if (config->quant.bits != 0 && aq_layer_is_quantizable(layer)) {
            at.quant_weight[l] =
                aq_columns_add(&at.bytes, matrix.rows, matrix.columns * sizeof(float));
            at.quant_input[l] =
                aq_columns_add(&at.bytes, config->rows_max, layer->inputs * sizeof(float));
        }
    }
    at.uncounted = aq_columns_add(&at.bytes, 2, aq_net_spec_width_max(spec) * sizeof(float));
    for (int i = 0; i < 2; i++) {
        at.d_in[i] = aq_columns_add(&at.bytes, config->backward_rows_max,
                                    aq_net_spec_width_max(spec) * sizeof(float));
    }
    return at;
}

static int check_kinds(const aq_net_spec *spec, aq_error *error)
{
    for (uint32_t l = 0; l < spec->layer_count; l++) {
        if (aq_train_layer_kind_of(spec->layers[l].kind) == NULL) {
            return aq_fail(error, AQ_E_UNSUPPORTED,
                           "layer %u: the learner cannot train layers of kind %s yet", l,
                           aq_layer_kind_name(spec->layers[l].kind));
        }
    }
    return 0;
}

static void *place(char *block, size_t offset)
{
    return offset != 0 ? block + offset : NULL;
}

int aq_net_train_create(const aq_net_train_config *config, aq_net_train **ret_train,
                        aq_error *error)
{
    aq_net_train *train;
    layout at;
    char *block;
    int rc = check_kinds(config->spec, error);

    AQ_ASSERT(config->backward_rows_max > 0);
    AQ_ASSERT(config->backward_rows_max <= config->rows_max);
    if (rc != 0) {
        return rc;
    }
    at = lay_out(config);
    block = aq_alloc_large(1, at.bytes);
    if (block == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for training a network of %zu parameters",
                       aq_net_spec_parameters(config->spec));
    }
    train = (aq_net_train *)block;
    train->spec = *config->spec;
    train->quant = config->quant;
    train->rows_max = config->rows_max;
    train->backward_rows_max = config->backward_rows_max;
    for (uint32_t l = 0; l < train->spec.layer_count; l++) {
        train->layers[l] = (aq_train_layer){.spec = &train->spec.layers[l],
                                            .out = place(block, at.out[l]),
                                            .normed = place(block, at.normed[l]),
                                            .kept = place(block, at.kept[l])};
        train->quant_weight[l] = place(block, at.quant_weight[l]);
        train->quant_input[l] = place(block, at.quant_input[l]);
    }
    train->uncounted = place(block, at.uncounted);
    for (int i = 0; i < 2; i++) {
        train->d_in[i] = place(block, at.d_in[i]);
    }
    *ret_train = train;
    return 0;
}

void aq_net_train_destroy(aq_net_train *train)
{
    aq_free(train);
}

void aq_net_train_quantize(aq_net_train *train, bool is_quantized)
{
    AQ_ASSERT(!is_quantized || train->quant.bits != 0);
    train->is_quantized = is_quantized;
}

/* Puts what the levels stand for in place of weights and input. */
static void quantize_layer(aq_net_train *train, uint32_t l, uint32_t rows)
{
    aq_train_layer *layer = &train->layers[l];

    aq_fake_quant_weights(&train->quant, layer->spec, layer->weight, train->quant_weight[l]);
    aq_fake_quant_input(layer->x, rows, layer->spec->inputs, train->quant_input[l]);
    layer->weight = train->quant_weight[l];
    layer->x = train->quant_input[l];
}

const float *aq_net_forward(aq_net_train *train, const aq_params *params, const float *input,
                            uint32_t rows)
{
    const float *x = input;

    AQ_ASSERT(rows > 0);
    AQ_ASSERT(rows <= train->rows_max);
    for (uint32_t l = 0; l < train->spec.layer_count; l++) {
        aq_train_layer *layer = &train->layers[l];

        layer->weight = params->weight[l];
        layer->bias = params->bias[l];
        layer->x = x;
        if (train->is_quantized && train->quant_weight[l] != NULL) {
            quantize_layer(train, l, rows);
        }
        aq_train_layer_kind_of(layer->spec->kind)->forward(layer, rows);
        x = layer->out;
    }
    train->rows = rows;
    return x;
}

void aq_net_backward(aq_net_train *train, float *d_out, uint32_t rows, aq_params *gradient)
{
    aq_net_backward_as(
        train, &(aq_net_backward_plan){
                   .d_out = d_out, .rows = rows, .counted_rows = rows, .gradient = gradient});
}

void aq_net_backward_as(aq_net_train *train, const aq_net_backward_plan *plan)
{
    float *d = plan->d_out;

    AQ_ASSERT(plan->counted_rows > 0);
    AQ_ASSERT(plan->counted_rows <= plan->rows);
    AQ_ASSERT(plan->rows <= train->rows);
    AQ_ASSERT(plan->rows <= train->backward_rows_max);
    AQ_ASSERT(plan->d_input == NULL || train->spec.layers[0].kind == AQ_LAYER_LINEAR);
    for (uint32_t l = train->spec.layer_count; l-- > 0;) {
        const aq_train_layer *layer = &train->layers[l];
        aq_train_layer_gradient at = {.d = d,
                                      .weight = plan->gradient->weight[l],
                                      .bias = plan->gradient->bias[l],
                                      .d_x = train->d_in[l % 2],
                                      .wants_d_x = l > 0,
                                      .counted_rows = plan->counted_rows,
                                      .uncounted = train->uncounted};

        if (l == 0 && plan->d_input != NULL) {
            at.d_x = plan->d_input;
            at.wants_d_x = true;
            at.first_row = plan->input_first_row;
            at.first_column = plan->input_first_column;
        }
        aq_train_layer_kind_of(layer->spec->kind)->backward(layer, &at, plan->rows);
        d = at.d_x;
    }
}

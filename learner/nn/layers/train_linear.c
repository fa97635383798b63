/*
 * linear: Z = X W^T + b;  dW = dZ^T X;  db = sum over rows of dZ;  dX = dZ W
 *
 * What happens between the products is one pass each (passes.h).
 */
#include "learner/nn/train_layers.h"

/* ---- the products --------------------------------------------------------------------------- */

static aq_product forward_product(const aq_layer_spec *layer, uint32_t rows)
{
    return (aq_product){.transposes_b = true,
                        .m = rows,
                        .n = layer->outputs,
                        .k = layer->inputs,
                        .b_stride = layer->inputs,
                        .activation = layer->activation};
}

static aq_product weight_product(const aq_layer_spec *layer, uint32_t rows)
{
    return (aq_product){.transposes_a = true,
                        .m = layer->outputs,
                        .n = layer->inputs,
                        .k = rows,
                        .b_stride = layer->inputs};
}

static aq_product input_product(const aq_layer_spec *layer, uint32_t rows, uint32_t columns)
{
    return (aq_product){.m = rows, .n = columns, .k = layer->outputs, .b_stride = layer->inputs};
}

static void add_room(const aq_layer_spec *layer, uint32_t rows, uint32_t backward_rows,
                     aq_products_room *room)
{
    const aq_product products[] = {forward_product(layer, rows),
                                   weight_product(layer, backward_rows),
                                   input_product(layer, backward_rows, layer->inputs)};
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        aq_products_room_for(&products[i], room);
    }
}

/* ---- both ways ------------------------------------------------------------------------------ */

static void forward(const aq_train_layer *layer, uint32_t rows)
{
    aq_product product = forward_product(layer->spec, rows);
    product.a = layer->x[0];
    product.b = layer->weight;
    product.bias = layer->bias;
    product.c = layer->out;
    aq_products_run(layer->products, &product);
}

static void backward(const aq_train_layer *layer, const aq_train_gradient *gradient, uint32_t rows)
{
    const uint32_t first_row = gradient->first_row, first_column = gradient->first_column;
    aq_train_activation_backward(layer, gradient, rows);
    aq_product product = weight_product(layer->spec, gradient->counted_rows);
    product.a = gradient->d;
    product.b = layer->x[0];
    product.c = gradient->weight;
    aq_products_run(layer->products, &product);
    if (gradient->wants_d_x[0]) {
        product = input_product(layer->spec, rows - first_row, layer->spec->inputs - first_column);
        product.a = gradient->d + (size_t)first_row * layer->spec->outputs;
        product.b = layer->weight + first_column;
        product.c = gradient->d_x[0];
        aq_products_run(layer->products, &product);
    }
}

const aq_train_kind aq_train_linear = {
    .add_room = add_room, .gives_parts = true, .forward = forward, .backward = backward};

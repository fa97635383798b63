/*
 * gru, through the steps of sequences (layer_spec.h has the equations); S = H W^T + b, a step after
 * the other. Back from the last step to the first, with dY the gradient from above and that which
 * the step behind gives its state:
 *
 *   dn = dY (1 - z) (1 - n^2);  dr = dn s2 r (1 - r);  dz = dY (h - n) z (1 - z)
 *   dX = (dr, dz, dn);  dS = (dr, dz, dn r);  dH = dY z + dS W
 *   dW = dS^T H;  db = sum over rows of dS
 *
 * Of each row is kept h, then its gates (r, z, n), which dS takes the place of, and s2, which dS W
 * does.
 */
#include <string.h>

#include "common/base/assert.h"
#include "learner/nn/passes.h"
#include "learner/nn/train_layers.h"

/* Arrays of all rows, within what is kept. */
typedef struct kept_arrays {
    float *before; /* (rows, width) */
    float *gates;  /* (rows, 3 width) */
    float *said;   /* (rows, width) */
} kept_arrays;

static kept_arrays kept_of(const aq_train_layer *layer, uint32_t rows)
{
    const size_t values = (size_t)rows * layer->spec->outputs;
    float *first = layer->kept;
    return (kept_arrays){first, first + values, first + (1 + AQ_GRU_GATES) * values};
}

static aq_gru_rows rows_of(const aq_train_layer *layer, const kept_arrays *kept, uint32_t first,
                           uint32_t count)
{
    const size_t width = layer->spec->outputs, at = first * width;
    return (aq_gru_rows){.count = count,
                         .width = width,
                         .before = kept->before + at,
                         .gates = kept->gates + AQ_GRU_GATES * at,
                         .said = kept->said + at};
}

static size_t kept_bytes(const aq_layer_spec *layer)
{
    return (2 + AQ_GRU_GATES) * (size_t)layer->outputs * sizeof(float);
}

/* ---- the products --------------------------------------------------------------------------- */

static aq_product state_product(const aq_layer_spec *layer, uint32_t rows)
{
    return (aq_product){.transposes_b = true,
                        .m = rows,
                        .n = layer->inputs,
                        .k = layer->outputs,
                        .b_stride = layer->outputs};
}

static aq_product weight_product(const aq_layer_spec *layer, uint32_t rows)
{
    return (aq_product){.transposes_a = true,
                        .m = layer->inputs,
                        .n = layer->outputs,
                        .k = rows,
                        .b_stride = layer->outputs};
}

static aq_product back_product(const aq_layer_spec *layer, uint32_t rows)
{
    return (aq_product){
        .m = rows, .n = layer->outputs, .k = layer->inputs, .b_stride = layer->outputs};
}

static void add_room(const aq_layer_spec *layer, uint32_t rows, uint32_t backward_rows,
                     aq_products_room *room)
{
    const aq_product products[] = {state_product(layer, rows), weight_product(layer, backward_rows),
                                   back_product(layer, backward_rows)};
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        aq_products_room_for(&products[i], room);
    }
}

/* ---- forward -------------------------------------------------------------------------------- */

/* The states of the sequences that have a step, from where they were a step before. */
static void take_states(const aq_train_layer *layer, uint32_t step, uint32_t first, float *before)
{
    const aq_net_sequences *sequences = layer->sequences;
    const uint32_t width = layer->spec->outputs, count = sequences->active[step];
    if (step > 0) {
        const uint32_t last = first - sequences->active[step - 1];
        memcpy(before, layer->out + (size_t)last * width, (size_t)count * width * sizeof(*before));
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(before + (size_t)i * width, layer->state + (size_t)i * layer->state_stride,
               width * sizeof(*before));
    }
}

static void forward(const aq_train_layer *layer, uint32_t rows)
{
    const uint32_t width = layer->spec->outputs, gates = layer->spec->inputs;
    const aq_net_sequences *sequences = layer->sequences;
    const kept_arrays kept = kept_of(layer, rows);
    uint32_t first = 0;
    AQ_ASSERT(sequences != NULL);
    for (uint32_t step = 0; step < sequences->steps; first += sequences->active[step++]) {
        const uint32_t count = sequences->active[step];
        float *before = kept.before + (size_t)first * width;
        aq_product product = state_product(layer->spec, count);
        take_states(layer, step, first, before);
        product.a = before;
        product.b = layer->weight;
        product.bias = layer->bias;
        product.activation = AQ_ACTIVATION_NONE;
        product.c = kept.gates + (size_t)first * gates;
        aq_products_run(layer->products, &product);
        const aq_gru_rows at = rows_of(layer, &kept, first, count);
        aq_passes_best()->gru_forward(&at, layer->x[0] + (size_t)first * gates,
                                      layer->out + (size_t)first * width);
    }
    AQ_ASSERT(first == rows);
}

/* ---- backward ------------------------------------------------------------------------------- */

/* What the states of a step get goes to the rows of the step before. */
static void add_back(const float *past, const float *through, size_t count, float *d)
{
    for (size_t i = 0; i < count; i++) {
        d[i] += past[i] + through[i];
    }
}

static void backward_step(const aq_train_layer *layer, const aq_train_gradient *gradient,
                          const kept_arrays *kept, uint32_t first, uint32_t step)
{
    const uint32_t width = layer->spec->outputs, gates = layer->spec->inputs;
    const uint32_t count = layer->sequences->active[step];
    float *through = kept->said + (size_t)first * width;
    const aq_gru_rows at = rows_of(layer, kept, first, count);
    aq_passes_best()->gru_backward(&at, gradient->d + (size_t)first * width,
                                   gradient->d_x[0] + (size_t)first * gates);
    if (step == 0) {
        return;
    }
    const uint32_t last = first - layer->sequences->active[step - 1];
    aq_product product = back_product(layer->spec, count);
    product.a = kept->gates + (size_t)first * gates;
    product.b = layer->weight;
    product.c = through;
    aq_products_run(layer->products, &product);
    add_back(gradient->d + (size_t)first * width, through, (size_t)count * width,
             gradient->d + (size_t)last * width);
}

static void backward(const aq_train_layer *layer, const aq_train_gradient *gradient, uint32_t rows)
{
    const uint32_t gates = layer->spec->inputs;
    const kept_arrays kept = kept_of(layer, rows);
    uint32_t first = rows;
    AQ_ASSERT(gradient->counted_rows == rows);
    for (uint32_t step = layer->sequences->steps; step-- > 0;) {
        first -= layer->sequences->active[step];
        backward_step(layer, gradient, &kept, first, step);
    }
    aq_product product = weight_product(layer->spec, rows);
    product.a = kept.gates;
    product.b = kept.before;
    product.c = gradient->weight;
    aq_products_run(layer->products, &product);
    memset(gradient->bias, 0, gates * sizeof(*gradient->bias));
    for (size_t row = 0; row < rows; row++) {
        for (uint32_t i = 0; i < gates; i++) {
            gradient->bias[i] += kept.gates[row * gates + i];
        }
    }
}

const aq_train_kind aq_train_gru = {
    .kept_bytes = kept_bytes, .add_room = add_room, .forward = forward, .backward = backward};

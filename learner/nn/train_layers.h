/*
 * Train layers: forward and backward of each kind of layer. A kind joins by a row in a file of
 * layers/ (docs/adding-a-layer.md); what a kind computes is in common/policy/layer_spec.h.
 *
 * act' is told from act's result, so what went into an activation is not kept.
 *
 * Private to net_train.c, the rows and the tests. No state; any thread.
 */
#ifndef AQ_LEARNER_NN_TRAIN_LAYERS_H
#define AQ_LEARNER_NN_TRAIN_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/policy/layer_spec.h"
#include "learner/nn/net_train.h"
#include "learner/nn/products.h"

/* One layer of a pass. Parameters and first source are those that are computed with, quantized or
 * not. */
typedef struct aq_train_layer {
    const aq_layer_spec *spec;
    const float *weight, *bias;
    const float *x[AQ_LAYER_SOURCES_MAX]; /* (rows, the width of each source) */
    float *out;                           /* (rows, outputs) */
    void *kept;                           /* (rows) of kept_bytes, for the way back */
    aq_products *products;                /* NULL: those of fp32 */
    void *scratch;                        /* of scratch_bytes; what is in it is not kept */
    const aq_net_sequences *sequences;    /* of a layer that keeps a state ... */
    const float *state;                   /* ... which is this, of the first of them ... */
    uint32_t state_stride;                /* ... and of the next so many floats on */
    const float *noise;                   /* of a layer that takes some */
} aq_train_layer;

typedef struct aq_train_gradient {
    float *d;                         /* of out, (rows, outputs); scratch */
    float *weight, *bias;             /* overwritten */
    float *d_x[AQ_LAYER_SOURCES_MAX]; /* as x; may be overwritten even where it is not wanted */
    bool wants_d_x[AQ_LAYER_SOURCES_MAX];
    uint32_t counted_rows; /* the first ones, from which weight and bias get their gradients */
    float *uncounted;      /* (2, outputs): what the other rows would add to either */
    /* The rows and columns of d_x[0] from which on it is wanted, and which alone it has; 0 but for
     * a kind that gives parts. */
    uint32_t first_row, first_column;
} aq_train_gradient;

typedef struct aq_train_kind {
    /* Of a row, what forward leaves for backward. NULL: nothing. */
    size_t (*kept_bytes)(const aq_layer_spec *layer);
    /* What forward and backward need besides; NULL: nothing. */
    size_t (*scratch_bytes)(const aq_layer_spec *layer);
    /* Makes the room large enough for the layer's products; NULL: it has none. */
    void (*add_room)(const aq_layer_spec *layer, uint32_t rows, uint32_t backward_rows,
                     aq_products_room *room);
    bool gives_parts; /* backward computes what is wanted of d_x[0] alone */
    void (*forward)(const aq_train_layer *layer, uint32_t rows); /* NULL: it is never trained */
    void (*backward)(const aq_train_layer *layer, const aq_train_gradient *gradient, uint32_t rows);
} aq_train_kind;

/* Of a valid layer that can be trained. */
const aq_train_kind *aq_train_kind_of(const aq_layer_spec *layer);

/* For the rows: d back through the activation; the counted rows, and in each all values of one row
 * of the matrix, add up to the gradient of the bias. */
void aq_train_activation_backward(const aq_train_layer *layer, const aq_train_gradient *gradient,
                                  uint32_t rows);

#endif

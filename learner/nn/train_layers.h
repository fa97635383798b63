/*
 * Train layers: forward and backward of each kind of layer, as a table. A kind joins by a row in
 * train_layers.c; those that have none there cannot be trained yet.
 *
 *   linear   Z = X W^T + b;  dW = dZ^T X;  db = sum over rows of dZ;  dX = dZ W
 *   norm     dueling and categorical: see common/policy/layer_spec.h for what they compute
 *
 * act' is told from act's result, so what went into an activation is not kept.
 *
 * Private to net_train.c and the tests. No state; any thread.
 */
#ifndef AQ_LEARNER_NN_TRAIN_LAYERS_H
#define AQ_LEARNER_NN_TRAIN_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/policy/layer_spec.h"
#include "learner/nn/passes.h"

/* One layer of a pass. Parameters and input are those that are computed with, quantized or not. */
typedef struct aq_train_layer {
    const aq_layer_spec *spec;
    const float *weight, *bias;
    const float *x;      /* (rows, inputs) */
    float *out;          /* (rows, outputs) */
    aq_norm_row *normed; /* (rows); norm only */
    float *kept;         /* (rows, inputs): the probabilities; categorical only */
} aq_train_layer;

typedef struct aq_train_layer_gradient {
    float *d;             /* of out, (rows, outputs); scratch */
    float *weight, *bias; /* overwritten */
    float *d_x;           /* (rows, inputs); may be overwritten even where it is not wanted */
    bool wants_d_x;
    uint32_t counted_rows; /* the first ones, from which weight and bias get their gradients */
    float *uncounted;      /* (2, outputs): what the other rows would add to either */
    /* Linear: the rows and columns of d_x from which on it is wanted; it has no others. */
    uint32_t first_row, first_column;
} aq_train_layer_gradient;

typedef struct aq_train_layer_kind {
    void (*forward)(const aq_train_layer *layer, uint32_t rows);
    void (*backward)(const aq_train_layer *layer, const aq_train_layer_gradient *gradient,
                     uint32_t rows);
} aq_train_layer_kind;

/* NULL for a kind that cannot be trained. */
const aq_train_layer_kind *aq_train_layer_kind_of(uint32_t kind);

#endif

/*
 * Layer description: one layer of a network as plain data.
 *
 *   linear       y = act(W x + b)
 *   conv2d       the same for every patch of an image; images are (height, width, channels), in
 *                and out, so a row of W is (kernel, kernel, channels)
 *   pool         y = act(the greatest of each channel's values in a patch of an image), as wide as
 *                the image is deep; a patch of one pixel leaves the activation alone
 *   norm         y = act(g (x - mean) / sqrt(variance + AQ_NORM_EPSILON) + b), over all of x
 *   dueling      x is (1 + choices, atoms): the state's value, then each choice's advantage;
 *                y[c][k] = x[0][k] + x[1 + c][k] - mean over choices of x[1 + .][k]
 *   categorical  x is (choices, atoms) logits over atoms from `low` to `high`;
 *                y[c] = sum_k softmax(x[c])[k] atom[k]
 *   add          y = x[0] + x[1], two values: a residual's, and what a branch makes of it
 *   gru          x is (3, width), what the input says to each gate, and h the layer's y of the step
 *                before, zeros in the first; s = W h + b
 *                r = logistic(x[0] + s[0]);  z = logistic(x[1] + s[1]);  n = tanh(x[2] + r s[2])
 *                y = (1 - z) n + z h
 *   noise        y = act(x[0] + e x[1]) of two values, y = act(e x[0]) of one; e is drawn for who
 *                explores or trains, one number for each `group` of outputs, and 0 for all others
 *
 * gru keeps a state: what it gave in the step before is one more value that it takes, in front of
 * its sources.
 *
 * A kind of layer is a line of AQ_LAYER_KINDS, and a row for each concern: what it is
 * (layer_kind.h), how it is trained, how it runs quantized, and how it is exported. Nothing else
 * asks which kind a layer is.
 */
#ifndef AQ_COMMON_POLICY_LAYER_SPEC_H
#define AQ_COMMON_POLICY_LAYER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

#define AQ_NET_WIDTH_MAX   UINT32_C(16384)     /* of a linear layer, and of a patch */
#define AQ_NET_IMAGE_MAX   (UINT32_C(1) << 18) /* values of an image, in or out */
#define AQ_NET_CHOICES_MAX UINT32_C(4096)
#define AQ_NET_ATOMS_MAX   UINT32_C(1024)
#define AQ_NORM_EPSILON    1e-5f

/* The numbers are those of the wire. */
#define AQ_LAYER_KINDS(X)                                                                          \
    X(1, LINEAR, linear)                                                                           \
    X(2, CONV2D, conv2d)                                                                           \
    X(3, NORM, norm)                                                                               \
    X(4, DUELING, dueling)                                                                         \
    X(5, CATEGORICAL, categorical)                                                                 \
    X(6, ADD, add)                                                                                 \
    X(7, GRU, gru)                                                                                 \
    X(8, POOL, pool)                                                                               \
    X(9, NOISE, noise)

#define AQ_LAYER_NUMBER(number, NAME, name) AQ_LAYER_##NAME = (number),
enum aq_layer_kind_number { AQ_LAYER_KINDS(AQ_LAYER_NUMBER) AQ_LAYER_KINDS_END };
#undef AQ_LAYER_NUMBER

/* X(constant, number on the wire, word, what stands behind a layer in a network's text). A
 * configuration chooses among the hidden ones. */
#define AQ_HIDDEN_ACTIVATIONS(X)                                                                   \
    X(AQ_ACTIVATION_RELU, 2, "relu", "r")                                                          \
    X(AQ_ACTIVATION_TANH, 3, "tanh", "t")                                                          \
    X(AQ_ACTIVATION_ELU, 4, "elu", "e")
#define AQ_ACTIVATIONS(X) X(AQ_ACTIVATION_NONE, 1, "none", "") AQ_HIDDEN_ACTIVATIONS(X)

#define AQ_ACTIVATION_CONSTANT(constant, number, word, suffix) constant = (number),
enum aq_activation { AQ_ACTIVATIONS(AQ_ACTIVATION_CONSTANT) };
#undef AQ_ACTIVATION_CONSTANT

/* Of what looks at an image patch by patch. */
typedef struct aq_conv_shape {
    uint32_t height, width, channels; /* of the image */
    uint32_t filters, kernel, stride, padding;
} aq_conv_shape;

typedef struct aq_head_shape {
    uint32_t choices;
    uint32_t atoms;  /* dueling: 1 without a distribution */
    float low, high; /* categorical */
} aq_head_shape;

enum { AQ_LAYER_SHAPE_WORDS = 8, AQ_LAYER_SOURCES_MAX = 4, AQ_GRU_GATES = 3 };

/* The values of a network that a layer takes, by number (netspec.h). */
typedef struct aq_layer_sources {
    uint32_t count; /* 0: one, the value before the layer's own */
    uint32_t values[AQ_LAYER_SOURCES_MAX];
} aq_layer_sources;

typedef struct aq_layer_spec {
    uint32_t kind;
    uint32_t inputs; /* of all its sources together */
    uint32_t outputs;
    uint32_t activation;
    aq_layer_sources sources;
    union { /* what else the kind asks for; the rest is zero */
        aq_conv_shape conv;
        aq_head_shape head;
        uint32_t shape[AQ_LAYER_SHAPE_WORDS]; /* of any kind; floats by their bits */
    };
} aq_layer_spec;

/* A layer's parameters are a weight matrix and one bias a row. No rows: it has none. */
typedef struct aq_layer_matrix_shape {
    uint32_t rows;
    uint32_t columns;
} aq_layer_matrix_shape;

/* Not validated; what a shape says about inputs and outputs is filled in. */
aq_layer_spec aq_layer_linear(uint32_t inputs, uint32_t outputs, enum aq_activation activation);
aq_layer_spec aq_layer_conv2d(const aq_conv_shape *shape, enum aq_activation activation);
aq_layer_spec aq_layer_pool(const aq_conv_shape *shape, enum aq_activation activation);
aq_layer_spec aq_layer_norm(uint32_t width, enum aq_activation activation);
aq_layer_spec aq_layer_dueling(uint32_t choices, uint32_t atoms);
aq_layer_spec aq_layer_categorical(const aq_head_shape *shape);
aq_layer_spec aq_layer_add(uint32_t width);
aq_layer_spec aq_layer_gru(uint32_t width);
aq_layer_spec aq_layer_noise(uint32_t width, uint32_t values, uint32_t group,
                             enum aq_activation activation); /* of one value or of two */

/* Known kind and activation, sizes that fit each other and the limits; AQ_E_INVALID in words that
 * name layer `index`. Safe on anything a peer may have sent. */
int aq_layer_spec_validate(const aq_layer_spec *layer, uint32_t index, aq_error *error) AQ_MUST_USE;

/* Of aq_layer_spec.shape, those that the kind uses; none for an unknown one. */
uint32_t aq_layer_shape_words(uint32_t kind);

/* ---- of a valid layer ----------------------------------------------------------------------- */

aq_layer_matrix_shape aq_layer_matrix(const aq_layer_spec *layer);
size_t aq_layer_parameters(const aq_layer_spec *layer); /* weights and biases */

/* Its weights may be stored in any format; otherwise they are fp32. */
bool aq_layer_is_quantizable(const aq_layer_spec *layer);

/* W x + b of all of its input, before the activation. */
bool aq_layer_is_affine(const aq_layer_spec *layer);

/* Its y is a state of the next step: so many floats, or 0. */
uint32_t aq_layer_state(const aq_layer_spec *layer);

/* How many numbers of noise it takes, or 0. */
uint32_t aq_layer_noise_count(const aq_layer_spec *layer);

/* The distributions whose logits it takes and whose means it gives; NULL if it does neither. */
const aq_head_shape *aq_layer_distributions(const aq_layer_spec *layer);

/* Of the output of a convolution or a pool; its pixels are the patches of the image. */
uint32_t aq_conv_out_height(const aq_conv_shape *shape);
uint32_t aq_conv_out_width(const aq_conv_shape *shape);

/* Value of atom k of a categorical head. */
float aq_head_atom(const aq_head_shape *head, uint32_t k);

/* ---- names ---------------------------------------------------------------------------------- */

const char *aq_layer_kind_name(uint32_t kind); /* "linear", ...; "unknown" */

/* "relu" and "r"; "unknown" and "?" for another number. */
const char *aq_activation_name(uint32_t activation);
const char *aq_activation_suffix(uint32_t activation);

#endif

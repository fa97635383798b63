/*
 * Parameters of a network in fp32: one block, with a view per layer, so that saving, zeroing,
 * copying and the optimizer are one loop over one array.
 */
#ifndef AQ_COMMON_NN_PARAMS_H
#define AQ_COMMON_NN_PARAMS_H

#include <stddef.h>

#include "common/base/error.h"
#include "common/base/rng.h"
#include "common/policy/snapshot.h"

typedef struct aq_params {
    size_t count; /* floats in the block */
    float *block;
    float *weight[AQ_NET_LAYERS_MAX]; /* [rows][columns] of aq_layer_matrix, row-major */
    float *bias[AQ_NET_LAYERS_MAX];   /* [rows] */
    float *array[AQ_NET_ARRAYS_MAX];  /* of the network, that no layer owns */
} aq_params;

/* Zeroed; `spec` is valid. AQ_E_NOMEM. */
int aq_params_init(const aq_net_spec *spec, aq_params *ret_params) AQ_MUST_USE;
void aq_params_fini(aq_params *params); /* NULL and a zeroed struct are fine */

/* The places in a block that is lent, of aq_net_spec_parameters floats. */
aq_params aq_params_view(const aq_net_spec *spec, float *block);

/* As each layer's kind begins, layer by layer: uniform in +-sqrt(1/columns) for weights and biases,
 * as PyTorch's Linear and Conv2d; a norm as the identity. In a network with add layers, linear ones
 * begin as SimBa's: matrices on the way to what is added normal with a variance of 2/columns (He et
 * al., 2015), the others orthogonal (Saxe et al., 2014), and biases 0. Arrays begin as zeros. */
void aq_params_randomize(const aq_net_spec *spec, aq_params *params, aq_rng *rng);

void aq_params_copy(aq_params *to, const aq_params *from); /* same spec */

/* The places of a policy in fp32, without a block, to be read alone where others hold it, too. */
aq_params aq_params_of(const aq_snapshot *exact);

/* Makes an empty policy in fp32, of the same network, one of these parameters. */
void aq_params_put(const aq_params *params, aq_snapshot *exact);

#endif

/*
 * Forward and backward over a network description on OpenBLAS, with everything kept that the
 * backward pass needs. Sized once; a step allocates nothing.
 *
 *   X[0] = input (rows, inputs);  Z[l] = X[l] W[l]^T + b[l];  X[l+1] = act(Z[l])
 *   dZ[l] = dX[l+1] * act'(Z[l]);  dW[l] = dZ[l]^T X[l];  db[l] = sum_rows dZ[l];  dX[l] = dZ[l] W[l]
 */
#ifndef AQ_LEARNER_MLP_TRAIN_H
#define AQ_LEARNER_MLP_TRAIN_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/nn/params.h"

typedef struct aq_mlp_train aq_mlp_train;

int aq_mlp_train_create(const aq_net_spec *spec, uint32_t rows_max,
                        aq_mlp_train **ret_train) AQ_MUST_USE;
void aq_mlp_train_destroy(aq_mlp_train *train); /* NULL is fine */

/* The outputs, (rows, outputs); they stay valid until the next forward of this object. `input` must
 * stay valid until the backward pass is over. */
const float *aq_mlp_forward(aq_mlp_train *train, const aq_params *params, const float *input,
                            uint32_t rows);

/* Gradients of sum over rows of d_out . out, with respect to every parameter, into `gradient`
 * (overwritten). `d_out` is (rows, outputs) and is used as scratch. Follows a forward of the same
 * rows and params. */
void aq_mlp_backward(aq_mlp_train *train, const aq_params *params, float *d_out,
                     aq_params *gradient);

#endif

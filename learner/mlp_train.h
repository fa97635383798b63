/*
 * Forward and backward over a network description on OpenBLAS, with everything kept that the
 * backward pass needs. Sized once; a step allocates nothing. One thread at a time.
 *
 *   X[0] = input (rows, inputs);  X[l+1] = act(X[l] W[l]^T + b[l])
 *   dZ[l] = dX[l+1] * act'(X[l+1]);  dX[l] = dZ[l] W[l]
 *   dW[l] = dZ[l]^T X[l];  db[l] = sum over rows of dZ[l]
 *
 * act' is told from act's result, so what went into an activation is not kept.
 */
#ifndef AQ_LEARNER_MLP_TRAIN_H
#define AQ_LEARNER_MLP_TRAIN_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/nn/params.h"

typedef struct aq_mlp_train aq_mlp_train;

/* `spec` is valid and copied. At most rows_max rows go forward, and of these at most
 * backward_rows_max (<= rows_max) back; neither is 0. AQ_E_NOMEM. */
int aq_mlp_train_create(const aq_net_spec *spec, uint32_t rows_max, uint32_t backward_rows_max,
                        aq_mlp_train **ret_train) AQ_MUST_USE;
void aq_mlp_train_destroy(aq_mlp_train *train); /* NULL is fine */

/* The outputs, (rows, outputs); they stay valid until the next forward of this object. `input` must
 * stay valid until the backward pass is over. */
const float *aq_mlp_forward(aq_mlp_train *train, const aq_params *params, const float *input,
                            uint32_t rows);

/* Gradients of sum over the first `rows` rows of d_out . out, with respect to every parameter, into
 * `gradient` (overwritten). `d_out` is (rows, outputs) and is used as scratch. Follows a forward of
 * at least so many rows with the same params: the rows beyond count as constants, at no cost. */
void aq_mlp_backward(aq_mlp_train *train, const aq_params *params, float *d_out, uint32_t rows,
                     aq_params *gradient);

#endif

/*
 * Adam (Kingma and Ba, 2015), with bias correction and decoupled weight decay (Loshchilov and
 * Hutter, 2019), over one flat block, fused into one pass; and the norm by which a gradient is
 * clipped. One owner, no locking.
 */
#ifndef AQ_LEARNER_NN_ADAM_H
#define AQ_LEARNER_NN_ADAM_H

#include <stddef.h>
#include <stdint.h>

#include "common/config/run_config.h"
#include "learner/nn/passes.h"

/* A gradient of a greater norm has squares that v could not hold. */
#define AQ_GRADIENT_NORM_MAX 1e19

typedef struct aq_adam {
    float learning_rate, beta1, beta2, epsilon;
    float weight_decay;
    uint64_t step; /* steps taken */
    float *m, *v;  /* lent; `count` floats each, zero before the first step */
} aq_adam;

/* As the settings describe it, before its first step. */
aq_adam aq_adam_of(const aq_run_config *config, float *m, float *v);

/* sqrt(sum g^2), summed in double. NaN or infinite when an element is. */
double aq_gradient_norm(const float *gradient, size_t count);

/* Counts one more step, and gives its coefficients: for those who walk over the block in pieces. */
aq_adam_pass aq_adam_advance(aq_adam *adam, float gradient_scale);

/* parameters -= learning_rate * weight_decay * parameters, and then
 * parameters -= learning_rate * mhat / (sqrt(vhat) + epsilon), with g scaled by gradient_scale
 * first. Whatever finite g of a norm up to AQ_GRADIENT_NORM_MAX leaves m, v and the parameters
 * finite. */
void aq_adam_step(aq_adam *adam, float *parameters, const float *gradient, size_t count,
                  float gradient_scale);

#endif

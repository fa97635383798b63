/*
 * Optimizers, over one flat block, fused into one pass; and the norm by which a gradient is
 * clipped. One owner, no locking.
 *
 *   adam     Kingma and Ba, 2015, with bias correction: parameters -= rate * mhat / (sqrt(vhat) +
 *            epsilon), betas 0.9 and 0.999
 *   rmsprop  v = 0.99 v + 0.01 g^2; parameters -= rate * g / (sqrt(v) + epsilon). As PyTorch's
 *            without momentum; A3C's shared one has epsilon within the root
 *
 * Both with decoupled weight decay (Loshchilov and Hutter, 2019).
 */
#ifndef AQ_LEARNER_NN_OPTIMIZER_H
#define AQ_LEARNER_NN_OPTIMIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/nn/params.h"
#include "learner/nn/passes.h"
#include "learner/nn/thread_pool.h"

/* A gradient of a greater norm has squares that v could not hold. */
#define AQ_GRADIENT_NORM_MAX 1e19

typedef struct aq_optimizer {
    float learning_rate, beta1, beta2, epsilon;
    bool is_corrected; /* while moments are of few steps */
    float weight_decay;
    uint64_t step; /* steps taken */
    float *m, *v;  /* lent; `count` floats each, zero before the first step */
    aq_thread_pool
        *pool; /* lent; shares out the walk over many parameters. NULL: the caller walks */
} aq_optimizer;

/* As the settings describe it, before its first step. */
aq_optimizer aq_optimizer_of(const aq_run_config *config, float *m, float *v);

/* sqrt(sum g^2), summed in double. NaN or infinite when an element is. */
double aq_gradient_norm(const float *gradient, size_t count);

/* By what a gradient of that norm is scaled, so that it is `norm_max` long at most; 0: as long as
 * it is. AQ_E_CORRUPT when the norm is NaN, or too great even so. */
int aq_gradient_clip(double norm, double norm_max, double *ret_scale) AQ_MUST_USE;

/* Counts one more step, and gives its coefficients: for those who walk over the block in pieces. */
aq_adam_pass aq_optimizer_advance(aq_optimizer *optimizer, float gradient_scale);

/* parameters -= learning_rate * weight_decay * parameters, and then
 * parameters -= learning_rate * mhat / (sqrt(vhat) + epsilon), with g scaled by gradient_scale
 * first. Whatever finite g of a norm up to AQ_GRADIENT_NORM_MAX leaves m, v and the parameters
 * finite. */
void aq_optimizer_step(aq_optimizer *optimizer, float *parameters, const float *gradient,
                       size_t count, float gradient_scale);

/* What a target network does after step `step` of the learned one: with a tau it goes that share of
 * the way (Polyak averaging), or else it is a copy every `period` steps. */
void aq_target_follow(aq_params *target, const aq_params *online, float tau, uint64_t period,
                      uint64_t step);

#endif

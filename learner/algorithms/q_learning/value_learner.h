/*
 * Value learner: what all have in common that learn the values of actions by a network: that
 * network and how it acts, its gradient, of all ranks, its optimizer, and the target network of
 * those that have one. Such an algorithm's object begins with one, so that the members of its class
 * that are here find it.
 *
 * Of distributions, what is trained are the logits: the layer that makes values of them has no
 * parameters, and is part of the policy alone. Of quantiles, the policy is the network of their
 * means (q_network.h), which is made anew with each step and kept before what is learned.
 *
 * With learner.qat_bits the policy is what the levels stand for, once the delay is over, so that it
 * is published, measured and evaluated as such; the checkpoint keeps the real weights.
 *
 * For boxes of float32 (as they are) or uint8 (divided by 255) and discrete actions.
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_VALUE_LEARNER_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_VALUE_LEARNER_H

#include <stdbool.h>

#include "common/base/arrays.h"
#include "learner/algorithms/algorithm.h"
#include "learner/algorithms/value_figures.h"
#include "learner/nn/fake_quant.h"
#include "learner/nn/net_train.h"
#include "learner/nn/optimizer.h"

/* Rows of the longest pass, and of the longest that is learned from. */
typedef struct aq_value_passes {
    uint32_t forward_rows, backward_rows;
} aq_value_passes;

/* What an algorithm's object has of its own. */
typedef struct aq_value_parts {
    size_t size_bytes;
    uint64_t stream; /* of the run's seed: gives the initial weights */
    bool has_target;

    /* AQ_E_UNSUPPORTED and AQ_E_INVALID, in words. NULL: any settings will do. */
    int (*check)(const aq_algorithm_setup *setup, aq_error *error);

    /* Of the object there is nothing yet but `kind`. */
    aq_value_passes (*take_settings)(void *algorithm, const aq_algorithm_setup *setup);

    /* Says the places of its arrays, behind the network; see arrays.h. */
    void (*lay_out)(void *algorithm, aq_arrays *at);
} aq_value_parts;

/* aq_algorithm_class.kind. */
typedef struct aq_value_kind {
    enum { AQ_Q_VALUES, AQ_Q_DISTRIBUTIONS, AQ_Q_QUANTILES } learns; /* of an action */
    const aq_value_parts *parts;
} aq_value_kind;

typedef struct aq_value_learner {
    aq_algorithm head; /* first */
    const aq_value_kind *kind;
    aq_net_split split;      /* of what is trained */
    aq_net_spec acting_spec; /* of the policy: with the values of distributions */
    uint32_t inputs, state, actions, outputs;
    uint32_t width; /* numbers that are learned of an action */
    uint32_t obs_dtype;
    double gradient_clip; /* 0: off */
    aq_fake_quant quant;
    uint64_t quant_delay; /* steps */
    float *block;         /* of quantiles their means' network; what is learned; moments */
    aq_params means;      /* of quantiles only */
    aq_params online, gradient;
    aq_params target;       /* follows what is learned; of zeroes: none */
    uint64_t target_period; /* steps */
    float tau;              /* 0: copies */
    aq_params acting;       /* the learned network as it acts, once training is quantized */
    aq_optimizer optimizer;
    aq_net_train *train;
    aq_gradient_exchange *exchange; /* NULL: none */
    aq_model_group *model;          /* NULL: the network is whole */
    void *arrays;                   /* the block of the algorithm's own */
} aq_value_learner;

/* Whether the step that comes next is of the quantized network; the same after a resume. */
bool aq_value_learner_is_quantized(const aq_value_learner *learner);

/* A step along the gradient, of all ranks and clipped, and the target's behind it; none where
 * gradients are kept. How long the gradient was before, and then. AQ_E_CORRUPT, on all ranks, when
 * that of one is not good. */
int aq_value_learner_step(aq_value_learner *learner, bool is_good, double *ret_norm,
                          double *ret_clipped) AQ_MUST_USE;

/* Members of the class; arrays are added to by those who have more. */
int aq_value_learner_create(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                            aq_algorithm **ret_algorithm, aq_error *error) AQ_MUST_USE;
void aq_value_learner_destroy(aq_algorithm *algorithm);
const aq_params *aq_value_learner_policy(const aq_algorithm *algorithm);
void aq_value_learner_set_rates(aq_algorithm *algorithm, double learning_rate,
                                double critic_learning_rate);
void aq_value_learner_arrays(aq_algorithm *algorithm, aq_named_arrays *arrays);
aq_slices aq_value_learner_slices(const aq_algorithm *algorithm, const char *array);

#define AQ_VALUE_LEARNER_MEMBERS                                                                   \
    .head_of_choices = AQ_HEAD_ARGMAX, .create = aq_value_learner_create,                          \
    .destroy = aq_value_learner_destroy, .policy = aq_value_learner_policy,                        \
    .set_rates = aq_value_learner_set_rates

extern const aq_metric aq_value_learner_metrics[AQ_VALUE_METRICS];

#endif

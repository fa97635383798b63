/*
 * One thread's share of an actor-critic step: some rows of the batch, through all networks and
 * back, to gradients and sums of its own. Nothing is allocated after create.
 *
 * Private to actor_critic.c and the tests. One thread at a time.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_SHARE_H
#define AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_SHARE_H

#include <stdbool.h>

#include "learner/algorithms/actor_critic/actor_critic.h"
#include "learner/nn/categorical.h"
#include "learner/nn/fake_quant.h"
#include "learner/nn/net_train.h"

/* Networks side by side in one block: the policy, then the critics. */
typedef struct aq_actor_critic_nets {
    float *block;
    aq_params policy;
    aq_params critic[AQ_CRITICS_MAX];
} aq_actor_critic_nets;

/* What all shares are made by; it outlives them. */
typedef struct aq_actor_critic_setup {
    const aq_actor_critic_kind *kind;
    aq_net_spec policy, critic;
    uint32_t inputs, actions; /* elements of an observation and of an action */
    uint32_t obs_dtype;       /* enum aq_dtype */
    float middle[AQ_BOUNDS_MAX], half_range[AQ_BOUNDS_MAX]; /* of the action's elements */
    uint32_t bounds;                                        /* one, or one each */
    aq_atoms atoms;                                         /* distributional only */
    float action_slope_max;                                 /* 0: not cut */
    float target_noise, target_noise_clip;                  /* 0: none */
    uint64_t seed;
    aq_fake_quant quant;
} aq_actor_critic_setup;

/* One step, for all shares. */
typedef struct aq_actor_critic_work {
    const aq_batch *batch;
    const aq_actor_critic_nets *online, *target;
    bool improves_policy;
    bool is_quantized;
    uint64_t step; /* steps done before */
} aq_actor_critic_work;

typedef struct aq_actor_critic_sums {
    double loss;             /* sums over the rows, and over the critics */
    aq_value_figures values; /* of what was done, by the first critic */
    double policy_value;     /* of the policy's own actions, likewise */
    uint64_t saturated;      /* elements of these */
    bool has_bad_action;
} aq_actor_critic_sums;

typedef struct aq_actor_critic_share aq_actor_critic_share;

/* Floats of all networks of a setup. */
size_t aq_actor_critic_parameters(const aq_actor_critic_setup *setup);

/* Their places in a lent block. */
aq_actor_critic_nets aq_actor_critic_nets_view(const aq_actor_critic_setup *setup, float *block);

int aq_actor_critic_share_create(const aq_actor_critic_setup *setup, uint32_t rows_max,
                                 aq_actor_critic_share **ret_share, aq_error *error) AQ_MUST_USE;
void aq_actor_critic_share_destroy(aq_actor_critic_share *share); /* NULL is fine */

/* Rows [first, first + rows) of the batch; no rows is fine. Gradients are as of the whole batch's
 * mean; the policy's only where it is improved. Writes these rows' priorities. */
void aq_actor_critic_share_train(aq_actor_critic_share *share, const aq_actor_critic_work *work,
                                 uint32_t first, uint32_t rows);

/* Of the last train. */
float *aq_actor_critic_share_gradient(aq_actor_critic_share *share); /* as a block of networks */
aq_actor_critic_sums aq_actor_critic_share_sums(const aq_actor_critic_share *share);

#endif

/*
 * One thread's share of an actor-critic step: some rows of the batch, through all networks and
 * back, to gradients and sums of its own. Nothing is allocated after create.
 *
 * Private to the family and the tests. One thread at a time.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_SHARE_H
#define AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_SHARE_H

#include <stdbool.h>

#include "learner/algorithms/actor_critic/actor_critic_setup.h"

/* One step, for all shares. */
typedef struct aq_actor_critic_work {
    const aq_batch *batch;
    const aq_actor_critic_nets *online, *target;
    bool improves_policy;
    bool is_quantized;
    float temperature; /* soft only */
    float value_scale; /* what values count in the policy's loss */
    uint64_t step;     /* steps done before */
} aq_actor_critic_work;

typedef struct aq_actor_critic_sums {
    double loss;             /* sums over the rows, and over the critics */
    aq_value_figures values; /* of what was done, by the first critic */
    double policy_value;     /* of the policy's own actions, as it is improved */
    double own_size;         /* of these values, without their signs; of one that clones */
    double distance;         /* squares, from these to the data's, a mean over elements */
    double value_gap;        /* of the first critic; conservative only */
    double entropy;          /* of these; soft only */
    uint64_t saturated;      /* elements of these */
    bool has_bad_action;
} aq_actor_critic_sums;

typedef struct aq_actor_critic_share aq_actor_critic_share;

int aq_actor_critic_share_create(const aq_actor_critic_setup *setup, uint32_t rows_max,
                                 aq_actor_critic_share **ret_share, aq_error *error) AQ_MUST_USE;
void aq_actor_critic_share_destroy(aq_actor_critic_share *share); /* NULL is fine */

/* Rows [first, first + rows) of the batch; no rows is fine. Gradients are as of the whole batch's
 * mean; the policy's only where it is improved, and not of one that clones. Writes these rows'
 * priorities. */
void aq_actor_critic_share_train(aq_actor_critic_share *share, const aq_actor_critic_work *work,
                                 uint32_t first, uint32_t rows);

/* The policy's gradient of the same rows, of one that clones: once it is known of all of them how
 * large its values are. */
void aq_actor_critic_share_improve(aq_actor_critic_share *share, const aq_actor_critic_work *work,
                                   uint32_t first, uint32_t rows);

/* What is told of a step. */
typedef struct aq_actor_critic_told {
    const aq_actor_critic_setup *setup;
    const aq_actor_critic_sums *sums;
    uint32_t rows;
    bool improves_policy; /* else it has no figures */
    double temperature;
    double gradient_clip;            /* 0: off */
    double policy_norm, critic_norm; /* before it */
} aq_actor_critic_told;

void aq_actor_critic_tell(const aq_actor_critic_told *told, double *metrics);

/* Of the last train. */
float *aq_actor_critic_share_gradient(aq_actor_critic_share *share); /* as a block of networks */
void aq_actor_critic_share_add_sums(const aq_actor_critic_share *share, aq_actor_critic_sums *sums);

#endif

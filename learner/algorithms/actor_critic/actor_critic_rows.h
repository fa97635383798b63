/*
 * The rows of a share, as they are worked on: what actor_critic_share.c prepares, and the two ways
 * through the networks, that of actions which are numbers and that of choices.
 *
 * Private to these files. One thread at a time.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_ROWS_H
#define AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_ROWS_H

#include "learner/algorithms/actor_critic/actor_critic_share.h"

/* What a policy that draws numbers drew, (rows, actions) but for the last. */
typedef struct aq_soft_draw {
    float *noise;
    float *mean, *log_deviation, *deviation;
    float *action, *log_density; /* of each element, squashed to +-1 */
    float *log_prob;             /* (rows) */
} aq_soft_draw;

struct aq_actor_critic_share {
    const aq_actor_critic_setup *setup;
    aq_net_train *policy, *critic[AQ_CRITICS_MAX];
    aq_actor_critic_nets gradient;
    aq_actor_critic_sums sums;
    float *obs, *next_obs;           /* (rows, inputs), of observations in bytes */
    float *next_action;              /* (rows, actions), with its noise */
    float *pairs;                    /* (2 rows, inputs + actions) */
    float *target;                   /* (rows, critic's outputs): value or distribution */
    float *next_values;              /* (rows, critic's outputs) */
    float *probabilities;            /* (2 rows, critic's outputs); distributional only */
    float *d_critic;                 /* (2 rows, critic's outputs) */
    float *d_policy;                 /* (rows, policy's outputs) */
    float *d_action[AQ_CRITICS_MAX]; /* (rows, actions), of each critic that judges the policy */
    aq_soft_draw draw;               /* soft only */
};

typedef struct aq_rows_view {
    const aq_actor_critic_work *work;
    uint32_t first, rows;
    const float *obs, *next_obs, *reward, *bootstrap, *weight;
    float *priority;
    float per_row; /* of the whole batch */
} aq_rows_view;

/* Sums, priorities and all gradients of the rows. */
void aq_actor_critic_train_numbers(aq_actor_critic_share *share, const aq_rows_view *view);
void aq_actor_critic_train_choices(aq_actor_critic_share *share, const aq_rows_view *view);

/* Adds a critic's error of a row to the sums and to its priority. Returns the loss's slope. */
float aq_actor_critic_add_error(aq_actor_critic_share *share, const aq_rows_view *view,
                                uint32_t critic, uint32_t row, float value);

/* How the temperature's logarithm is to move, once the rows' entropy is summed. */
void aq_actor_critic_temperature_slope(aq_actor_critic_share *share, const aq_rows_view *view);

#endif

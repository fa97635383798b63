/*
 * The rows of a share, as they are worked on: what actor_critic_share.c prepares; the ways through
 * the networks, that of actions which are numbers, that of choices, and the implicit one of either;
 * and what these have in common.
 *
 * Private to these files. One thread at a time.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_ROWS_H
#define AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_ROWS_H

#include "learner/algorithms/actor_critic/actor_critic_share.h"
#include "learner/nn/net_train.h"

/* What a policy that draws numbers drew, (rows, actions) but for the last. */
typedef struct aq_soft_draw {
    float *noise;
    float *mean, *log_deviation, *deviation;
    float *action, *log_density; /* of each element, squashed to +-1 */
    float *log_prob;             /* (rows) */
} aq_soft_draw;

struct aq_actor_critic_share {
    const aq_actor_critic_setup *setup;
    uint32_t rows_max;
    void *arrays; /* the block of all */
    aq_net_train *policy, *critic[AQ_CRITICS_MAX], *value;
    aq_actor_critic_nets gradient;
    aq_actor_critic_sums sums;
    float *obs, *next_obs;           /* (rows, inputs), of observations in bytes */
    float *next_action;              /* (rows, actions), with its noise */
    float *pairs;                    /* (2 rows and candidates, inputs + actions) */
    float *target;                   /* (rows, critic's outputs): value or distribution */
    float *next_values;              /* (rows, critic's outputs); or advantages, (rows) */
    float *probabilities;            /* (2 rows, critic's outputs); distributional only */
    float *d_critic;                 /* (2 rows and candidates, critic's outputs) */
    float *d_policy;                 /* (rows, policy's outputs) */
    float *d_action[AQ_CRITICS_MAX]; /* (rows, actions), of each critic that judges the policy */
    float *candidate_density;        /* (candidates, rows): logarithms */
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
void aq_actor_critic_improve_numbers(aq_actor_critic_share *share, const aq_rows_view *view);
void aq_actor_critic_train_choices(aq_actor_critic_share *share, const aq_rows_view *view);
void aq_actor_critic_train_implicit(aq_actor_critic_share *share, const aq_rows_view *view);

/* ---- what goes into a critic ---------------------------------------------------------------- */

/* Rows of (observation, action); the other with the batch's actions, brought to +-1, which is false
 * when one is beyond. */
void aq_actor_critic_join(const aq_actor_critic_setup *setup, const float *obs, const float *action,
                          uint32_t rows, float *out);
bool aq_actor_critic_join_taken(const aq_actor_critic_setup *setup, const aq_rows_view *view,
                                float *out);

/* The batch's choices, and whether all are the task's. */
const int32_t *aq_actor_critic_choices(const aq_rows_view *view);
bool aq_actor_critic_are_choices(const aq_actor_critic_share *share, const aq_rows_view *view);

/* ---- draws of a policy that draws numbers --------------------------------------------------- */

/* What a row's noise is drawn for: no two of any rank have the same. */
uint32_t aq_actor_critic_noise_row(const aq_actor_critic_share *share, const aq_rows_view *view,
                                   uint32_t row);

/* Draws from the policy's outputs into share->draw, and returns the actions. Their noise depends on
 * seed, step, row and the draw's number alone. Number 0 is the same for a row's next action and for
 * the policy's own: each of them is drawn as it should be, and neither is compared with the
 * other. */
const float *aq_actor_critic_draw(aq_actor_critic_share *share, const aq_rows_view *view,
                                  uint32_t number, const float *outputs);

/* ---- conservative values -------------------------------------------------------------------- */

/* The pairs of all candidates, from `out` on, of which the policy's are drawn from its outputs. */
void aq_actor_critic_join_candidates(aq_actor_critic_share *share, const aq_rows_view *view,
                                     const float *outputs, float *out);

/* Adds to a critic's loss, of rows whose slopes are in share->d_critic, what it is conservative by;
 * `values` are of what was done and of the candidates behind, or of all choices. */
void aq_actor_critic_conserve_numbers(aq_actor_critic_share *share, const aq_rows_view *view,
                                      uint32_t critic, const float *values);
void aq_actor_critic_conserve_choices(aq_actor_critic_share *share, const aq_rows_view *view,
                                      uint32_t critic, const float *values);

/* ---- of all --------------------------------------------------------------------------------- */

/* Adds a critic's error of a row to the sums and to its priority. Returns the loss's slope. */
float aq_actor_critic_add_error(aq_actor_critic_share *share, const aq_rows_view *view,
                                uint32_t critic, uint32_t row, float value);

/* Counts the elements of the policy's own actions that stand where its tanh hardly has a slope. */
void aq_actor_critic_count_saturated(aq_actor_critic_share *share, const float *action,
                                     uint32_t rows);

/* How the temperature's logarithm is to move, once the rows' entropy is summed. */
void aq_actor_critic_temperature_slope(aq_actor_critic_share *share, const aq_rows_view *view);

#endif

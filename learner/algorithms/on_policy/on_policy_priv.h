/*
 * What the files of the on-policy family share: an algorithm at work, and the parts of its update.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ON_POLICY_ON_POLICY_PRIV_H
#define AQ_LEARNER_ALGORITHMS_ON_POLICY_ON_POLICY_PRIV_H

#include "common/base/rng.h"
#include "common/policy/head.h"
#include "learner/algorithms/batch_steps.h"
#include "learner/algorithms/on_policy/on_policy.h"
#include "learner/algorithms/on_policy/policy_gradient.h"
#include "learner/nn/net_train.h"
#include "learner/nn/optimizer.h"
#include "learner/nn/sequence_places.h"

enum { AQ_ON_POLICY_VECTORS = 5, AQ_ON_POLICY_RETURNS = 3 };

/* An update may diverge by so many times learner.kl_max. */
#define AQ_ON_POLICY_KL_SLACK 1.5

/* A network that is trained. */
typedef struct aq_on_policy_net {
    aq_net_spec spec;
    aq_params online, gradient;
    aq_optimizer optimizer;
    aq_net_train *train;
} aq_on_policy_net;

/* The group that is trained on. */
typedef struct aq_on_policy_group {
    const aq_batch *rows;
    const float *log_prob;     /* that the actors said, as the batch has them */
    const float *drawn;        /* likewise; NULL for choices */
    aq_batch_steps own;        /* shuffled for each epoch */
    float *old;                /* by step: log-probability that the policy gave before the update */
    float *ratio;              /* by step: old / actor */
    float *value;              /* by boundary: as expected when advantages were found last */
    float *advantage, *target; /* by step */
} aq_on_policy_group;

/* Of a policy that keeps a state: the group's sequences, and those of a minibatch side by side. */
typedef struct aq_on_policy_memory {
    uint32_t width;        /* of the state; 0: it keeps none, and the rest is not there */
    const float *recorded; /* states, at the batch's boundaries */
    uint32_t sequences;
    uint32_t *first; /* by row: the boundary that it begins at */
    uint32_t *order; /* (sequences): rows, in the order in which they are trained on */
    uint32_t *steps; /* those that are laid out, in the order of the network's rows */
    aq_sequence_places places;
    float *state;
    aq_net_sequences laid;
} aq_on_policy_memory;

/* What the minibatches of an update add up to. */
typedef struct aq_on_policy_sums {
    double loss, value_loss, entropy, step_kl, clipped; /* over steps, of all epochs */
    uint64_t policy_steps, value_steps;                 /* of the sums above */
    double norm, value_norm;                            /* over gradient steps */
    uint64_t policy_updates, value_updates;
} aq_on_policy_sums;

typedef struct aq_on_policy {
    aq_algorithm head;
    const aq_on_policy_kind *kind;
    aq_gradient_exchange *exchange; /* with the other ranks; NULL: alone */
    aq_policy_gradient_rule rule;
    aq_space action;
    const aq_head *drawing;             /* the head */
    uint32_t inputs, outputs, elements; /* elements of what is drawn; 0: choices */
    uint32_t obs_dtype;
    uint32_t sequence_steps;      /* of a sequence, at most */
    uint32_t steps_max, part_max; /* of a group, of a minibatch */
    uint32_t epochs, minibatches;
    float lambda;
    double gradient_clip, entropy_weight, value_clip, kl_max, mean_noise;
    bool normalizes_advantages, recomputes_advantages, normalizes_rewards;
    uint64_t kl_steps; /* of TRPO's conjugate gradient */
    double kl_damping;
    uint64_t seed, updates;
    double returns
        [AQ_ON_POLICY_RETURNS]; /* seen: how many, their mean, the sum of squared deviations */
    aq_on_policy_net policy, value;
    aq_on_policy_group group;
    aq_on_policy_memory memory;
    aq_on_policy_sums sums;
    aq_rng rng;         /* of this update */
    float *block;       /* parameters of both, then both moments of Adam */
    float *input;       /* (part_max, inputs and a state) */
    float *d_out;       /* (part_max, outputs), or of values */
    float *noisy;       /* (outputs): means of one step, with noise */
    float *parts;       /* (part_max): advantages of a minibatch, normalized */
    float *vectors;     /* for `improve`: AQ_ON_POLICY_VECTORS of the policy's parameters */
    float *old_outputs; /* likewise: (steps_max, outputs) */
    void *arrays;       /* the block of these from `input` on, the group's and the memory's */
} aq_on_policy;

/* The head's terms under some parameters of the policy. */
aq_head_terms aq_on_policy_terms(const aq_on_policy *self, const aq_params *params);

aq_head_draw aq_on_policy_draw(const aq_on_policy *self, uint32_t step);

/* What the network of values gives for `count` boundaries: those listed, or, of NULL, all from
 * `first` on. */
const float *aq_on_policy_values(aq_on_policy *self, const uint32_t *listed, uint32_t first,
                                 uint32_t count);

/* What the policy's network gives for `count` steps, by the parameters. Where it keeps a state they
 * are those that are laid out. */
const float *aq_on_policy_forward(aq_on_policy *self, const aq_params *params,
                                  const uint32_t *steps, uint32_t count);

/* Everything that is found before parameters change: AQ_E_CORRUPT for an action that the task does
 * not have, or numbers that are not finite, on any rank. What these return, all ranks get. */
int aq_on_policy_prepare(aq_on_policy *self, const aq_batch *rows) AQ_MUST_USE;

/* Advantages and targets by the values of now. */
int aq_on_policy_find_advantages(aq_on_policy *self) AQ_MUST_USE;

/* As aq_batch_part_of; of a policy that keeps a state, the part is of sequences. */
aq_batch_part aq_on_policy_part_of(aq_on_policy *self, uint32_t number, uint32_t parts);

/* The advantages of those steps into `parts`, with mean 0 and deviation 1 over all ranks' if the
 * settings say so. */
int aq_on_policy_find_parts(aq_on_policy *self, const aq_batch_part *part) AQ_MUST_USE;

/* The gradient becomes that of all ranks: its norm, and by what it is clipped. AQ_E_CORRUPT unless
 * it and `loss` are finite. */
int aq_on_policy_judge(aq_on_policy *self, aq_on_policy_net *net, double loss, double *ret_norm,
                       double *ret_scale) AQ_MUST_USE;

/* One step of Adam along it; none where gradients are kept. */
void aq_on_policy_step(const aq_on_policy *self, aq_on_policy_net *net, double scale);

/* ---- of a policy that keeps a state (on_policy_memory.c) ------------------------------------ */

void aq_on_policy_memory_lay_out(aq_on_policy_memory *memory, uint32_t width,
                                 uint32_t sequence_steps, uint32_t steps_max, aq_arrays *at);

/* The group is of these rows, whose boundaries had the recorded states. */
void aq_on_policy_memory_begin(aq_on_policy_memory *memory, const aq_batch *rows,
                               const float *recorded);
void aq_on_policy_memory_shuffle(aq_on_policy_memory *memory, aq_rng *rng);

/* Lays out the sequences [begin, end) of the order; returns their steps. */
uint32_t aq_on_policy_memory_lay(aq_on_policy_memory *memory, const aq_on_policy_group *group,
                                 uint32_t begin, uint32_t end);

/* Epochs of minibatches: of the policy and its values, or of the values alone. */
int aq_on_policy_run_epochs(aq_on_policy *self, bool of_values_alone) AQ_MUST_USE;

#endif

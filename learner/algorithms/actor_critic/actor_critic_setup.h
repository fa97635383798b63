/*
 * What all parts of an actor-critic algorithm are made by: its networks, their places in one block,
 * and the settings that count in a step.
 *
 * Private to the family and the tests. Constant once made; any thread.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_SETUP_H
#define AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_SETUP_H

#include "learner/algorithms/actor_critic/actor_critic.h"
#include "learner/nn/categorical.h"
#include "learner/nn/fake_quant.h"

/* Networks side by side in one block: the policy, then the critics, then the value of a state and
 * the logarithm of the temperature where there is one. */
typedef struct aq_actor_critic_nets {
    float *block;
    aq_params policy;
    aq_params critic[AQ_CRITICS_MAX];
    aq_params value; /* implicit only */
    float *log_temperature;
} aq_actor_critic_nets;

typedef struct aq_actor_critic_setup {
    const aq_actor_critic_kind *kind;
    aq_net_split policy, critic, value;
    uint32_t critics;
    uint32_t judges;          /* the first of them, whose least value the policy follows */
    uint32_t inputs, actions; /* elements of an observation and of an action */
    uint32_t choices;         /* 0: actions are numbers */
    uint32_t obs_dtype;       /* enum aq_dtype */
    float middle[AQ_BOUNDS_MAX], half_range[AQ_BOUNDS_MAX]; /* of the action's elements */
    uint32_t bounds;                                        /* one, or one each */
    aq_atoms atoms;                                         /* distributional only */
    float action_slope_max;                                 /* 0: not cut */
    float target_noise, target_noise_clip;                  /* 0: none */
    double target_entropy;                                  /* nats */
    bool learns_temperature;                                /* soft only, as are its bounds */
    float log_temperature_min, log_temperature_max;
    float bc_weight;                      /* of one that clones */
    float expectile, inverse_temperature; /* implicit only */
    float conservative_weight;            /* 0: it is not conservative */
    uint32_t candidates; /* a row's actions that it is conservative about; 0: all, or none */
    uint64_t seed;
    uint32_t noise_first; /* of this rank's rows, among those of all ranks */
    aq_fake_quant quant;
    uint32_t bf16_threads; /* see net_train.h */
} aq_actor_critic_setup;

/* AQ_E_UNSUPPORTED for a task that is not for the class, AQ_E_INVALID for settings that make no
 * network; in words. */
int aq_actor_critic_setup_init(const aq_algorithm_class *class, const aq_algorithm_setup *from,
                               aq_actor_critic_setup *ret_setup, aq_error *error) AQ_MUST_USE;

/* Floats of a block. */
size_t aq_actor_critic_parameters(const aq_actor_critic_setup *setup);

/* As the class's. */
aq_slices aq_actor_critic_setup_slices(const aq_actor_critic_setup *setup, const char *array);

/* The places in a lent block. */
aq_actor_critic_nets aq_actor_critic_nets_view(const aq_actor_critic_setup *setup, float *block);

/* Brings the temperature, if there is one, between its bounds: after a step, and after a resume. */
void aq_actor_critic_hold_temperature(const aq_actor_critic_setup *setup,
                                      const aq_actor_critic_nets *nets);

/* As a run begins with them. AQ_E_NOMEM. */
int aq_actor_critic_nets_begin(const aq_actor_critic_setup *setup, const aq_run_config *config,
                               aq_actor_critic_nets *nets, aq_error *error) AQ_MUST_USE;

#endif

/*
 * A share of an actor-critic with small networks and a batch, for tests of what its losses' are.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_SHARE_KIT_H
#define AQ_TESTS_UNIT_LEARNER_SHARE_KIT_H

#include "learner/algorithms/actor_critic/actor_critic_share.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { SHARE_KIT_INPUTS = 3, SHARE_KIT_ACTIONS = 2, SHARE_KIT_CHOICES = 4, SHARE_KIT_ROWS = 6 };

typedef struct share_kit {
    aq_actor_critic_setup setup;
    aq_actor_critic_share *share;
    aq_actor_critic_nets online, target;
    aq_batch *batch;
    float value_scale;
} share_kit;

aq_schema share_kit_schema(bool has_choices);

/* Smooth networks 3-7 and 3-8. */
aq_run_config share_kit_config(enum aq_algorithm algorithm);

/* Networks whose parameters are all of a size that matters, and a batch; until the test ends. The
 * share points to the kit, which stays where it is. */
void share_kit_make(share_kit *kit, const aq_run_config *config, bool has_choices);

/* One training, of which the share has the gradient. */
aq_actor_critic_sums share_kit_train(const share_kit *kit, float temperature);

/* Fails the test unless gradients are central differences of the losses. */
void share_kit_check_gradients(share_kit *kit);

#endif

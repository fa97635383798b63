/*
 * The algorithms of this build.
 */
#include "learner/algorithms/algorithm.h"

#include <string.h>

#include "common/base/assert.h"
#include "learner/algorithms/actor_critic/d4pg.h"
#include "learner/algorithms/actor_critic/ddpg.h"
#include "learner/algorithms/actor_critic/td3.h"
#include "learner/algorithms/q_learning/c51.h"
#include "learner/algorithms/q_learning/dqn.h"

static const aq_algorithm_class *const classes[] = {
    [AQ_ALGORITHM_DQN] = &aq_dqn_class,   [AQ_ALGORITHM_C51] = &aq_c51_class,
    [AQ_ALGORITHM_D4PG] = &aq_d4pg_class, [AQ_ALGORITHM_DDPG] = &aq_ddpg_class,
    [AQ_ALGORITHM_TD3] = &aq_td3_class,
};

const aq_algorithm_class *aq_algorithm_find(const char *name)
{
    for (size_t i = 0; i < aq_algorithm_count(); i++) {
        if (strcmp(classes[i]->name, name) == 0) {
            return classes[i];
        }
    }
    return NULL;
}

size_t aq_algorithm_count(void)
{
    return sizeof(classes) / sizeof(classes[0]);
}

const aq_algorithm_class *aq_algorithm_at(size_t index)
{
    AQ_ASSERT(index < aq_algorithm_count());
    return classes[index];
}

/*
 * Agents that follow gradients of actors: see agent_gradients.h.
 */
#include "learner/algorithms/agent_gradients.h"

#include <stdio.h>

#include "common/config/gradient_rows.h"

/* "a2c, reinforce, dqn" */
static void list_by_gradients(char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < aq_algorithm_count() && used < size; i++) {
        const aq_algorithm_class *class = aq_algorithm_at(i);
        if (class->by_gradients != NULL) {
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     class->name);
        }
    }
}

int aq_agent_check_gradients(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                             aq_error *error)
{
    const aq_run_config *config = setup->config;
    char others[256];
    if (class->by_gradients == NULL) {
        list_by_gradients(others, sizeof(others));
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "actors compute no gradients of %s (actor.gradients); they do of %s",
                       class->name, others);
    }
    if (!aq_gradients_suit(config)) {
        return aq_fail(
            error, AQ_E_UNSUPPORTED,
            "actors that compute gradients (actor.gradients) know what a version gives, "
            "and nothing of learner.normalize_obs or learner.qat_bits; false and 0 work");
    }
    if (aq_gradient_exchange_ranks(setup->exchange) > 1 || setup->model != NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "gradients of actors (actor.gradients) go to one learner: start one rank");
    }
    return 0;
}

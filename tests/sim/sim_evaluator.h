/*
 * A simulated evaluator: the daemon's session on the simulated network. See sim_actor.h.
 */
#ifndef AQ_TESTS_SIM_SIM_EVALUATOR_H
#define AQ_TESTS_SIM_SIM_EVALUATOR_H

#include "actor/session/evaluator_session.h"
#include "tests/sim/sim_ear.h"

typedef struct sim_evaluator {
    sim_site *site;
    uint32_t host;
    uint64_t incarnation;
    sim_pump pump;
    sim_ear ear;
    aq_evaluator_session *session; /* NULL: it does not run */
    sim_client *learner;
} sim_evaluator;

void sim_evaluator_init(sim_evaluator *evaluator, sim_site *site, uint32_t index);
void sim_evaluator_start(sim_evaluator *evaluator);
void sim_evaluator_kill(sim_evaluator *evaluator);

#endif

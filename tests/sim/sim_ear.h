/*
 * Ear: the policy listener (policy_session.h) of a simulated actor or evaluator: what is heard in
 * the simulated broadcast, or was fetched, is given to the feed, and wakes the loop.
 */
#ifndef AQ_TESTS_SIM_SIM_EAR_H
#define AQ_TESTS_SIM_SIM_EAR_H

#include "actor/session/policy_session.h"
#include "tests/sim/sim_pump.h"
#include "tests/sim/sim_site.h"

typedef struct sim_ear {
    sim_site *site;
    uint32_t host;
    sim_pump *pump;
    sim_subscriber *subscriber; /* NULL: it does not listen */
    aq_policy_feed *feed;
} sim_ear;

/* It has that version of the policy, or a later one. */
bool sim_ear_has(const sim_ear *ear, uint64_t version);

aq_policy_listener sim_ear_listener(sim_ear *ear);

#endif

/*
 * Pump: the loop of a simulated process that works when it can and else waits: its owner takes a
 * turn when its time has come, or soon after it was woken.
 *
 * An owner that asks again and again for a time that has passed would keep a processor busy with
 * nothing; that breaks SIM_IDLE.
 */
#ifndef AQ_TESTS_SIM_SIM_PUMP_H
#define AQ_TESTS_SIM_SIM_PUMP_H

#include "tests/sim/sim_network.h"

typedef struct sim_pump {
    sim_network *network;
    uint32_t host;
    int64_t (*turn)(void *user, int64_t now_ns); /* returns when the next one is due */
    void *user;
    bool runs;
    uint64_t life;  /* of its host */
    int64_t due_ns; /* of the next turn */
    unsigned idle_turns;
} sim_pump;

void sim_pump_start(sim_pump *pump);
void sim_pump_stop(sim_pump *pump); /* also from inside a turn */
void sim_pump_wake(sim_pump *pump);

#endif

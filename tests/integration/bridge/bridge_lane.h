/*
 * A task of the bridge for tests: its environment, some lanes stepped one by one, and the process
 * that does the work.
 */
#ifndef AQ_TESTS_INTEGRATION_BRIDGE_BRIDGE_LANE_H
#define AQ_TESTS_INTEGRATION_BRIDGE_BRIDGE_LANE_H

#include <sys/types.h>

#include "envs/env_open.h"

enum { BRIDGE_OBS_MAX = 210 * 160 * 3 / 4 }; /* a picture of Atari is the largest */

typedef struct bridge_lane {
    aq_env *env; /* borrowed */
    uint8_t *state;
    aq_rng rng;
    union {
        float numbers[BRIDGE_OBS_MAX];
        uint8_t bytes[4 * BRIDGE_OBS_MAX];
        int32_t choice;
    } obs;
    float reward;
} bridge_lane;

/* Fails the test when it can't be opened. */
aq_env *bridge_open(const char *name);

/* The words with which it is refused. Static. */
const char *bridge_refusal(const char *name);

/* A lane of an environment of its own; both are the test's. */
bridge_lane *bridge_lane_of(const char *name, uint64_t seed);

void bridge_lane_init(bridge_lane *lane, aq_env *env, uint64_t seed);
void bridge_lane_fini(bridge_lane *lane);

bool bridge_reset(bridge_lane *lane);
enum aq_step_end bridge_step(bridge_lane *lane, const void *action);
enum aq_step_end bridge_choose(bridge_lane *lane, int32_t choice);
void bridge_announce(bridge_lane *lane, int32_t choice);
const char *bridge_failure(const bridge_lane *lane);

/* Resets until that works, as a driver would: for twenty seconds at most. */
void bridge_reset_at_last(bridge_lane *lane);

/* The only child of a process; 0: there is none. And waiting until a process is gone. */
pid_t bridge_child_of(pid_t parent);
bool bridge_wait_until_gone(pid_t pid, int timeout_ms);

#endif

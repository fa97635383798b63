/*
 * What the tests of the actor's core and sessions share: settings of a small run of CartPole, and
 * policies for it.
 */
#ifndef AQ_TESTS_UNIT_ACTOR_CORE_KIT_H
#define AQ_TESTS_UNIT_ACTOR_CORE_KIT_H

#include "common/config/run_settings.h"
#include "common/policy/snapshot.h"

enum { KIT_ENVS = 4, KIT_RUN = 0x51, KIT_FLUSH_MS = 20, KIT_TIMEOUT_MS = 1000 };

/* Valid settings: n-step 3, chunks of 8, no exploration beyond epsilon_base 0. */
aq_run_settings kit_settings(void);

/* A policy of 4-2 (fp32) that always prefers `choice`. */
aq_snapshot *kit_policy(uint64_t run_id, uint64_t version, int32_t choice);

/* The same in another format. */
aq_snapshot *kit_policy_in(uint64_t run_id, uint64_t version, int32_t choice, uint32_t format);

#endif

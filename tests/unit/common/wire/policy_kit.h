/*
 * For the tests of policies on the wire: are two the same, and what may a policy become by
 * training.
 */
#ifndef AQ_TESTS_UNIT_COMMON_WIRE_POLICY_KIT_H
#define AQ_TESTS_UNIT_COMMON_WIRE_POLICY_KIT_H

#include "common/base/rng.h"
#include "common/policy/snapshot.h"

/* Every byte of every tensor, and every other member. Fails the test. */
void assert_same_policy(const aq_snapshot *a, const aq_snapshot *b);

/* A later version of the same policy: `share` of its numbers are others, all valid. */
aq_snapshot *policy_trained(aq_rng *rng, const aq_snapshot *policy, double share);

/* 4-256r-256r-2 in int8, all weights equal: what compresses well. */
aq_snapshot *policy_plain(void);

#endif

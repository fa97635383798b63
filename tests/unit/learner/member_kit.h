/*
 * A coordinator that members join, as its tests want them.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_MEMBER_KIT_H
#define AQ_TESTS_UNIT_LEARNER_MEMBER_KIT_H

#include "learner/run/coordinator.h"

#define TIMEOUT_NS INT64_C(1000)

aq_coordinator *member_kit_create(void);

#define TEST_OF_RUN(name)                                                                          \
    TEST_OF(name, aq_coordinator *run, member_kit_create(), aq_coordinator_destroy)

/* A shard has a store and an address of its own. */
aq_member_record wanted(enum aq_role role, uint64_t incarnation);

/* What the last join_at replaced. */
extern uint64_t replaced[AQ_REPLACED_MAX];

const aq_member_record *join_at(aq_coordinator *coordinator, int64_t now_ns,
                                const aq_member_record *record);

/* At time 0, and nobody is replaced. */
const aq_member_record *join_as(aq_coordinator *coordinator, const aq_member_record *record);
const aq_member_record *join(aq_coordinator *coordinator, enum aq_role role, uint64_t incarnation);

#endif

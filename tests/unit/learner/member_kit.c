/*
 * Members for the coordinator's tests: see member_kit.h.
 */
#include "tests/unit/learner/member_kit.h"

#include <string.h>

#include "tests/support/test.h"

aq_coordinator *member_kit_create(void)
{
    aq_coordinator_config config = {.member_timeout_ns = TIMEOUT_NS, .env_steps_limit = 100};
    aq_coordinator *coordinator = NULL;
    assert_int_equal(aq_coordinator_create(&config, 0, &coordinator), 0);
    return coordinator;
}

aq_member_record wanted(enum aq_role role, uint64_t incarnation)
{
    aq_member_record record = {.role = role, .incarnation = incarnation, .pid = 7};
    if (role == AQ_ROLE_REPLAY) {
        record.store = 9000 + incarnation;
        snprintf(record.rpc_url, sizeof(record.rpc_url), "tcp://10.0.0.1:%u",
                 (unsigned)(1000 + incarnation));
    }
    return record;
}

uint64_t replaced[AQ_REPLACED_MAX];

const aq_member_record *join_at(aq_coordinator *coordinator, int64_t now_ns,
                                const aq_member_record *record)
{
    const aq_member_record *joined = NULL;
    memset(replaced, 0xff, sizeof(replaced));
    assert_int_equal(aq_coordinator_join(coordinator, now_ns, record, &joined, replaced, NULL), 0);
    return joined;
}

const aq_member_record *join_as(aq_coordinator *coordinator, const aq_member_record *record)
{
    const aq_member_record *joined = join_at(coordinator, 0, record);
    assert_int_equal(replaced[0], 0);
    assert_int_equal(replaced[1], 0);
    return joined;
}

const aq_member_record *join(aq_coordinator *coordinator, enum aq_role role, uint64_t incarnation)
{
    aq_member_record record = wanted(role, incarnation);
    return join_as(coordinator, &record);
}

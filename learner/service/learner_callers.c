/*
 * Who calls: the one place where a call is bound to the member in whose name it is made.
 */
#include "learner/service/learner_service_priv.h"

bool aq_learner_may_be(void *call, enum aq_role role)
{
    static const enum aq_access_role needed[] = {
        [AQ_ROLE_ACTOR] = AQ_ACCESS_ACTOR,
        [AQ_ROLE_EVALUATOR] = AQ_ACCESS_EVALUATOR,
        [AQ_ROLE_REPLAY] = AQ_ACCESS_REPLAY,
    };
    enum aq_access_role access = aq_rpc_call_role(call);
    if (access == needed[role] || access == AQ_ACCESS_NONE || access == AQ_ACCESS_SHARED) {
        return true;
    }
    aq_rpc_fail(call, AQ_RPC_PERMISSION_DENIED, "a token of the role %s is for other members",
                aq_access_role_name(access));
    return false;
}

bool aq_learner_identify(const aq_learner_service *service, void *call, uint64_t run_id,
                         uint64_t member, uint64_t incarnation, const aq_member_record **ret_record)
{
    const aq_member_record *record =
        run_id == service->identity.run_id
            ? aq_coordinator_find(service->coordinator, member, incarnation)
            : NULL;
    if (record && !aq_learner_may_be(call, record->role)) {
        return false;
    }
    if (record) {
        int64_t now_ns = service->owner.now_ns(service->owner.user);
        record = aq_coordinator_heartbeat(service->coordinator, now_ns, member, incarnation);
    }
    *ret_record = record;
    return true;
}

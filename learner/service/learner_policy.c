/*
 * Learner service: the Policy method. A version is fetched in full, as it was broadcast or in fp32.
 */
#include <inttypes.h>

#include "common/wire/wire_policy.h"
#include "learner/service/learner_service_priv.h"

static void answer_frame(const aq_buffer *frame, Actorq__V1__FetchPolicyReply_Closure closure,
                         void *call)
{
    Actorq__V1__FetchPolicyReply reply = ACTORQ__V1__FETCH_POLICY_REPLY__INIT;
    reply.frame.data = frame->data;
    reply.frame.len = frame->size;
    closure(&reply, call);
}

/* That version, 0 for the newest; or NULL, and the call has failed. */
static const aq_publication *find_policy(const aq_learner_service *service, uint64_t version,
                                         void *call)
{
    const aq_publication *found = version ? aq_policy_shelf_find(service->shelf, version)
                                          : aq_policy_shelf_newest(service->shelf);
    if (!found && version) {
        aq_rpc_fail(call, AQ_RPC_NOT_FOUND, "policy version %" PRIu64 " is not held here", version);
    } else if (!found) {
        aq_rpc_fail(call, AQ_RPC_NOT_FOUND, "no policy has been published yet");
    }
    return found;
}

static aq_learner_service *of_policy(Actorq__V1__Policy_Service *methods)
{
    char *at = (char *)methods - offsetof(aq_learner_service, policy);
    return (aq_learner_service *)(void *)at;
}

static void policy_fetch(Actorq__V1__Policy_Service *methods,
                         const Actorq__V1__FetchPolicyRequest *request,
                         Actorq__V1__FetchPolicyReply_Closure closure, void *call)
{
    aq_learner_service *service = of_policy(methods);
    if (request->run_id != 0 && request->run_id != service->identity.run_id) {
        aq_rpc_fail(call, AQ_RPC_FAILED_PRECONDITION, "run %016" PRIx64 " is not run here",
                    request->run_id);
        return;
    }
    const aq_publication *found = find_policy(service, request->version, call);
    if (!found) {
        return;
    }
    if (request->format != 0 && request->format != AQ_FORMAT_F32) {
        aq_rpc_fail(call, AQ_RPC_INVALID_ARGUMENT,
                    "format %u: 0 (as broadcast) and 1 (fp32) can be fetched", request->format);
        return;
    }
    const aq_snapshot *asked = request->format == 0 ? found->snapshot : found->twin;
    if (found->frame.size > 0 && asked == found->snapshot) {
        answer_frame(&found->frame, closure, call);
        return;
    }
    aq_buffer frame;
    aq_buffer_init(&frame, found->frame_bytes_fp32 + 65536);
    int rc = aq_wire_policy_pack(asked, &frame);
    if (rc != 0) {
        aq_rpc_fail(call, aq_rpc_code_from_error(rc), "the policy could not be packed");
    } else {
        answer_frame(&frame, closure, call);
    }
    aq_buffer_fini(&frame);
}

void aq_learner_policy_init(aq_learner_service *service)
{
    service->policy = (Actorq__V1__Policy_Service)ACTORQ__V1__POLICY__INIT(policy_);
}

/*
 * The calls that are held, in an array without order: each has its own time, and a tick looks at
 * all of them.
 */
#include "replay/service/replay_flow_service.h"

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/net/rpc/rpc.h"
#include "replay/service/replay_service.h"
#include "replay/shard/replay_credit.h"

_Static_assert(2 * AQ_FLOW_HOLD_MS_MAX * AQ_NS_PER_MS < AQ_CREDIT_LIVE_NS,
               "an actor whose call is held must not pass for dead");

static void answer(const aq_flow_service *flow, const aq_held_credit *held, const aq_credit *credit)
{
    Actorq__V1__CreditReply reply = ACTORQ__V1__CREDIT_REPLY__INIT;
    reply.shard_incarnation = aq_replay_core_incarnation(flow->host->core);
    reply.acknowledged = credit->acknowledged;
    reply.granted = credit->granted;
    reply.expected = credit->expected;
    reply.gaps = credit->gaps;
    reply.store = aq_replay_core_store(flow->host->core);
    reply.version_min = credit->version_min;
    reply.durable = aq_replay_core_log_progress(flow->host->core) != NULL;
    held->closure(&reply, held->closure_data);
}

static void flow_credit(Actorq__V1__Flow_Service *service, const Actorq__V1__CreditRequest *input,
                        Actorq__V1__CreditReply_Closure closure, void *closure_data)
{
    aq_flow_service *flow = (aq_flow_service *)service;
    const aq_replay_host *host = flow->host;
    if (!aq_replay_host_accepts(host, input->run_id, input->wait_ms, closure_data)) {
        return;
    }
    aq_held_credit held = {
        .call = {.actor = input->actor,
                 .incarnation = input->incarnation,
                 .known_acknowledged = input->known_acknowledged,
                 .known_granted = input->known_granted,
                 .acknowledged_steps = input->acknowledged_steps,
                 .store = input->store},
        .closure = closure,
        .closure_data = closure_data,
    };
    if (!aq_replay_core_is_meant(host->core, input->store)) {
        const aq_credit nothing = {0};
        answer(flow, &held, &nothing);
        return;
    }
    aq_error error;
    int rc = aq_replay_core_called(host->core, host->now_ns, &held.call, &error);
    if (rc != 0) {
        aq_rpc_fail(closure_data, aq_rpc_code_from_error(rc), "%s", error.text);
        return;
    }
    if (flow->held_count == AQ_REPLAY_HELD_CREDITS_MAX) {
        aq_credit credit;
        (void)aq_replay_core_answer(host->core, host->now_ns, &held.call, true, &credit);
        answer(flow, &held, &credit);
        return;
    }
    uint32_t wait_ms = input->wait_ms < AQ_FLOW_HOLD_MS_MAX ? input->wait_ms : AQ_FLOW_HOLD_MS_MAX;
    held.until_ns = aq_replay_host_until_ns(host, wait_ms, closure_data);
    flow->held[flow->held_count++] = held;
    if (aq_replay_core_is_paced(host->core)) {
        aq_replay_core_share(host->core, host->now_ns);
        aq_flow_service_tick(flow);
    }
}

int aq_flow_service_init(aq_flow_service *flow, const aq_replay_host *host)
{
    *flow = (aq_flow_service){
        .base = ACTORQ__V1__FLOW__INIT(flow_),
        .host = host,
        .held = aq_alloc(AQ_REPLAY_HELD_CREDITS_MAX, sizeof(*flow->held)),
    };
    return flow->held != NULL ? 0 : AQ_E_NOMEM;
}

void aq_flow_service_fini(aq_flow_service *flow)
{
    AQ_ASSERT(flow->held_count == 0);
    aq_free(flow->held);
    flow->held = NULL;
}

void aq_flow_service_tick(aq_flow_service *flow)
{
    const aq_replay_host *host = flow->host;
    for (size_t i = 0; i < flow->held_count;) {
        aq_held_credit held = flow->held[i];
        aq_credit credit;
        if (aq_replay_core_answer(host->core, host->now_ns, &held.call,
                                  host->now_ns >= held.until_ns, &credit)) {
            flow->held[i] = flow->held[--flow->held_count];
            answer(flow, &held, &credit);
        } else {
            i++;
        }
    }
}

void aq_flow_service_release(aq_flow_service *flow, const char *reason)
{
    while (flow->held_count > 0) {
        aq_rpc_fail(flow->held[--flow->held_count].closure_data, AQ_RPC_UNAVAILABLE, "%s", reason);
    }
}

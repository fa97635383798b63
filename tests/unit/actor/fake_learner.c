/*
 * The learner of the sessions' tests.
 */
#include "tests/unit/actor/fake_learner.h"

#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/wire/wire_policy.h"
#include "common/wire/wire_run.h"
#include "tests/support/must.h"
#include "tests/unit/actor/core_kit.h"

static fake_learner *of_membership(Actorq__V1__Membership_Service *methods)
{
    return ((fake_membership *)(void *)methods)->learner;
}

static void join(Actorq__V1__Membership_Service *methods, const Actorq__V1__JoinRequest *request,
                 Actorq__V1__JoinReply_Closure closure, void *call)
{
    fake_learner *learner = of_membership(methods);
    Actorq__V1__JoinReply reply = ACTORQ__V1__JOIN_REPLY__INIT;
    aq_wire_settings_view settings;
    learner->joins++;
    learner->join_version = request->version;
    learner->join_role = request->role;
    if (learner->refuse_join != AQ_RPC_OK) {
        aq_rpc_fail(call, learner->refuse_join, "not you");
        return;
    }
    learner->has_forgotten = false;
    aq_wire_settings_to(&learner->settings, &settings);
    reply.run_id = learner->run_id;
    reply.member = learner->member;
    reply.slot = learner->slot;
    reply.settings = &settings.message;
    reply.policy_url = learner->policy_url;
    reply.state = learner->state;
    closure(&reply, call);
}

static void heartbeat(Actorq__V1__Membership_Service *methods,
                      const Actorq__V1__HeartbeatRequest *request,
                      Actorq__V1__HeartbeatReply_Closure closure, void *call)
{
    fake_learner *learner = of_membership(methods);
    Actorq__V1__HeartbeatReply reply = ACTORQ__V1__HEARTBEAT_REPLY__INIT;
    Actorq__V1__ShardAddress shards[FAKE_SHARDS_MAX];
    Actorq__V1__ShardAddress *pointers[FAKE_SHARDS_MAX];
    char rpc_urls[FAKE_SHARDS_MAX][64];
    char push_urls[FAKE_SHARDS_MAX][64];
    learner->heartbeats++;
    if (request->actor != NULL) {
        learner->stats = *request->actor;
    }
    for (uint32_t i = 0; i < learner->shard_count; i++) {
        snprintf(rpc_urls[i], sizeof(rpc_urls[i]), "inproc://rpc-%d", (int)learner->shards[i]);
        snprintf(push_urls[i], sizeof(push_urls[i]), "inproc://push-%d", (int)learner->shards[i]);
        if (learner->shard_rpc_url[0] != '\0') {
            snprintf(rpc_urls[i], sizeof(rpc_urls[i]), "%s", learner->shard_rpc_url);
            snprintf(push_urls[i], sizeof(push_urls[i]), "%s", learner->shard_push_url);
        }
        actorq__v1__shard_address__init(&shards[i]);
        shards[i].member = learner->shards[i] + learner->renumber_shards;
        shards[i].store = learner->stores[i] != 0 ? learner->stores[i] : learner->shards[i];
        shards[i].slot = learner->slots[i];
        shards[i].rpc_url = rpc_urls[i];
        shards[i].push_url = push_urls[i];
        pointers[i] = &shards[i];
    }
    reply.known = !learner->has_forgotten;
    reply.state = learner->state;
    reply.version = learner->version;
    reply.n_shards = learner->shard_count;
    reply.shards = pointers;
    closure(&reply, call);
}

static void leave(Actorq__V1__Membership_Service *methods, const Actorq__V1__LeaveRequest *request,
                  Actorq__V1__LeaveReply_Closure closure, void *call)
{
    fake_learner *learner = of_membership(methods);
    Actorq__V1__LeaveReply reply = ACTORQ__V1__LEAVE_REPLY__INIT;
    (void)request;
    learner->leaves++;
    closure(&reply, call);
}

static void report_evaluation(Actorq__V1__Membership_Service *methods,
                              const Actorq__V1__EvaluationReport *request,
                              Actorq__V1__EvaluationReply_Closure closure, void *call)
{
    fake_learner *learner = of_membership(methods);
    Actorq__V1__EvaluationReply reply = ACTORQ__V1__EVALUATION_REPLY__INIT;
    if (learner->refuse_report != AQ_RPC_OK) {
        aq_rpc_fail(call, learner->refuse_report, "not that");
        return;
    }
    AQ_ASSERT(learner->reports < FAKE_REPORTS_MAX);
    learner->report[learner->reports].run_id = request->run_id;
    learner->report[learner->reports].member = request->member;
    learner->report[learner->reports].number = request->number;
    learner->report[learner->reports].version = request->version;
    learner->report[learner->reports].format = request->format;
    learner->report[learner->reports].episodes = request->episodes;
    learner->report[learner->reports].confirmed = request->confirmed;
    learner->report[learner->reports].ranks_only = request->ranks_only;
    learner->report[learner->reports].return_mean = request->return_mean;
    learner->report[learner->reports].return_std = request->return_std;
    if (request->gap != NULL) {
        learner->report[learner->reports].gap_episodes = request->gap->episodes;
        learner->report[learner->reports].gap_mean = request->gap->mean;
        learner->report[learner->reports].return_fp32 = request->gap->return_fp32;
        learner->report[learner->reports].return_fp32_std = request->gap->return_fp32_std;
    }
    learner->reports++;
    reply.state = learner->state;
    reply.leader = learner->leader;
    if (learner->answers_lost > 0) {
        learner->answers_lost--;
        aq_rpc_fail(call, AQ_RPC_UNAVAILABLE, "lost");
        return;
    }
    closure(&reply, call);
}

static void fetch(Actorq__V1__Policy_Service *methods,
                  const Actorq__V1__FetchPolicyRequest *request,
                  Actorq__V1__FetchPolicyReply_Closure closure, void *call)
{
    fake_learner *learner = ((fake_policy *)(void *)methods)->learner;
    Actorq__V1__FetchPolicyReply reply = ACTORQ__V1__FETCH_POLICY_REPLY__INIT;
    learner->fetches++;
    learner->fetched_version = request->version;
    learner->fetched_format = request->format;
    if (request->run_id != learner->run_id || learner->policy_frame.size == 0) {
        aq_rpc_fail(call, AQ_RPC_NOT_FOUND, "no policy");
        return;
    }
    reply.frame.data = learner->policy_frame.data;
    reply.frame.len = learner->policy_frame.size;
    closure(&reply, call);
}

void fake_learner_init(fake_learner *learner)
{
    memset(learner, 0, sizeof(*learner));
    actorq__v1__membership__init(&learner->membership.methods, NULL);
    actorq__v1__policy__init(&learner->policy.methods, NULL);
    learner->membership.learner = learner;
    learner->membership.methods.join = join;
    learner->membership.methods.heartbeat = heartbeat;
    learner->membership.methods.leave = leave;
    learner->membership.methods.report_evaluation = report_evaluation;
    learner->policy.learner = learner;
    learner->policy.methods.fetch = fetch;
    must(aq_rpc_dispatcher_create(16, 1 << 20, 1 << 16, &learner->dispatcher));
    must(aq_rpc_dispatcher_add(learner->dispatcher, &learner->membership.methods.base));
    must(aq_rpc_dispatcher_add(learner->dispatcher, &learner->policy.methods.base));
    learner->run_id = KIT_RUN;
    learner->member = 7;
    learner->settings = kit_settings();
    learner->state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    snprintf(learner->policy_url, sizeof(learner->policy_url), "inproc://policy");
    for (uint32_t i = 0; i < FAKE_SHARDS_MAX; i++) {
        learner->slots[i] = i;
    }
    aq_buffer_init(&learner->policy_frame, 1 << 20);
}

void fake_learner_fini(fake_learner *learner)
{
    aq_rpc_dispatcher_destroy(learner->dispatcher);
    aq_buffer_fini(&learner->policy_frame);
}

void fake_learner_set_policy(fake_learner *learner, uint64_t version, int32_t choice)
{
    aq_snapshot *snapshot = kit_policy(learner->run_id, version, choice);
    aq_buffer_clear(&learner->policy_frame);
    must(aq_wire_policy_pack(snapshot, &learner->policy_frame));
    aq_snapshot_unref(snapshot);
    learner->version = version;
}

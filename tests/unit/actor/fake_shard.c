/*
 * The replay shards of the sessions' tests.
 */
#include "tests/unit/actor/fake_shard.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/experience/experience.h"
#include "tests/support/must.h"
#include "tests/unit/actor/core_kit.h"
#include "tests/unit/common/wire/experience_read.h"

static void reply_to(fake_shard *shard, Actorq__V1__CreditReply_Closure closure, void *call)
{
    Actorq__V1__CreditReply reply = ACTORQ__V1__CREDIT_REPLY__INIT;
    reply.store = shard->store;
    reply.durable = shard->durable;
    reply.shard_incarnation = shard->incarnation;
    reply.acknowledged = shard->is_stuck ? 0 : shard->mark;
    reply.granted = shard->granted;
    reply.expected = shard->mark + 1;
    reply.gaps = shard->gaps;
    closure(&reply, call);
}

static void meet(fake_shard *shard, uint64_t actor_incarnation)
{
    if (shard->actor_incarnation != actor_incarnation) {
        shard->actor_incarnation = actor_incarnation;
        shard->mark = 0;
    }
}

static bool is_foreign(fake_shard *shard, uint64_t store)
{
    const bool is = shard->store != 0 && store != 0 && store != shard->store;
    shard->foreign += is;
    return is;
}

static void credit(Actorq__V1__Flow_Service *methods, const Actorq__V1__CreditRequest *request,
                   Actorq__V1__CreditReply_Closure closure, void *call)
{
    fake_shard *shard = (fake_shard *)(void *)methods;
    shard->calls++;
    shard->known_granted = request->known_granted;
    if (shard->refuse) {
        aq_rpc_fail(call, AQ_RPC_UNAVAILABLE, "not now");
        return;
    }
    if (request->run_id != shard->run_id) {
        aq_rpc_fail(call, AQ_RPC_FAILED_PRECONDITION, "another run");
        return;
    }
    if (is_foreign(shard, request->store)) {
        Actorq__V1__CreditReply reply = ACTORQ__V1__CREDIT_REPLY__INIT;
        reply.store = shard->store;
        reply.durable = shard->durable;
        reply.shard_incarnation = shard->incarnation;
        closure(&reply, call);
        return;
    }
    meet(shard, request->incarnation);
    if (request->known_granted > shard->granted) {
        shard->granted = request->known_granted; /* an earlier shard granted it */
    }
    if (request->known_acknowledged > shard->mark) {
        shard->mark = request->known_acknowledged;
    }
    AQ_ASSERT(shard->held_count < FAKE_HELD_MAX);
    shard->held[shard->held_count].closure = closure;
    shard->held[shard->held_count].call = call;
    shard->held[shard->held_count].known_acknowledged = request->known_acknowledged;
    shard->held[shard->held_count].known_granted = request->known_granted;
    shard->held_count++;
}

void fake_shard_answer(fake_shard *shard, bool all)
{
    size_t kept = 0;
    for (size_t i = 0; i < shard->held_count; i++) {
        bool news = (!shard->is_stuck && shard->mark > shard->held[i].known_acknowledged) ||
                    shard->granted > shard->held[i].known_granted;
        if (news || all || !shard->has_answered) {
            shard->has_answered = true;
            reply_to(shard, shard->held[i].closure, shard->held[i].call);
        } else {
            shard->held[kept++] = shard->held[i];
        }
    }
    shard->held_count = kept;
}

void fake_shard_take(fake_shard *shard, const uint8_t *frame, size_t size)
{
    aq_experience experience;
    must(experience_read(frame, size, shard->run_id, &shard->layout, &experience, NULL));
    if (is_foreign(shard, experience.store)) {
        experience_fini(&experience);
        return;
    }
    shard->actor = experience.actor;
    meet(shard, experience.incarnation);
    if (experience.acknowledged > shard->mark) {
        shard->mark = experience.acknowledged;
    }
    if (experience.seq == shard->mark + 1) {
        shard->mark++;
        shard->messages++;
        for (uint32_t i = 0; i < experience.chunk_count; i++) {
            shard->fresh += aq_chunk_view_fresh(&experience.chunks[i]->view);
        }
    } else if (experience.seq <= shard->mark) {
        shard->duplicates++;
    } else {
        shard->gaps++;
    }
    experience_fini(&experience);
}

void fake_shard_init(fake_shard *shard)
{
    aq_run_settings settings = kit_settings();
    memset(shard, 0, sizeof(*shard));
    actorq__v1__flow__init(&shard->methods, NULL);
    shard->methods.credit = credit;
    must(aq_rpc_dispatcher_create(FAKE_HELD_MAX, 1 << 16, 1 << 16, &shard->dispatcher));
    must(aq_rpc_dispatcher_add(shard->dispatcher, &shard->methods.base));
    must(aq_layout_init(&settings.schema, settings.n_step, settings.config.replay.chunk_length,
                        &shard->layout, NULL));
    shard->run_id = KIT_RUN;
    shard->incarnation = 1;
}

void fake_shard_fini(fake_shard *shard)
{
    fake_shard_answer(shard, true);
    aq_rpc_dispatcher_destroy(shard->dispatcher);
}

void fake_shard_restart(fake_shard *shard)
{
    fake_shard_answer(shard, true);
    shard->incarnation++;
    shard->has_answered = false;
    shard->granted = 0;
    shard->gaps = 0;
    if (!shard->durable) {
        shard->mark = 0;
        shard->store += shard->store != 0 ? 0x100 : 0;
    }
}

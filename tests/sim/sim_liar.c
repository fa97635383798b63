/*
 * A lie at a time, in a rhythm that is drawn.
 */
#include "tests/sim/sim_liar.h"

#include <stdio.h>

#include "common/net/rpc/rpc_rights.h"
#include "proto/experience.pb-c.h"
#include "proto/membership.pb-c.h"
#include "proto/operations.pb-c.h"
#include "proto/policy.pb-c.h"

enum { LIAR_STREAM = 0x6c696172, CALLS_MAX = 64, CALL_MS = 1000 };

#define PAUSE_NS_MAX (20 * AQ_NS_PER_MS)

void sim_liar_init(sim_liar *liar, sim_site *site, const sim_honest *honest)
{
    liar->site = site;
    liar->honest = *honest;
    aq_rng_init(&liar->source.rng, site->scenario.seed, LIAR_STREAM);
    liar->source.run_id = site->run_id;
    liar->source.addresses = liar->addresses;
    for (size_t i = 0; i < HOSTILE_ADDRESSES; i++) {
        liar->addresses[i] = i > 0 ? sim_liar_urls[i - 1] : honest->shards[0].identity.rpc_url;
    }
}

static bool members_may_call(const ProtobufCServiceDescriptor *service, unsigned method)
{
    char name[AQ_RPC_METHOD_MAX];
    (void)snprintf(name, sizeof(name), "%s/%s", service->name, service->methods[method].name);
    return aq_rpc_may_call(AQ_ACCESS_ACTOR, name) || aq_rpc_may_call(AQ_ACCESS_REPLAY, name) ||
           aq_rpc_may_call(AQ_ACCESS_EVALUATOR, name);
}

static void on_answer(const ProtobufCMessage *reply, void *user)
{
    sim_liar *liar = user;
    liar->answered += reply != NULL;
}

/* What no liar can know. */
static void learn_secrets(sim_liar *liar, const sim_replay *shard)
{
    hostile *source = &liar->source;
    if (liar->site->scenario.plant == SIM_PLANT_ACTOR_SECRET) {
        source->incarnation = liar->honest.actors[0].incarnation;
    } else if (liar->site->scenario.plant == SIM_PLANT_SHARD_SECRET && shard->runs) {
        source->incarnation = shard->identity.incarnation;
        source->member = aq_member_look(shard->member)->member;
    }
}

static void lie(sim_liar *liar)
{
    static const ProtobufCServiceDescriptor *const services[] = {
        &actorq__v1__membership__descriptor, &actorq__v1__membership__descriptor,
        &actorq__v1__policy__descriptor,     &actorq__v1__operations__descriptor,
        &actorq__v1__operations__descriptor, &actorq__v1__flow__descriptor,
        &actorq__v1__flow__descriptor};
    enum { SERVICES = sizeof(services) / sizeof(services[0]), OF_LEARNER = 4 };
    aq_rng *rng = &liar->source.rng;
    size_t which = aq_rng_below(rng, SERVICES);
    size_t shard = aq_rng_below(rng, liar->site->scenario.shards);
    learn_secrets(liar, &liar->honest.shards[shard]);
    const ProtobufCServiceDescriptor *service = services[which];
    unsigned method;
    do {
        method = (unsigned)aq_rng_below(rng, service->n_methods);
    } while (!members_may_call(service, method));
    liar->source.store = which < OF_LEARNER ? 0 : liar->honest.shards[shard].identity.store;
    sim_client *client = which < OF_LEARNER ? liar->learner : liar->shards[shard];
    aq_rpc_stub stub;
    aq_rpc_stub_init(&stub, sim_client_channel(client), service, CALL_MS);
    stub.base.invoke(&stub.base, method,
                     hostile_message(&liar->source, service->methods[method].input), on_answer,
                     liar);
}

static void on_turn(void *user, uint64_t tag)
{
    sim_liar *liar = user;
    sim_world *world = &liar->site->world;
    if (liar->runs) {
        lie(liar);
        sim_agenda_at(world->agenda,
                      sim_now_ns(world) + sim_draw_ns(&liar->source.rng, 0, PAUSE_NS_MAX), on_turn,
                      liar, tag);
    }
}

void sim_liar_start(sim_liar *liar)
{
    sim_site *site = liar->site;
    sim_host_start(&site->network, SIM_HOST_LIAR);
    liar->runs = true;
    liar->learner =
        sim_client_open(&site->rpc, SIM_HOST_LIAR, SIM_LEARNER_URL, CALLS_MAX, NULL, NULL);
    for (uint32_t i = 0; i < site->scenario.shards; i++) {
        liar->shards[i] =
            sim_client_open(&site->rpc, SIM_HOST_LIAR, liar->honest.shards[i].identity.rpc_url,
                            CALLS_MAX, NULL, NULL);
    }
    sim_agenda_at(site->world.agenda, sim_now_ns(&site->world), on_turn, liar, 0);
}

void sim_liar_stop(sim_liar *liar)
{
    if (!liar->runs) {
        return;
    }
    liar->runs = false;
    sim_host_stop(&liar->site->network, SIM_HOST_LIAR);
    sim_client_close(liar->learner);
    for (uint32_t i = 0; i < liar->site->scenario.shards; i++) {
        sim_client_close(liar->shards[i]);
    }
}

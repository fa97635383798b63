/*
 * Callers that lie to a shard: any call with anything in it, in sequences, beside an honest actor.
 * The shard answers each, and what the honest one was acknowledged is there once. A failure is
 * repeated with the seed that was printed last: AQ_SEED=… AQ_HOSTILE_SEEDS=1.
 */
#include <inttypes.h>

#include "tests/support/hostile_message.h"
#include "tests/support/test.h"
#include "tests/unit/replay/service_kit.h"

enum { SEEDS = 50, CALLS = 400, HELD_MS = 12000 };

static void lie(service_kit *kit, hostile *source)
{
    static const ProtobufCServiceDescriptor *const services[] = {
        &actorq__v1__flow__descriptor, &actorq__v1__sampling__descriptor,
        &actorq__v1__exchange__descriptor, &actorq__v1__operations__descriptor};
    const ProtobufCServiceDescriptor *service = services[aq_rng_below(&source->rng, 4)];
    unsigned method = (unsigned)aq_rng_below(&source->rng, service->n_methods);
    (void)loopback_call(&kit->loop, hostile_message(source, service->methods[method].input));
}

/* Steps that can be, under a head with anything in it. */
static void push(service_kit *kit, hostile *source, uint64_t first_step)
{
    const Actorq__V1__Experience *head =
        (const void *)hostile_message(source, &actorq__v1__experience__descriptor);
    aq_experience message = kit_message(1, 1, 0, first_step, 4);
    message.run_id = head->run_id;
    message.actor = head->actor;
    message.incarnation = head->incarnation;
    message.seq = head->seq;
    message.acknowledged = head->acknowledged;
    message.store = head->store;
    kit_receive(kit, &message);
}

/* What the shard has of the honest actor, whose number and incarnation are the kit's first. */
static const aq_replay_actor *honest(const service_kit *kit)
{
    const aq_replay_core *core = aq_replay_service_core(kit->service);
    for (size_t i = 0; i < aq_replay_core_actors(core); i++) {
        const aq_replay_actor *actor = aq_replay_core_actor(core, i);
        if (actor->actor == 1 && actor->incarnation == 1001) {
            return actor;
        }
    }
    fail_msg("the honest actor is forgotten");
    return NULL;
}

TEST(liars_neither_end_a_shard_nor_touch_what_was_acknowledged)
{
    uint64_t first = test_seed_or(1);
    uint64_t seeds = test_number("AQ_HOSTILE_SEEDS", SEEDS);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        static service_kit kit;
        static hostile source, pusher;
        uint64_t sent = 0;
        printf("AQ_SEED=%" PRIu64 "\n", seed);
        (void)fflush(stdout);
        memset(&kit, 0, sizeof(kit));
        service_kit_setup(&kit);
        source = (hostile){.rng = rng_of(seed, 0), .run_id = KIT_RUN_ID, .store = KIT_STORE};
        pusher = (hostile){.rng = rng_of(seed, 1), .run_id = KIT_RUN_ID, .store = KIT_STORE};
        for (int i = 0; i < CALLS; i++) {
            lie(&kit, &source);
            if (i % 4 == 0) {
                push(&kit, &pusher, 1000000 + 10 * (uint64_t)i);
            }
            if (i % 20 == 0) {
                kit_insert(&kit, ++sent, 4);
                kit_pass(&kit, 4);
            }
        }
        const aq_replay_actor *actor = honest(&kit);
        assert_int_equal(actor->sequence.taken, sent);
        assert_int_equal(actor->sequence.acknowledged, sent);
        assert_int_equal(actor->transitions, 4 * sent);
        kit_pass(&kit, HELD_MS);
        for (const loopback_answer *it = kit.loop.answers; it != NULL; it = it->next) {
            assert_true(it->done);
        }
        service_kit_teardown(&kit);
    }
}

/*
 * A member that lies to running daemons: it joins in a role, with that role's credentials, and then
 * calls every method with anything in it, in sequences that a seed decides. liars.py starts it.
 *
 *     liar ROLE LEARNER_URL SHARD_URL FIRST_SEED SEEDS
 *     liar crowd LEARNER_URL SHARD_URL FIRST_SEED MEMBERS
 *
 * Each seed is printed before its calls. A crowd is so many actors, one after the other, that each
 * say once what goes wrong with them, at length. Exit status 1: a daemon does not answer any more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/operate/rpc_catalog.h"
#include "common/base/parse.h"
#include "common/net/rpc/rpc_rights.h"
#include "proto/membership.pb-c.h"
#include "proto/operations.pb-c.h"
#include "tests/support/chance.h"
#include "tests/support/hostile_message.h"

/* Calls are answered at once or held as long as they allow, so a short deadline makes many. */
enum { CALLS = 200, CALL_MS = 60, PATIENCE_MS = 60000, METHODS_MAX = 64, WORDS_BYTES = 8192 };

/* What a shard says that it took in counts, so that one alone can use up a run's steps. */
#define STEPS_MAX UINT64_C(1000000000)

typedef struct liar {
    hostile source;
    enum aq_access_role access;
    Actorq__V1__Role role;
    const char *addresses[HOSTILE_ADDRESSES]; /* the first is the honest shard's */
    aq_caller *learner, *shard;
    aq_caller_method methods[METHODS_MAX]; /* those that the role may call come first */
    size_t method_count, own_count;
    uint64_t calls, answered;
} liar;

static void fail(const char *what, const aq_error *error)
{
    (void)fprintf(stderr, "liar: %s: %s\n", what, error->text);
    exit(EXIT_FAILURE);
}

static void name_of(aq_caller_method method, char ret_name[AQ_RPC_METHOD_MAX])
{
    (void)snprintf(ret_name, AQ_RPC_METHOD_MAX, "%s/%s", method.service->name,
                   aq_rpc_catalog_method(method)->name);
}

static void list_methods(liar *self, bool own)
{
    char name[AQ_RPC_METHOD_MAX];
    size_t i;
    const json_t *row;
    json_t *catalog = aq_rpc_catalog_json();
    json_array_foreach(json_object_get(catalog, "methods"), i, row)
    {
        aq_caller_method method;
        const char *known = json_string_value(json_object_get(row, "method"));
        if (self->method_count < METHODS_MAX && aq_rpc_catalog_find(known, &method, NULL) == 0) {
            name_of(method, name);
            if (aq_rpc_may_call(self->access, name) == own) {
                self->methods[self->method_count++] = method;
            }
        }
    }
    json_decref(catalog);
}

/* Whether the daemon answered, in whatever words. A reply is the caller's. */
static bool call(liar *self, aq_caller *caller, aq_caller_method method,
                 const ProtobufCMessage *request, uint32_t timeout_ms, ProtobufCMessage **ret_reply)
{
    aq_rpc_status status;
    aq_error error;
    *ret_reply = NULL;
    int rc = aq_caller_call(caller, method, request, timeout_ms, ret_reply, &status, &error);
    self->calls++;
    self->answered += rc == 0;
    return rc == 0 || (rc == AQ_E_PEER && status.code != AQ_RPC_DEADLINE_EXCEEDED);
}

/* A daemon that has too much to do is waited for; one that is gone ends this. */
static void check_lives(liar *self, aq_caller *caller, const char *who)
{
    aq_caller_method status;
    aq_error error = {.text = "does not answer any more"};
    ProtobufCMessage *reply;
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    if (aq_rpc_catalog_find("Operations/Status", &status, &error) != 0 ||
        !call(self, caller, status, &request.base, PATIENCE_MS, &reply)) {
        fail(who, &error);
    }
    if (reply != NULL) {
        protobuf_c_message_free_unpacked(reply, NULL);
    }
}

static ProtobufCMessage *ask(liar *self, const char *name, const ProtobufCMessage *request)
{
    aq_caller_method method;
    aq_error error = {.text = "it is not answered"};
    ProtobufCMessage *reply = NULL;
    if (aq_rpc_catalog_find(name, &method, &error) != 0 ||
        !call(self, self->learner, method, request, PATIENCE_MS, &reply) || reply == NULL) {
        fail(name, &error);
    }
    return reply;
}

/* As a member that belongs here; from the answers it has the run's number and the store's. */
static void join(liar *self, uint64_t incarnation)
{
    Actorq__V1__JoinRequest request = ACTORQ__V1__JOIN_REQUEST__INIT;
    request.role = self->role;
    request.incarnation = incarnation;
    request.store = incarnation;
    request.rpc_url = (char *)(uintptr_t)self->addresses[1];
    request.push_url = (char *)(uintptr_t)self->addresses[2];
    ProtobufCMessage *reply = ask(self, "Membership/Join", &request.base);
    Actorq__V1__HeartbeatRequest beat = ACTORQ__V1__HEARTBEAT_REQUEST__INIT;
    beat.run_id = self->source.run_id = ((Actorq__V1__JoinReply *)reply)->run_id;
    beat.member = self->source.member = ((Actorq__V1__JoinReply *)reply)->member;
    beat.incarnation = incarnation;
    protobuf_c_message_free_unpacked(reply, NULL);
    reply = ask(self, "Membership/Heartbeat", &beat.base);
    const Actorq__V1__HeartbeatReply *heard = (const Actorq__V1__HeartbeatReply *)reply;
    for (size_t i = 0; i < heard->n_shards; i++) {
        if (strcmp(heard->shards[i]->rpc_url, self->addresses[0]) == 0) {
            self->source.store = heard->shards[i]->store;
        }
    }
    protobuf_c_message_free_unpacked(reply, NULL);
}

static void spare_the_budget(ProtobufCMessage *request)
{
    if (request->descriptor == &actorq__v1__heartbeat_request__descriptor) {
        Actorq__V1__ReplayStats *stats = ((Actorq__V1__HeartbeatRequest *)request)->replay;
        if (stats != NULL && stats->inserted > STEPS_MAX) {
            stats->inserted = STEPS_MAX;
        }
    }
}

static void lie(liar *self)
{
    aq_rng *rng = &self->source.rng;
    char name[AQ_RPC_METHOD_MAX];
    /* What the role may not do at all is tried now and then. */
    size_t count = aq_rng_below(rng, 8) == 0 ? self->method_count : self->own_count;
    const aq_caller_method method = self->methods[aq_rng_below(rng, count)];
    name_of(method, name);
    enum aq_access_role listener = aq_rpc_listener_of(name);
    bool to_learner =
        listener == AQ_ACCESS_NONE ? aq_rng_below(rng, 2) == 0 : listener == AQ_ACCESS_LEARNER;
    const ProtobufCMessage *request =
        hostile_message(&self->source, aq_rpc_catalog_method(method)->input);
    ProtobufCMessage *reply;
    spare_the_budget((ProtobufCMessage *)(uintptr_t)request);
    aq_caller *caller = to_learner ? self->learner : self->shard;
    if (!call(self, caller, method, request, CALL_MS, &reply)) {
        check_lives(self, caller, to_learner ? "the learner" : "the shard");
    }
    if (reply != NULL) {
        protobuf_c_message_free_unpacked(reply, NULL);
    }
}

static void visit(liar *self, uint64_t seed)
{
    const uint64_t incarnation = UINT64_C(1) << 32 | seed;
    (void)printf("AQ_SEED=%" PRIu64 "\n", seed);
    (void)fflush(stdout);
    self->source.rng = rng_of(seed, 0);
    self->source.store = self->source.incarnation = self->source.member = 0;
    join(self, incarnation);
    if (seed % 2 == 0) { /* mostly in its own name; else in those of others */
        self->source.incarnation = incarnation;
    } else {
        self->source.member = 0;
    }
    for (int i = 0; i < CALLS; i++) {
        lie(self);
    }
}

static void join_as_one_of_many(liar *self, uint64_t incarnation)
{
    static char words[WORDS_BYTES];
    Actorq__V1__JoinRequest request = ACTORQ__V1__JOIN_REQUEST__INIT;
    Actorq__V1__HeartbeatRequest beat = ACTORQ__V1__HEARTBEAT_REQUEST__INIT;
    Actorq__V1__ActorStats stats = ACTORQ__V1__ACTOR_STATS__INIT;
    memset(words, 'x', sizeof(words) - 1);
    request.role = ACTORQ__V1__ROLE__ROLE_ACTOR;
    request.incarnation = beat.incarnation = incarnation;
    request.host = stats.env_failure = words;
    stats.env_failures = UINT64_MAX;
    ProtobufCMessage *reply = ask(self, "Membership/Join", &request.base);
    beat.run_id = ((Actorq__V1__JoinReply *)reply)->run_id;
    beat.member = ((Actorq__V1__JoinReply *)reply)->member;
    beat.actor = &stats;
    protobuf_c_message_free_unpacked(reply, NULL);
    protobuf_c_message_free_unpacked(ask(self, "Membership/Heartbeat", &beat.base), NULL);
}

static void take_role(liar *self, const char *name)
{
    self->access = AQ_ACCESS_ACTOR;
    self->role = ACTORQ__V1__ROLE__ROLE_ACTOR;
    if (strcmp(name, "evaluator") == 0) {
        self->access = AQ_ACCESS_EVALUATOR;
        self->role = ACTORQ__V1__ROLE__ROLE_EVALUATOR;
    } else if (strcmp(name, "replay") == 0) {
        self->access = AQ_ACCESS_REPLAY;
        self->role = ACTORQ__V1__ROLE__ROLE_REPLAY;
    }
}

int main(int argc, char **argv)
{
    static liar self;
    uint64_t first, seeds;
    aq_error error = {.text = "liar ROLE LEARNER_URL SHARD_URL FIRST_SEED SEEDS"};
    if (argc != 6 || aq_parse_u64(argv[4], &first) != 0 || aq_parse_u64(argv[5], &seeds) != 0 ||
        aq_caller_open(argv[2], &self.learner, &error) != 0 ||
        aq_caller_open(argv[3], &self.shard, &error) != 0) {
        fail("it cannot begin", &error);
    }
    const char *const addresses[HOSTILE_ADDRESSES] = {
        argv[3], "tcp://127.0.0.7:1001", "tcp://127.0.0.7:1002", "tcp://127.0.0.8:1001"};
    memcpy(self.addresses, addresses, sizeof(addresses));
    self.source.addresses = self.addresses;
    take_role(&self, argv[1]);
    list_methods(&self, true);
    self.own_count = self.method_count;
    list_methods(&self, false);
    const bool is_crowd = strcmp(argv[1], "crowd") == 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        if (is_crowd) {
            join_as_one_of_many(&self, UINT64_C(1) << 33 | seed);
        } else {
            visit(&self, seed);
        }
    }
    (void)printf("calls %" PRIu64 " answered %" PRIu64 "\n", self.calls, self.answered);
    aq_caller_close(self.shard);
    aq_caller_close(self.learner);
    return EXIT_SUCCESS;
}

/*
 * What the tests of remote calls share: two of our services with made-up methods, a channel that
 * keeps what is sent instead of sending it, and a box that keeps a reply.
 */
#ifndef AQ_TESTS_UNIT_COMMON_NET_RPC_KIT_H
#define AQ_TESTS_UNIT_COMMON_NET_RPC_KIT_H

#include <stdbool.h>

#include "common/net/rpc/rpc.h"
#include "proto/operations.pb-c.h"
#include "proto/policy.pb-c.h"

enum { RPC_KIT_HELD_MAX = 128, RPC_KIT_TEXT_MAX = 128 };

/* Policy/Fetch answers with as many bytes as the request's format says, Operations/Stop with an
 * empty reply, unless told to fail or to hold back. */
typedef struct rpc_kit {
    Actorq__V1__Policy_Service policy;
    Actorq__V1__Operations_Service operations;
    bool hold; /* Stop's answers, until rpc_kit_answer_held */
    bool fail; /* Stop, with NOT_FOUND */
    unsigned carried_out;
    Actorq__V1__StopReply_Closure held_closures[RPC_KIT_HELD_MAX];
    void *held_calls[RPC_KIT_HELD_MAX];
    size_t held_count;
    char reason[RPC_KIT_TEXT_MAX]; /* of the last Stop */
    char peer[RPC_KIT_TEXT_MAX];
    uint32_t timeout_ms;
} rpc_kit;

void rpc_kit_init(rpc_kit *kit);
void rpc_kit_add_to(rpc_kit *kit, aq_rpc_dispatcher *dispatcher);
void rpc_kit_answer_held(rpc_kit *kit);

/* A channel that goes nowhere. */
typedef struct rpc_wire {
    aq_rpc_channel channel; /* first */
    int send_result;        /* what send says */
    unsigned sent;
    uint8_t *frame; /* the last one sent */
    size_t size;
    uint32_t timeout_ms;
    aq_rpc_answer_fn answer;
    void *user;
} rpc_wire;

void rpc_wire_init(rpc_wire *wire, size_t frame_bytes_max);
void rpc_wire_fini(rpc_wire *wire);

/* A reply frame, as a dispatcher gives it, and what is in it. */
typedef struct rpc_box {
    unsigned count;
    uint8_t *frame;
    size_t size;
} rpc_box;

void rpc_box_reply(void *box, const uint8_t *frame, size_t size);
void rpc_box_fini(rpc_box *box);
uint32_t rpc_box_status(const rpc_box *box);
uint64_t rpc_box_request_id(const rpc_box *box);

/* The status's words; valid until the next call. */
const char *rpc_box_message(const rpc_box *box);

/* What a closure got. */
typedef struct rpc_result {
    unsigned count;
    bool ok;
    size_t bytes; /* of Fetch's frame; SIZE_MAX when they are not what they should be */
    uint32_t code;
    char message[AQ_RPC_MESSAGE_MAX];
    const aq_rpc_stub *stub; /* set before the call */
} rpc_result;

void rpc_on_fetched(const Actorq__V1__FetchPolicyReply *reply, void *result);
void rpc_on_stopped(const Actorq__V1__StopReply *reply, void *result);

#endif

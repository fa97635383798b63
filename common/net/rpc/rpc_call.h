/*
 * A call at the daemon's end, from its dispatch to its answer, and how requests are answered that
 * never become one. Private to rpc; loop thread only.
 */
#ifndef AQ_COMMON_NET_RPC_RPC_CALL_H
#define AQ_COMMON_NET_RPC_RPC_CALL_H

#include <stdbool.h>

#include "common/net/rpc/id_map.h"
#include "common/net/rpc/rpc.h"
#include "common/net/rpc/rpc_guard.h"
#include "common/net/rpc/rpc_repeats.h"
#include "proto/rpc.pb-c.h"

enum {
    AQ_RPC_SERVICES_MAX = 16,
    AQ_RPC_PEER_MAX = 128,
    AQ_RPC_ASKERS_MAX = 2,            /* the last connection and the one before */
    AQ_RPC_STATUS_REPLY_BYTES = 4096, /* what a reply without a body always fits in */
};

typedef struct aq_rpc_asker {
    aq_rpc_reply_fn reply;
    void *user;
} aq_rpc_asker;

typedef struct aq_rpc_call {
    aq_id_node node; /* first: the table of calls hands it back */
    aq_rpc_dispatcher *dispatcher;
    uint32_t request_crc;
    uint32_t timeout_ms;
    const ProtobufCMethodDescriptor *method;
    ProtobufCMessage *input;
    aq_rpc_asker askers[AQ_RPC_ASKERS_MAX]; /* the newest first */
    size_t asker_count;
    enum aq_access_role role;
    bool in_method; /* the method's code is still running */
    bool answered;
    char peer[AQ_RPC_PEER_MAX];
} aq_rpc_call;

struct aq_rpc_dispatcher {
    ProtobufCService *services[AQ_RPC_SERVICES_MAX];
    size_t service_count;
    aq_id_map calls; /* in progress */
    aq_rpc_repeats *repeats;
    aq_rpc_guard *guard; /* NULL: whoever calls is served */
    enum aq_access_role role;
    uint64_t instance;
    aq_rpc_refused_fn refused;
    void *refused_user;
    aq_buffer reply; /* the frame that is being answered with */
    bool replying;
    aq_rpc_counters counters;
};

/* A request that came in a good envelope. */
typedef struct aq_rpc_request {
    const Actorq__V1__RpcRequest *envelope;
    const uint8_t *body;
    size_t body_size;
    uint32_t crc;
    const char *peer;
    enum aq_access_role role;
    aq_rpc_asker asker;
} aq_rpc_request;

/* Hands a frame to who asked. */
void aq_rpc_send_reply(aq_rpc_dispatcher *dispatcher, aq_rpc_asker to, const uint8_t *frame,
                       size_t size);

/* `challenge` may be NULL. */
void aq_rpc_reply_status(aq_rpc_dispatcher *dispatcher, aq_rpc_asker to, uint64_t id, uint32_t code,
                         const char *message, Actorq__V1__RpcChallenge *challenge);

/* Refuses a request before it has become a call. */
void aq_rpc_refuse(aq_rpc_dispatcher *dispatcher, const aq_rpc_request *from, enum aq_rpc_code code,
                   const char *format, ...) AQ_PRINTF(4, 5);

/* The closure that methods answer with; closure_data is the call. */
void aq_rpc_answer(const ProtobufCMessage *output, void *closure_data);

void aq_rpc_call_free(aq_rpc_call *call);

#endif

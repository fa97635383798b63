/*
 * Loopback: an RPC channel whose other end is a dispatcher in the same process. A request is
 * carried out when it is sent; its answer waits until loopback_pump, as it would on a network. One
 * that is cut loses requests, and their callers time out. It takes no part in the count of
 * allocations that a test lets fail: a network needs none of ours.
 *
 * loopback_call is for a caller without a stub of its own.
 */
#ifndef AQ_TESTS_SUPPORT_LOOPBACK_H
#define AQ_TESTS_SUPPORT_LOOPBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "common/net/rpc/rpc.h"
#include "proto/exchange.pb-c.h"
#include "proto/experience.pb-c.h"
#include "proto/operations.pb-c.h"
#include "proto/sampling.pb-c.h"

enum { LOOPBACK_FRAME_BYTES_MAX = 1 << 20 };

/* What came back for one call. */
typedef struct loopback_answer {
    aq_rpc_stub stub;
    bool done;
    aq_rpc_status status;
    union { /* a copy; NULL: it failed, or has not come */
        ProtobufCMessage *reply;
        Actorq__V1__CreditReply *credit;
        Actorq__V1__SampleReply *sample;
        Actorq__V1__PrioritizeReply *priorities;
        Actorq__V1__CheckpointReply *checkpoint;
        Actorq__V1__ExportReply *page;
        Actorq__V1__ImportReply *taken;
    };
    struct loopback_answer *next;
} loopback_answer;

typedef struct loopback {
    aq_rpc_channel channel; /* first */
    aq_rpc_dispatcher *dispatcher;
    struct loopback_passage *passages; /* of calls under way, the oldest first */
    uint64_t sent;
    bool is_cut;
    char peer[64];            /* the caller's address, tcp://10.0.0.9:4711 at first */
    uint32_t timeout_ms;      /* of loopback_call; 20000 at first */
    loopback_answer *answers; /* to loopback_call, the newest first */
} loopback;

void loopback_init(loopback *loop, aq_rpc_dispatcher *dispatcher);

/* Delivers every answer that there is to a request that was sent before; whether one was. */
bool loopback_pump(loopback *loop);

/* Calls under way are answered AQ_E_CLOSED; the dispatcher's late answers go nowhere. */
void loopback_close(loopback *loop);

/* All calls must have been answered. */
void loopback_fini(loopback *loop);

/* Calls the method that takes such a request, and delivers. The answer, which stays until
 * loopback_fini, comes later where the method holds it back. */
const loopback_answer *loopback_call(loopback *loop, const ProtobufCMessage *request);

/* The call must succeed at once: its reply. */
const void *loopback_ask(loopback *loop, const ProtobufCMessage *request);

/* The call must fail at once with that status, in words that hold `words`. */
void loopback_refuses(loopback *loop, const ProtobufCMessage *request, enum aq_rpc_code code,
                      const char *words);

/* The call ended so; its status has these words in it. */
void loopback_assert_answered(const loopback_answer *answer, enum aq_rpc_code code,
                              const char *words);

/* What protobuf_c_message_free_unpacked takes back. */
ProtobufCMessage *loopback_copy(const ProtobufCMessage *message);

#endif

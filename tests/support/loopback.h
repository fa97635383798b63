/*
 * Loopback: an RPC channel whose other end is a dispatcher in the same process. Frames wait in
 * between until loopback_pump, as they would on a network; nothing is lost. It takes no part in the
 * count of allocations that a test lets fail: a network needs none of ours.
 */
#ifndef AQ_TESTS_SUPPORT_LOOPBACK_H
#define AQ_TESTS_SUPPORT_LOOPBACK_H

#include <stddef.h>

#include "common/net/rpc/rpc.h"

enum { LOOPBACK_FRAME_BYTES_MAX = 1 << 20 };

typedef struct loopback_passage {
    struct loopback_passage *next;
    uint8_t *request;
    size_t request_size;
    uint8_t *reply; /* NULL: not yet */
    size_t reply_size;
    int dispatched;
    aq_rpc_answer_fn answer;
    void *user;
} loopback_passage;

typedef struct loopback {
    aq_rpc_channel channel; /* first */
    aq_rpc_dispatcher *dispatcher;
    loopback_passage *passages; /* the oldest first */
    char peer[64];              /* the caller's address, tcp://10.0.0.9:4711 at first */
} loopback;

void loopback_init(loopback *loop, aq_rpc_dispatcher *dispatcher);

/* Delivers every request and every answer that there is. */
void loopback_pump(loopback *loop);

/* What protobuf_c_message_free_unpacked takes back. */
ProtobufCMessage *loopback_copy(const ProtobufCMessage *message);

/* All calls must have been answered. */
void loopback_fini(loopback *loop);

#endif

/*
 * A channel to a dispatcher in the same process. Requests are carried out at once; answers wait
 * until the test delivers them. A wire that is cut loses requests, and their callers time out.
 */
#ifndef AQ_TESTS_UNIT_ACTOR_FAKE_WIRE_H
#define AQ_TESTS_UNIT_ACTOR_FAKE_WIRE_H

#include <stdbool.h>

#include "common/net/rpc/rpc.h"

enum { FAKE_CALLS_MAX = 8 };

typedef struct fake_call {
    bool is_ready;
    bool is_abandoned; /* the wire was closed before the answer came */
    int error;
    uint8_t *frame;
    size_t size;
    aq_rpc_answer_fn answer;
    void *user;
} fake_call;

typedef struct fake_wire {
    aq_rpc_channel channel; /* first */
    aq_rpc_dispatcher *dispatcher;
    bool is_cut;
    fake_call *calls[FAKE_CALLS_MAX];
    uint32_t sent;
} fake_wire;

void fake_wire_init(fake_wire *wire, aq_rpc_dispatcher *dispatcher);

/* Gives each answer that is there to its caller; returns how many. */
int fake_wire_deliver(fake_wire *wire);

/* Calls that are out are answered AQ_E_CLOSED; the dispatcher's late answers go nowhere. */
void fake_wire_close(fake_wire *wire);

#endif

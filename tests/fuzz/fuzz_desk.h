/*
 * Desk: a dispatcher that a fuzz target's requests go to, and the rule that holds for each of them:
 * it is answered exactly once, with a reply frame, however wrong it was.
 */
#ifndef AQ_TESTS_FUZZ_FUZZ_DESK_H
#define AQ_TESTS_FUZZ_FUZZ_DESK_H

#include "common/net/rpc/rpc.h"
#include "tests/fuzz/fuzz_stream.h"

/* Points into itself: don't move it. */
typedef struct fuzz_desk {
    aq_rpc_dispatcher *dispatcher;
    struct {
        size_t answers;
    } requests[FUZZ_STREAM_STEPS_MAX];
    size_t request_count;
} fuzz_desk;

void fuzz_desk_init(fuzz_desk *desk);

/* A request whose frame is right, and bytes that may be no frame at all. */
void fuzz_desk_request(fuzz_desk *desk, const uint8_t *payload, size_t size);
void fuzz_desk_bytes(fuzz_desk *desk, const uint8_t *bytes, size_t size);

/* When the services have answered what they held back: every request was answered once. */
void fuzz_desk_fini(fuzz_desk *desk);

#endif

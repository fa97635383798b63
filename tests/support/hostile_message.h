/*
 * Hostile messages: any request, its fields filled with what breaks programs: borders of numbers,
 * numbers that others have, addresses that are none. Many of them are near enough to the truth to
 * be let in. One seed gives one sequence.
 */
#ifndef AQ_TESTS_SUPPORT_HOSTILE_MESSAGE_H
#define AQ_TESTS_SUPPORT_HOSTILE_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include "common/base/rng.h"

enum { HOSTILE_BYTES_MAX = 1 << 16, HOSTILE_ADDRESSES = 4 };

typedef struct hostile {
    aq_rng rng;
    uint64_t run_id; /* what is right, and stands in most messages; 0: nothing is */
    uint64_t store, member, incarnation;
    const char *const *addresses; /* HOSTILE_ADDRESSES that shards may have; NULL: some */
    _Alignas(16) uint8_t bytes[HOSTILE_BYTES_MAX]; /* where the message lies */
    size_t size;
} hostile;

/* A request of this type; valid until the next one. */
const ProtobufCMessage *hostile_message(hostile *source, const ProtobufCMessageDescriptor *type);

#endif

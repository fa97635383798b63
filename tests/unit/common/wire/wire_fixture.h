/*
 * What the wire tests send: valid objects, random from a seed or fixed, and frames put together by
 * hand. A failure to make one fails the test.
 */
#ifndef AQ_TESTS_UNIT_COMMON_WIRE_WIRE_FIXTURE_H
#define AQ_TESTS_UNIT_COMMON_WIRE_WIRE_FIXTURE_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/lease.h"
#include "common/base/rng.h"
#include "common/experience/batch.h"
#include "common/net/rpc/frame.h"
#include "common/policy/snapshot.h"
#include "common/wire/wire_checkpoint.h"
#include "tests/support/chunks.h"

enum { FIXTURE_FRAME_MAX = 1 << 24 };

#define FIXTURE_RUN UINT64_C(0x1122334455667788)

/* AQ_SEED from the environment, else one of the system's; printed. */
uint64_t fixture_seed(void);

/* ---- random ---------------------------------------------------------------------------------- */

void fixture_random_schema(aq_rng *rng, aq_schema *ret_schema);
void fixture_random_layout(aq_rng *rng, const aq_schema *schema, aq_layout *ret_layout);
aq_chunk *fixture_random_chunk(aq_rng *rng, const aq_layout *layout);
void fixture_random_experience(aq_rng *rng, const aq_layout *layout, uint32_t chunk_count,
                               aq_experience *ret_experience);
void fixture_random_network(aq_rng *rng, aq_net_spec *ret_spec);

/* Of a layer that is made and all zero, in its format: its weights, and what goes with them but for
 * scales. */
void fixture_random_weights(aq_rng *rng, aq_snapshot *snapshot, uint32_t layer);

/* With a schema that fits it; the format of each layer is random, too. */
aq_snapshot *fixture_random_snapshot(aq_rng *rng, const aq_net_spec *spec);
aq_batch *fixture_random_batch(aq_rng *rng, const aq_layout *layout, uint32_t rows);

/* ---- fixed ----------------------------------------------------------------------------------- */

/* CartPole's schema: four floats, two choices. */
void fixture_schema(aq_schema *ret_schema);
void fixture_layout(aq_layout *ret_layout);

/* Two chunks of one episode: the second repeats two transitions and ends it. */
void fixture_experience(aq_experience *ret_experience);

/* A network 4-3r-2 whose first layer is int8 and whose second is fp32; given back at the end. */
aq_snapshot *fixture_snapshot(void);

/* Of the snapshot's network; arrays are static, `best_policy` is the caller's to set. */
void fixture_checkpoint(aq_checkpoint *ret_checkpoint);

/* ---- frames ---------------------------------------------------------------------------------- */

/* The payload of a frame, and a valid frame around any bytes. */
const uint8_t *fixture_payload(const aq_buffer *frame, size_t *ret_size);
void fixture_frame(const uint8_t *payload, size_t size, enum aq_frame_kind kind, aq_buffer *out);

/* A copy of the bytes in a block that ends where they end. */
aq_lease *fixture_lease(const void *bytes, size_t size);

/* The message of a frame, to be changed, until the test is over; the changed one as a frame. */
ProtobufCMessage *fixture_open(const aq_buffer *frame,
                               const ProtobufCMessageDescriptor *descriptor);
void fixture_pack(const ProtobufCMessage *message, enum aq_frame_kind kind, aq_buffer *out);

#endif

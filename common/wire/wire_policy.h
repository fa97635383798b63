/*
 * Policy snapshots <-> POLICY frames (the broadcast, a policy.aq file, the best policy inside a
 * checkpoint).
 */
#ifndef AQ_COMMON_WIRE_WIRE_POLICY_H
#define AQ_COMMON_WIRE_WIRE_POLICY_H

#include "common/base/buffer.h"
#include "common/policy/snapshot.h"

/* Appends the frame, all tensors as they are: a file. AQ_E_TOO_BIG past the buffer's limit,
 * AQ_E_NOMEM; it is unchanged then. */
int aq_wire_policy_pack(const aq_snapshot *snapshot, aq_buffer *out) AQ_MUST_USE;

/* The same, as small as it gets: tensors compressed where that pays, without the sums of rows,
 * which the receiver adds up. What goes over a network. */
int aq_wire_policy_pack_compact(const aq_snapshot *snapshot, aq_buffer *out) AQ_MUST_USE;

/* Bytes of the frame that aq_wire_policy_pack makes. */
size_t aq_wire_policy_bytes(const aq_snapshot *snapshot);

/* Reads both. Checks the frame and every tensor (aq_snapshot_validate); `error` says what is wrong:
 * AQ_E_FOREIGN, AQ_E_VERSION (protocol, or a weight format that is not known), AQ_E_CORRUPT,
 * AQ_E_SCHEMA, AQ_E_INVALID (a frame of another kind), AQ_E_TOO_BIG past AQ_SNAPSHOT_BYTES_MAX,
 * AQ_E_NOMEM. */
int aq_wire_policy_unpack(const uint8_t *bytes, size_t size, aq_snapshot **ret_snapshot,
                          aq_error *error) AQ_MUST_USE;

/* The same of a policy whose network has that hash (aq_net_spec_hash; 0: any), which is looked at
 * before there is room for its tensors: a small frame can stand for AQ_SNAPSHOT_BYTES_MAX.
 * AQ_E_SCHEMA. */
int aq_wire_policy_unpack_of(const uint8_t *bytes, size_t size, uint64_t network_hash,
                             aq_snapshot **ret_snapshot, aq_error *error) AQ_MUST_USE;

/* A policy.aq file, written atomically; and read back, naming the path in errors. */
int aq_policy_file_write(const char *path, const aq_snapshot *snapshot,
                         aq_error *error) AQ_MUST_USE;
int aq_policy_file_read(const char *path, aq_snapshot **ret_snapshot, aq_error *error) AQ_MUST_USE;

#endif

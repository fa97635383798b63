/*
 * Policy deltas <-> POLICY_DELTA frames: one version of a policy as a change of an earlier one, of
 * the same network in the same formats. Whoever has just that earlier version gets, bit for bit,
 * what a full snapshot would have given; a check sum over the result proves it. Whoever has another
 * one learns which one was meant, and fetches.
 *
 *   delta -> open: believed in itself     -> head: what it is about
 *         -> apply(base): fitting the base -> a snapshot that has passed every check
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_WIRE_WIRE_DELTA_H
#define AQ_COMMON_WIRE_WIRE_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/policy/snapshot.h"

/* Whether `snapshot` can be said as a change of `base`: a later version of the same run, task,
 * network and formats, with the same blocks stored. */
bool aq_wire_delta_possible(const aq_snapshot *base, const aq_snapshot *snapshot);

/* Appends the frame; possible. AQ_E_TOO_BIG past the buffer's limit, AQ_E_NOMEM; it is unchanged
 * then. */
int aq_wire_delta_pack(const aq_snapshot *base, const aq_snapshot *snapshot,
                       aq_buffer *out) AQ_MUST_USE;

typedef struct aq_wire_delta aq_wire_delta;

typedef struct aq_delta_head {
    uint64_t run_id;
    uint64_t version;
    uint64_t base_version; /* of the snapshot that it is a change of */
    size_t bytes;          /* of the frame: about what it takes in memory */
} aq_delta_head;

/* Checks the frame and what it says about itself; copies all of it. AQ_E_FOREIGN, AQ_E_VERSION,
 * AQ_E_CORRUPT, AQ_E_INVALID (a frame of another kind), AQ_E_NOMEM. */
int aq_wire_delta_open(const uint8_t *bytes, size_t size, aq_wire_delta **ret_delta,
                       aq_error *error) AQ_MUST_USE;
void aq_wire_delta_close(aq_wire_delta *delta); /* NULL is fine */

const aq_delta_head *aq_wire_delta_head(const aq_wire_delta *delta);

/* The version that it leads to. AQ_E_INVALID for a base that is not the one it was made from; for
 * one that only says so AQ_E_CORRUPT, as for everything that aq_snapshot_validate refuses in the
 * result; AQ_E_VERSION, AQ_E_NOMEM. */
int aq_wire_delta_apply(const aq_wire_delta *delta, const aq_snapshot *base,
                        aq_snapshot **ret_snapshot, aq_error *error) AQ_MUST_USE;

#endif

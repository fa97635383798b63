/*
 * Experience messages <-> EXPERIENCE frames.
 */
#ifndef AQ_COMMON_WIRE_WIRE_EXPERIENCE_H
#define AQ_COMMON_WIRE_WIRE_EXPERIENCE_H

#include "common/base/buffer.h"
#include "common/base/lease.h"
#include "common/experience/arrival.h"
#include "common/experience/experience.h"

/* Appends the frame. AQ_E_TOO_BIG past the buffer's limit (it is unchanged then). */
int aq_wire_experience_pack(const aq_experience *experience, const aq_layout *layout,
                            aq_buffer *out) AQ_MUST_USE;

/* The largest number of bytes that a frame with these chunks can take. */
size_t aq_wire_experience_bytes_max(const aq_layout *layout, const aq_chunk *const *chunks,
                                    uint32_t chunk_count);

/* What a replay shard does with a frame: checks it (but for its crc where a seal or a record's sum
 * has proved the same bytes: one pass over them is enough), the run and the layout's hash, and
 * makes views of its chunks where they lie, validated; no column is copied. The arrival takes a
 * reference of its own to `frame`. On failure nothing is kept and `error` says what is wrong with
 * the message: AQ_E_FOREIGN, AQ_E_VERSION, AQ_E_CORRUPT, AQ_E_SCHEMA (another layout), AQ_E_INVALID
 * (another run), AQ_E_NOMEM. */
int aq_wire_experience_arrive(aq_lease *frame, bool is_proved, uint64_t run_id,
                              const aq_layout *layout, aq_arrival **ret_arrival,
                              aq_error *error) AQ_MUST_USE;

/* Appends a copy of a frame that has arrived, in which its sender has another incarnation. */
int aq_wire_experience_copy_as(const aq_lease *frame, uint64_t incarnation,
                               aq_buffer *out) AQ_MUST_USE;

#endif

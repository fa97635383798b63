/*
 * Batches <-> SampleReply.
 */
#ifndef AQ_COMMON_WIRE_WIRE_SAMPLE_H
#define AQ_COMMON_WIRE_WIRE_SAMPLE_H

#include "common/experience/batch.h"
#include "proto/sampling.pb-c.h"

/* The longest reply there is. */
#define AQ_WIRE_SAMPLE_BYTES_MAX ((size_t)64 << 20)

/* What a reply with so many rows takes, and the envelope around it. */
size_t aq_wire_sample_bytes(const aq_layout *layout, uint32_t sequence_length, uint32_t rows);

/* Points the reply's columns into the batch (nothing is copied); valid while the batch is. What the
 * batch doesn't know is for the caller to set: items, mass, shard_incarnation. */
void aq_wire_sample_view(const aq_batch *batch, uint64_t inserted,
                         ProtobufCBinaryData recorded[AQ_BATCH_RECORDED_MAX],
                         Actorq__V1__SampleReply *ret_reply);

/* Copies the reply's columns into `batch` (which has room for rows_max), of items or of sequences
 * as the batch is. Checked, because a peer is believed in nothing: the sizes of all columns, that
 * floats are finite, bootstrap in [0, 1], probability in (0, 1], actions in range, lengths of
 * sequences from 1 to their steps and zeros beyond them, items at least 1, mass finite and above 0.
 * AQ_E_CORRUPT or AQ_E_SCHEMA in words, and the batch has no rows then. */
int aq_wire_sample_read(const Actorq__V1__SampleReply *reply, aq_batch *batch,
                        aq_error *error) AQ_MUST_USE;

#endif

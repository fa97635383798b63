/*
 * What the two codecs of policies, full snapshots and deltas, share.
 */
#ifndef AQ_COMMON_WIRE_WIRE_POLICY_PARTS_H
#define AQ_COMMON_WIRE_WIRE_POLICY_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/snapshot.h"
#include "proto/policy.pb-c.h"

/* wire_policy.c */
void aq_wire_quant_error_to(const aq_quant_error *measured, Actorq__V1__QuantError *ret_message);
aq_quant_error aq_wire_quant_error_from(const Actorq__V1__QuantError *message); /* NULL is fine */

/* AQ_E_VERSION for bits that say something which is not known here. */
int aq_wire_compressed_check(uint32_t compressed, aq_error *error) AQ_MUST_USE;

/* Bytes of the largest tensor. */
size_t aq_wire_tensor_bytes_max(const aq_snapshot *snapshot);

#endif

/*
 * Policy scan: a PolicySnapshot whose tensors lie in the frame that it came in. They are most of
 * it, and protobuf-c would copy them. Any thread; no state.
 */
#ifndef AQ_COMMON_WIRE_WIRE_POLICY_SCAN_H
#define AQ_COMMON_WIRE_WIRE_POLICY_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/netspec.h"
#include "proto/policy.pb-c.h"

typedef struct aq_policy_scan {
    Actorq__V1__PolicySnapshot *message;
    Actorq__V1__LayerTensors layers[AQ_NET_LAYERS_MAX];
    Actorq__V1__LayerTensors *layers_at[AQ_NET_LAYERS_MAX]; /* what `message` has of them */
} aq_policy_scan;

/* Checks the frame. `scan->message` is valid while bytes[size] are, until aq_policy_scan_close.
 * AQ_E_NOMEM, AQ_E_CORRUPT, or as aq_frame_check. */
int aq_policy_scan_open(const uint8_t *bytes, size_t size, aq_policy_scan *scan,
                        aq_error *error) AQ_MUST_USE;
void aq_policy_scan_close(aq_policy_scan *scan);

#endif

/*
 * Policy snapshot: one immutable version of the policy, as it is broadcast, stored in a checkpoint
 * and written to a `policy.aq` file. Reference-counted; one allocation for all tensors.
 */
#ifndef AQ_COMMON_RL_SNAPSHOT_H
#define AQ_COMMON_RL_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/rl/netspec.h"
#include "common/rl/schema.h"

enum { AQ_TASK_NAME_MAX = 128 };
#define AQ_SNAPSHOT_BYTES_MAX (UINT64_C(1) << 30)

/* How a layer's weights are stored. A new format joins here and in the quantizer's table. */
enum aq_format { AQ_FORMAT_F32 = 1, AQ_FORMAT_INT8_CHANNEL = 2 };

/* How to act on the network's outputs. */
enum aq_act_rule { AQ_ACT_ARGMAX = 1 };

/* y[o] = x . W[o] + b[o]. Row-major weights, one row per output.
 * F32: weights is float[outputs][inputs]; scale and sum are NULL.
 * INT8_CHANNEL: weights is int8_t[outputs][inputs] in [-127, 127]; w ~ scale[o] * q, and
 *   sum[o] = sum_i q[o][i], so that a zero point of the activations costs one multiply-add. */
typedef struct aq_snapshot_layer {
    uint32_t format;
    const void *weights;
    size_t weights_bytes;
    const float *scale;
    const int32_t *sum;
    const float *bias;
} aq_snapshot_layer;

/* The quantizer's measured error against fp32, on recent observations. */
typedef struct aq_quant_error {
    uint32_t rows;             /* observations it was measured on; 0: not measured */
    float action_disagreement; /* share of rows whose greedy action differs; discrete */
    float output_rms;          /* rms of the output difference */
    float output_max;          /* largest absolute output difference */
} aq_quant_error;

typedef struct aq_snapshot {
    uint64_t run_id;
    uint64_t version;      /* only grows within a run; starts at 1 */
    uint64_t learner_step; /* the training step it was taken at */
    char task[AQ_TASK_NAME_MAX];
    aq_schema schema;
    aq_net_spec spec;
    uint32_t act_rule;
    aq_quant_error quant_error;
    aq_snapshot_layer layers[AQ_NET_LAYERS_MAX];
    _Atomic uint32_t references; /* use ref and unref */
} aq_snapshot;

/* A snapshot of `spec` with room for each layer's tensors in the given formats (one per layer);
 * all tensors zeroed. The caller fills them through aq_snapshot_layer_edit, and the fields that say
 * what it is, before sharing it. AQ_E_INVALID for a spec that cannot be, AQ_E_VERSION for a format
 * that is not known, AQ_E_TOO_BIG past AQ_SNAPSHOT_BYTES_MAX, AQ_E_NOMEM. */
int aq_snapshot_create(const aq_net_spec *spec, const uint32_t *formats,
                       aq_snapshot **ret_snapshot) AQ_MUST_USE;

/* Any thread that holds a reference. Returns `snapshot`. */
aq_snapshot *aq_snapshot_ref(aq_snapshot *snapshot);
void aq_snapshot_unref(aq_snapshot *snapshot); /* NULL is fine */

/* Writable views of one layer, while the snapshot has one owner. scale and sum are NULL for F32. */
typedef struct aq_snapshot_layer_data {
    void *weights;
    float *scale;
    int32_t *sum;
    float *bias;
} aq_snapshot_layer_data;
void aq_snapshot_layer_edit(aq_snapshot *snapshot, uint32_t layer,
                            aq_snapshot_layer_data *ret_data);

/* Everything a peer could get wrong: unknown formats, NaN or infinite numbers, scales that are not
 * positive, q = -128, sums that are not the sums, inputs and outputs that do not fit the schema,
 * version 0, a task name that is empty or not printable. Reads every tensor once.
 * AQ_E_CORRUPT, AQ_E_VERSION or AQ_E_SCHEMA in words that name layer and row. */
int aq_snapshot_validate(const aq_snapshot *snapshot, aq_error *error) AQ_MUST_USE;

/* Bytes of the tensors as they travel, and what the same network takes in fp32. */
size_t aq_snapshot_tensor_bytes(const aq_snapshot *snapshot);
size_t aq_snapshot_tensor_bytes_f32(const aq_snapshot *snapshot);

const char *aq_format_name(uint32_t format); /* "fp32", "int8"; "unknown" */

#endif

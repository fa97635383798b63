/*
 * Policy snapshot: one immutable version of the policy, as it is broadcast, stored in a checkpoint
 * and written to a `policy.aq` file. Reference-counted; one allocation for all tensors.
 */
#ifndef AQ_COMMON_POLICY_SNAPSHOT_H
#define AQ_COMMON_POLICY_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/references.h"
#include "common/experience/schema.h"
#include "common/policy/format.h"
#include "common/policy/head.h"
#include "common/policy/netspec.h"

enum { AQ_TASK_NAME_MAX = 128 };
#define AQ_SNAPSHOT_BYTES_MAX (UINT64_C(1) << 28) /* which is what actors take of a message */

/* The tensors of one layer as its format stores them (format.h); NULL for those that it has not.
 * sum[o] is the sum of row o as stored, so that a zero point of the activations costs one
 * multiply-add. A layer without parameters is fp32 of no rows. */
typedef struct aq_snapshot_layer {
    uint32_t format;
    const void *weights;
    const float *scale;
    const int32_t *sum;
    const uint8_t *mask;
    const float *bias;
    aq_tensor_sizes sizes;
    int32_t weight_zero; /* int8-tensor: w ~ scale * (q - weight_zero); else 0 */
    /* Integer formats: how the layer's input is quantized. 0: by the range of each row. */
    float input_scale;
    int32_t input_zero; /* 0 to 255 */
} aq_snapshot_layer;

/* The quantizer's measured error against fp32, on recent observations. */
typedef struct aq_quant_error {
    uint32_t rows;    /* observations it was measured on; 0: not measured */
    float cost;       /* 0 to 1, of its head (aq_head_cost) */
    float output_rms; /* rms of the output difference */
    float output_max; /* largest absolute output difference */
    float kl; /* mean divergence from fp32's distribution: heads that draw, categorical layers */
} aq_quant_error;

typedef struct aq_snapshot {
    uint64_t run_id;
    uint64_t version;      /* only grows within a run; starts at 1 */
    uint64_t learner_step; /* the training step it was taken at */
    char task[AQ_TASK_NAME_MAX];
    aq_schema schema;
    aq_net_spec spec;
    uint32_t head; /* enum aq_head_number: how its outputs become actions */
    aq_quant_error quant_error;
    aq_snapshot_layer layers[AQ_NET_LAYERS_MAX];
    const float *arrays;      /* of the network, one after the other */
    bool is_settled;          /* see aq_snapshot_settle */
    aq_references references; /* use ref and unref */
} aq_snapshot;

/* A snapshot of `spec` with room for each layer's tensors in the given formats (one per layer, fp32
 * where a layer is not quantizable); all tensors zeroed. blocks[i] is how many blocks layer i
 * stores where it is int8-sparse; NULL: none is. The caller fills them through
 * aq_snapshot_layer_edit, and the fields that say what it is, before sharing it. AQ_E_INVALID for a
 * spec that cannot be, AQ_E_VERSION for a format that is not known, AQ_E_TOO_BIG past
 * AQ_SNAPSHOT_BYTES_MAX, AQ_E_NOMEM. */
int aq_snapshot_create(const aq_net_spec *spec, const uint32_t *formats, const size_t *blocks,
                       aq_snapshot **ret_snapshot) AQ_MUST_USE;

/* The same with all layers in fp32, whose weights are not zeroed: the caller writes every one. */
int aq_snapshot_create_exact(const aq_net_spec *spec, aq_snapshot **ret_snapshot) AQ_MUST_USE;

/* What its head works on; lives as long as the snapshot. */
static inline aq_head_terms aq_snapshot_terms(const aq_snapshot *snapshot)
{
    return (aq_head_terms){
        .head = aq_head_of(snapshot->head),
        .action = &snapshot->schema.action,
        .width = aq_net_spec_outputs(&snapshot->spec),
        .arrays = snapshot->arrays,
    };
}

/* What it is without noise, for those who can't have any: a view that lends its tensors, and is
 * neither shared nor given back. */
aq_snapshot aq_snapshot_mean(const aq_snapshot *snapshot);

/* Any thread that holds a reference. Returns `snapshot`. */
aq_snapshot *aq_snapshot_ref(aq_snapshot *snapshot);
void aq_snapshot_unref(aq_snapshot *snapshot); /* NULL is fine */

/* Writable views of one layer, while the snapshot has one owner. The members of a layer's view that
 * are no tensors are set in snapshot->layers. */
typedef struct aq_snapshot_layer_data {
    void *weights;
    float *scale;
    int32_t *sum;
    uint8_t *mask;
    float *bias;
} aq_snapshot_layer_data;
void aq_snapshot_layer_edit(aq_snapshot *snapshot, uint32_t layer,
                            aq_snapshot_layer_data *ret_data);

float *aq_snapshot_arrays_edit(aq_snapshot *snapshot); /* likewise */

/* Sets the sums of a layer that has them to the sums of its rows as stored; safe on any levels. */
void aq_snapshot_layer_add_up(aq_snapshot *snapshot, uint32_t layer);

/* Everything a peer could get wrong: unknown formats, NaN or infinite numbers, scales that are not
 * positive, levels that the format does not have, sums that are not the sums, an int8 channel whose
 * weights are all zero, a mask that does not fit, inputs and outputs that do not fit the schema,
 * version 0, a task name that is empty or not printable. Reads every tensor of one that is not
 * settled once. AQ_E_CORRUPT, AQ_E_VERSION or AQ_E_SCHEMA in words that name layer and row. */
int aq_snapshot_validate(const aq_snapshot *snapshot, aq_error *error) AQ_MUST_USE;

/* The same, by the one owner who has made it: from then on its tensors are known to be valid, and
 * are not read for that again, until they are edited. */
int aq_snapshot_settle(aq_snapshot *snapshot, aq_error *error) AQ_MUST_USE;

/* Bytes of the tensors as they travel, and what the same network takes in fp32. */
size_t aq_snapshot_tensor_bytes(const aq_snapshot *snapshot);
size_t aq_snapshot_tensor_bytes_f32(const aq_snapshot *snapshot);

/* The format of all layers that have a choice (of any layer, where none has); AQ_FORMAT_MIXED where
 * they differ. */
uint32_t aq_snapshot_format(const aq_snapshot *snapshot);

/* Whether every layer is fp32. */
bool aq_snapshot_is_fp32(const aq_snapshot *snapshot);

/* Whether a layer takes the network's input as it is. Others quantize it, which counts what is not
 * finite as 0. */
bool aq_snapshot_meets_floats(const aq_snapshot *snapshot);

/* One layer's weights in fp32, row-major, into `out` (rows * columns floats): what the levels stand
 * for. The layer is valid. */
void aq_snapshot_layer_weights(const aq_snapshot *snapshot, uint32_t layer, float *out);

#endif

/*
 * Checkpoints <-> CHECKPOINT frames.
 */
#ifndef AQ_COMMON_WIRE_WIRE_CHECKPOINT_H
#define AQ_COMMON_WIRE_WIRE_CHECKPOINT_H

#include <stdbool.h>

#include "common/base/buffer.h"
#include "common/experience/schema.h"
#include "common/nn/named_arrays.h"
#include "common/policy/netspec.h"
#include "common/policy/snapshot.h"

enum { AQ_CHECKPOINT_SHARDS_MAX = 64 };

/* What one store of a replay shard has brought. */
typedef struct aq_checkpoint_shard {
    uint64_t store;
    uint64_t inserted; /* fresh transitions, in all its lives */
    uint32_t slot;     /* UINT32_MAX: none any more */
} aq_checkpoint_shard;

/* The largest file: what a protobuf message may take. */
#define AQ_CHECKPOINT_BYTES_MAX (UINT64_C(1) << 31)

/* More numbers than this in an array are none of ours. */
#define AQ_CHECKPOINT_NUMBERS_MAX (UINT64_C(1) << 29)

/* `best_policy` may be NULL. When read, the struct owns everything it points at
 * (aq_checkpoint_fini); when written, it only points. */
typedef struct aq_checkpoint {
    uint64_t run_id;
    char task[AQ_TASK_NAME_MAX];
    char algorithm[32];
    aq_schema schema;
    aq_net_spec spec;
    uint64_t learner_step;
    uint64_t env_steps;      /* of the whole run */
    uint64_t env_steps_base; /* of them, those of stores that are not in the list below */
    uint32_t shard_count;
    aq_checkpoint_shard shards[AQ_CHECKPOINT_SHARDS_MAX];
    uint64_t policy_version;
    uint64_t policy_versions;
    uint64_t policy_deltas;    /* of policy_versions, broadcast as a change of the one before */
    uint64_t policy_fallbacks; /* of them, in fp32 since quantized they erred too much */
    uint64_t broadcast_bytes;
    uint64_t broadcast_bytes_fp32;
    uint64_t broadcast_packed_bytes_fp32; /* 0: not known */
    aq_named_arrays arrays; /* "parameters" begins with those of the policy's network `spec` */
    uint64_t gap_versions;  /* compared with fp32, and what came of it: precision_gap.h */
    uint64_t gap_episodes;
    double gap_mean;
    double gap_squares;
    double wall_s;
    aq_snapshot *best_policy;
    double best_return;     /* NaN: none yet */
    double best_std;        /* of the returns that it is the mean of */
    uint32_t best_episodes; /* likewise, their number; 0: not known */
    bool best_confirmed;    /* they are fresh ones, not a screening */
    const char *config;     /* YAML */
} aq_checkpoint;

/* Appends the frame. AQ_E_TOO_BIG past the buffer's limit or 2 GiB, AQ_E_NOMEM; it is unchanged
 * then. */
int aq_wire_checkpoint_pack(const aq_checkpoint *checkpoint, aq_buffer *out) AQ_MUST_USE;

/* Checks the frame, names and sizes of the arrays, finite numbers, and that the best policy is of
 * the same network and schema. `error` says what is wrong; codes as aq_wire_policy_unpack's. */
int aq_wire_checkpoint_unpack(const uint8_t *bytes, size_t size, aq_checkpoint *ret_checkpoint,
                              aq_error *error) AQ_MUST_USE;

/* The parameters of the policy's network, of a checkpoint that was read. */
const float *aq_checkpoint_policy(const aq_checkpoint *checkpoint);

/* Frees what aq_wire_checkpoint_unpack made. */
void aq_checkpoint_fini(aq_checkpoint *checkpoint);

#endif

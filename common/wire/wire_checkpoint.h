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

/* Stores that a run tells apart, live ones and those that are gone. */
enum { AQ_STORES_MAX = 1024 };

#define AQ_SLOT_NONE UINT32_MAX

/* What one store of a replay shard has brought. */
typedef struct aq_shard_count {
    uint64_t store;
    uint64_t inserted; /* fresh transitions, in all its lives */
    uint32_t slot;     /* AQ_SLOT_NONE: another has it now */
} aq_shard_count;

/* Of all versions that were published. */
typedef struct aq_policy_totals {
    uint64_t versions;
    uint64_t deltas;     /* of them, sent as a change of the version before */
    uint64_t fallbacks;  /* of them, in fp32 since quantized they erred too much */
    uint64_t bytes;      /* of frames as they went out */
    uint64_t bytes_fp32; /* in fp32, each in full and as it is */
    /* In fp32 by the same rules: as changes, compressed. 0: not known of versions of before. */
    uint64_t packed_bytes_fp32;
} aq_policy_totals;

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
    aq_shard_count shards[AQ_STORES_MAX];
    uint64_t policy_version;
    aq_policy_totals policies;
    aq_named_arrays arrays; /* "parameters" begins with those of the network that acts */
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

/* The network that acts, of a checkpoint that was read, and its parameters. Where actors compute
 * gradients, `spec` also has the critic, as an array before the layers; its numbers are behind them
 * in "parameters". */
aq_net_spec aq_checkpoint_policy(const aq_checkpoint *checkpoint, const float **ret_parameters);

/* Frees what aq_wire_checkpoint_unpack made. */
void aq_checkpoint_fini(aq_checkpoint *checkpoint);

#endif

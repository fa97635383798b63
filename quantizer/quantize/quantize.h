/*
 * The quantizer: fp32 parameters in, a policy snapshot in chosen formats out.
 *
 *   fp32         every bit of a weight
 *   fp16, bf16   the nearest, ties to even; a weight too large for the format is refused
 *   int8         a row:   scale = max |w| / 127, q = rint(w / scale), ties to even
 *   int8-tensor  a layer: the same with one scale; or by the paper's formula (below)
 *   int4, int2   a group of AQ_FORMAT_GROUP columns of a row: scale = max |w| / 7, max |w| / 1
 *   int8-sparse  as int8, of the blocks that are kept: the `density` of all with the largest sum of
 *                squares, one a row of blocks at least
 *
 * With `bits` below 8, int8 and int8-tensor use the levels of that many bits, -(2^(bits-1) - 1) to
 * 2^(bits-1) - 1, still stored as bytes. Always |w - scale q| <= scale / 2 but for rounding.
 *
 * The formula of the ActorQ paper, for int8-tensor: step = (|min(W, 0)| + |max(W, 0)|) / 2^bits,
 * level = round(W / step). The range is 2^bits steps wide, so it has 2^bits + 1 levels; here 2^bits
 * are used: the end of the range that lies short of its level gives that up, and its weights take
 * the next level, at most a whole step away. Stored are level + zero point, from -2^(bits-1) on.
 *
 * Biases, layer norms and heads stay fp32.
 *
 * Scales: a scale that is not a normal float cannot be. So a row of int8, or a whole layer of
 * int8-tensor, of zeros or of weights that small is refused: nothing that trains makes one, and a
 * policy that ignores its input would pass for one that works. A group of int4 or int2, and a row
 * of int8-sparse, may legitimately be zero: it is stored as zeros with scale 1.
 *
 * No state; any thread.
 */
#ifndef AQ_QUANTIZER_QUANTIZE_QUANTIZE_H
#define AQ_QUANTIZER_QUANTIZE_QUANTIZE_H

#include <stdbool.h>

#include "common/base/error.h"
#include "common/nn/params.h"
#include "common/policy/snapshot.h"
#include "quantizer/quantize/input_ranges.h"

/* A scale of the previous snapshot is kept as long as no weight lies beyond its last level and it
 * is at most AQ_QUANTIZE_KEEP_MAX times what a new one would be, so that weights which did not move
 * keep their levels and a delta stays small. The rounding error is as large as the scale, so that
 * keeping costs a quarter more of it at worst: a third of a bit, which levels of less than 8 bits
 * cannot spare; their scales are always new. A scale that is not kept is replaced by one with
 * AQ_QUANTIZE_ROOM to grow, else weights that grow would bring a new one with every version. For
 * int8-sparse, a block that was kept counts AQ_QUANTIZE_BLOCK_STAYS times its root mean square.
 * Training that counts on the very levels of its weights leaves the previous snapshot out. */
#define AQ_QUANTIZE_KEEP_MAX    1.25f
#define AQ_QUANTIZE_ROOM        1.0625f
#define AQ_QUANTIZE_BLOCK_STAYS 1.125

#define AQ_QUANTIZE_BITS_MIN        2
#define AQ_QUANTIZE_BITS_MAX        8
#define AQ_QUANTIZE_DENSITY_DEFAULT 0.5f

/* Who and what the snapshot is for; copied into it. */
typedef struct aq_quantize_meta {
    uint64_t run_id;
    uint64_t version;
    uint64_t learner_step;
    const char *task;
    const aq_schema *schema;
    uint32_t head;
} aq_quantize_meta;

/* How. Zeroed but for `format`, everything has its default. */
typedef struct aq_quantize_plan {
    uint32_t format; /* of every quantizable layer, but for those that say otherwise: */
    uint32_t layer_formats[AQ_NET_LAYERS_MAX]; /* 0: as `format` */
    uint32_t bits;                             /* int8, int8-tensor: levels of 2 to 8 bits; 0: 8 */
    bool paper;                    /* int8-tensor: the paper's affine formula; else symmetric */
    float density;                 /* int8-sparse: share of the blocks that are kept; 0: a half */
    const aq_input_ranges *ranges; /* static activations; NULL: dynamic */
    const aq_snapshot *previous;   /* its scales are kept while they are nearly as good; or NULL */
} aq_quantize_plan;

/* Every layer as the plan says. With `ranges`, the input of each integer layer for which there is
 * a range gets its scale and zero point, kept from `previous` by the same rule. Of `previous`,
 * valid, only layers of the same format in the same network count. The caller owns the snapshot.
 *
 * AQ_E_CORRUPT, naming layer and row, when a parameter is NaN or infinite or a weight has no place
 * in its format: such a policy must never be published. AQ_E_UNSUPPORTED for a format that is not
 * known, AQ_E_INVALID for a plan, a description or a task's name that cannot be, AQ_E_TOO_BIG,
 * AQ_E_NOMEM, and all that aq_snapshot_validate refuses (a network unlike its schema). */
int aq_quantize(const aq_net_spec *spec, const aq_params *params, const aq_quantize_plan *plan,
                const aq_quantize_meta *meta, aq_snapshot **ret_snapshot,
                aq_error *error) AQ_MUST_USE;

/* The same of a policy in fp32, settled: the same version of the same run in other formats. */
int aq_quantize_policy(const aq_snapshot *exact, const aq_quantize_plan *plan,
                       aq_snapshot **ret_snapshot, aq_error *error) AQ_MUST_USE;

/* Writes into a snapshot who and what it is for. AQ_E_INVALID for a task's name that is too long.
 */
int aq_quantize_label(const aq_quantize_meta *meta, aq_snapshot *snapshot,
                      aq_error *error) AQ_MUST_USE;

#endif

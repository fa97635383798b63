/*
 * The quantizer: fp32 parameters in, a policy snapshot in a chosen format out.
 */
#ifndef AQ_QUANTIZER_QUANTIZE_H
#define AQ_QUANTIZER_QUANTIZE_H

#include "common/base/error.h"
#include "common/nn/params.h"
#include "common/rl/snapshot.h"

/* Who and what the snapshot is for; copied into it. */
typedef struct aq_quantize_meta {
    uint64_t run_id;
    uint64_t version;
    uint64_t learner_step;
    const char *task;
    const aq_schema *schema;
    uint32_t act_rule;
} aq_quantize_meta;

/* Every layer in `format`. int8, per output channel, symmetric:
 *   scale[o] = max_i |W[o][i]| / 127 (1 for a row of zeros), q = rint(W / scale), in [-127, 127].
 * AQ_E_CORRUPT, naming layer and row, when a parameter is NaN or infinite: such a policy must
 * never be published. */
int aq_quantize(const aq_net_spec *spec, const aq_params *params, uint32_t format,
                const aq_quantize_meta *meta, aq_snapshot **ret_snapshot,
                aq_error *error) AQ_MUST_USE;

#endif

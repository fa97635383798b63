/*
 * Quantization error: how much a snapshot changes the policy, measured against fp32 on recent
 * observations. Each version carries the result; a budget gates its publication.
 *
 * One thread at a time per engine.
 */
#ifndef AQ_QUANTIZER_ENGINE_QERROR_H
#define AQ_QUANTIZER_ENGINE_QERROR_H

#include "common/base/error.h"
#include "common/policy/snapshot.h"
#include "quantizer/engine/engine.h"

/* Runs `engine` and `exact`, the same policy in fp32, over obs (rows, inputs), in pieces of the
 * engine's rows_max. rows > 0.
 *
 *   cost       = sum of what is lost / sum of what is at stake, by the head (aq_head.cost), at
 *                most 1
 *   output_rms = sqrt(mean (yq - y)^2), output_max = max |yq - y|, over all outputs. Where the
 *                outputs are the action, this is the action's error
 *   kl         = mean over rows of the divergence from what fp32 draws by (aq_head_drawing.kl), or
 *                over rows and choices of sum_k p[k] log(p[k] / pq[k]), where the network ends in a
 *                categorical layer; else 0
 *
 * AQ_E_CORRUPT when a difference is NaN or infinite, so that no budget is met by accident;
 * AQ_E_TOO_BIG for more rows than 32 bits count; AQ_E_NOMEM. */
int aq_quant_error_measure(aq_engine *engine, aq_snapshot *exact, const float *obs, size_t rows,
                           aq_quant_error *ret_result) AQ_MUST_USE;

#endif

/*
 * Engine: a snapshot made ready to run on this processor. Checked and packed once when it is made;
 * a forward pass allocates nothing. What actors, evaluators and the error measurement run.
 *
 * The same snapshot and observation give the same bits on every rung, for weights of every format,
 * whatever else is in the call and wherever the row stands in it (qkernels.h, float_passes.h). A
 * result that is NaN is NaN everywhere, but which of its bit patterns is not said.
 *
 * One thread at a time per engine (it owns its scratch rows).
 */
#ifndef AQ_QUANTIZER_ENGINE_ENGINE_H
#define AQ_QUANTIZER_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/snapshot.h"

#define AQ_ENGINE_ROWS_MAX UINT32_C(65536)

typedef struct aq_engine aq_engine;

/* Validates the snapshot (aq_snapshot_validate), packs it, keeps a reference to it. `rows_max`,
 * 1 to AQ_ENGINE_ROWS_MAX, bounds a forward pass. `cpu_flags`:
 * aq_cpu_flags(), or less in tests. What aq_snapshot_validate refuses, AQ_E_INVALID for rows_max,
 * AQ_E_NOMEM. */
int aq_engine_create(aq_snapshot *snapshot, size_t rows_max, uint32_t cpu_flags,
                     aq_engine **ret_engine, aq_error *error) AQ_MUST_USE;
void aq_engine_destroy(aq_engine *engine); /* NULL is fine */

/* out (rows, outputs) = policy(obs (rows, inputs)), fp32 on both sides; they don't overlap.
 * rows <= rows_max. A NaN or infinite value that comes to weights of an integer format counts as 0
 * there. Of a policy that keeps a state, each row is the first step of an episode. */
void aq_engine_forward(aq_engine *engine, const float *obs, size_t rows, float *out);

/* A step of a policy that keeps a state: `state`, (rows, aq_net_spec_state), is what it was, and
 * becomes what it is. NULL: as above. Into rows of the engine's own, which hold until the next call
 * of this. */
const float *aq_engine_step(aq_engine *engine, const float *obs, float *state, size_t rows);

/* Noise of the layers that take some, (rows, aq_net_spec_noise), lent for the calls that follow.
 * NULL, as at first: the policy acts by its means, and what makes deviations does not run. */
void aq_engine_perturb(aq_engine *engine, const float *noise);

/* Whether observations may be given as bytes, each of which stands for itself divided by 255: where
 * convolutions alone see them. The results are those of the floats, bit by bit. */
bool aq_engine_takes_bytes(const aq_engine *engine);
const float *aq_engine_step_of_bytes(aq_engine *engine, const uint8_t *obs, float *state,
                                     size_t rows);

/* out (rows, outputs of the last of them) = the first `layer_count` layers; 1 to all of them. */
void aq_engine_forward_until(aq_engine *engine, const float *obs, size_t rows, uint32_t layer_count,
                             float *out);

const aq_snapshot *aq_engine_snapshot(const aq_engine *engine);
size_t aq_engine_rows_max(const aq_engine *engine);
const char *aq_engine_rung(const aq_engine *engine); /* "avx512vnni"; static storage */

#endif

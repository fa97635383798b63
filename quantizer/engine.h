/*
 * Engine: a snapshot made ready to run on this processor. Checked and packed once when it is made;
 * a forward pass allocates nothing. What actors, evaluators and the error measurement run.
 *
 * The same snapshot and observations give the same bits on every rung where all layers are int8
 * (qkernels.h, qactivate.h); with fp32 layers they differ by rounding.
 *
 * One thread at a time per engine (it owns its scratch rows).
 */
#ifndef AQ_QUANTIZER_ENGINE_H
#define AQ_QUANTIZER_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/rl/snapshot.h"

#define AQ_ENGINE_ROWS_MAX UINT32_C(65536)

typedef struct aq_engine aq_engine;

/* Validates the snapshot (aq_snapshot_validate), packs it, keeps a reference to it. `rows_max`,
 * 1 to AQ_ENGINE_ROWS_MAX, bounds a forward pass and sizes the scratch. `cpu_flags`:
 * aq_cpu_flags(), or less in tests. What aq_snapshot_validate refuses, AQ_E_INVALID for rows_max,
 * AQ_E_NOMEM. */
int aq_engine_create(aq_snapshot *snapshot, size_t rows_max, uint32_t cpu_flags,
                     aq_engine **ret_engine, aq_error *error) AQ_MUST_USE;
void aq_engine_destroy(aq_engine *engine); /* NULL is fine */

/* out (rows, outputs) = policy(obs (rows, inputs)), fp32 on both sides; they don't overlap.
 * rows <= rows_max. A NaN or infinite value that comes to an int8 layer counts as 0 there. */
void aq_engine_forward(aq_engine *engine, const float *obs, size_t rows, float *out);

const aq_snapshot *aq_engine_snapshot(const aq_engine *engine);
size_t aq_engine_rows_max(const aq_engine *engine);
const char *aq_engine_rung(const aq_engine *engine); /* "avx512vnni"; static storage */

/* Index of the greatest value; the first of equals. NaN never wins; 0 if all are NaN. count > 0. */
uint32_t aq_argmax(const float *values, uint32_t count);

#endif

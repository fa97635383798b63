/*
 * PyTorch beside us: runs torch_steps.py with a python3 that has PyTorch, and reads its figures.
 */
#ifndef AQ_BENCH_LEARNER_TORCH_PEER_H
#define AQ_BENCH_LEARNER_TORCH_PEER_H

#include <jansson.h>
#include <stdint.h>

#include "common/base/error.h"

/* {"version": TEXT, "rows": [{"name": TEXT, "threads": N, "steps_per_s": X}, ...]}, of rows whose
 * name has `only` in it; the caller releases it. AQ_E_UNSUPPORTED when there is no PyTorch, or it
 * fails, in words. */
int aq_torch_measure(const char *only, json_t **ret_figures, aq_error *error) AQ_MUST_USE;

/* NAN for a row that was not measured. */
double aq_torch_steps_per_s(const json_t *figures, const char *name, uint32_t threads);

#endif

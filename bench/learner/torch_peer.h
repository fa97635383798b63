/*
 * PyTorch beside us: runs torch_steps.py with the python3 that is there, and reads its figures.
 */
#ifndef AQ_BENCH_LEARNER_TORCH_PEER_H
#define AQ_BENCH_LEARNER_TORCH_PEER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { AQ_TORCH_ROWS_MAX = 32, AQ_TORCH_NAME_BYTES = 64 };

typedef struct aq_torch_times {
    char version[AQ_TORCH_NAME_BYTES];
    size_t count;
    struct {
        char name[AQ_TORCH_NAME_BYTES];
        uint32_t threads;
        double steps_per_s;
    } rows[AQ_TORCH_ROWS_MAX];
} aq_torch_times;

/* AQ_E_UNSUPPORTED when there is no PyTorch, or it fails, in words. */
int aq_torch_measure(aq_torch_times *ret_times, aq_error *error) AQ_MUST_USE;

/* NAN for a row that was not measured. */
double aq_torch_steps_per_s(const aq_torch_times *times, const char *name, uint32_t threads);

#endif

/*
 * Bench peer: another library's way of solving a bench problem, prepared once and run often. Every
 * peer gets what its documentation advises: weights in the layout that it prefers, bias and ReLU
 * fused where it can, one thread.
 *
 * A library that this build has not is a peer without `create`. One thread.
 */
#ifndef AQ_BENCH_KERNELS_BENCH_PEER_H
#define AQ_BENCH_KERNELS_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/kernels/bench_problem.h"
#include "common/base/error.h"

typedef struct aq_bench_peer {
    const char *name;    /* "onednn-int8" */
    const char *library; /* "onednn" */
    bool is_integer;     /* quantizes: its answer is near, not equal */
    bool convolves;      /* has convolutions; other problems only where it has not */

    /* Says which version, and what it chose for this processor, into out[size]. */
    void (*describe)(char *out, size_t size);

    /* AQ_E_NOMEM; AQ_E_PEER when the library refuses. */
    int (*create)(const aq_bench_problem *problem, void **ret_self, aq_error *error);
    void (*run)(void *self);
    const float *(*result)(const void *self); /* (rows, outputs), of the last run */
    void (*destroy)(void *self);              /* NULL is fine */
} aq_bench_peer;

enum { AQ_BENCH_PEERS = 3 };

/* All peers that a row may have, in a fixed order. */
const aq_bench_peer *aq_bench_peer_at(size_t index);

#endif

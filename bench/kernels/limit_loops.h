/*
 * Limit loops: what a rung's instructions can do at best on this processor, as loops that do
 * nothing else: reading memory, multiplying bytes, multiplying floats. The bench holds every kernel
 * against them.
 *
 * Each rung has a file of its own, which alone sees its flags. No state; any thread.
 */
#ifndef AQ_BENCH_KERNELS_LIMIT_LOOPS_H
#define AQ_BENCH_KERNELS_LIMIT_LOOPS_H

#include <stddef.h>
#include <stdint.h>

enum { AQ_LIMIT_READ_STEP = 512, AQ_LIMIT_READERS = 4 };

/* Reads the bytes (a multiple of AQ_LIMIT_READ_STEP, from an aligned address) once, in vectors. The
 * value depends on all of them, so that none is left out. */
typedef struct aq_limit_reader {
    const char *name;
    uint64_t (*read)(const void *bytes, size_t size);
} aq_limit_reader;

typedef struct aq_limit_loops {
    const char *rung; /* the name of the kernels' rung */

    /* Ways of doing the same; the fastest is the limit. */
    aq_limit_reader readers[AQ_LIMIT_READERS];

    /* Independent chains of byte products added in 32 bits, the way that gives exact sums; and of
     * fused multiply-adds of floats. `steps` rounds of as many operations as the numbers below say,
     * where a multiplication and an addition are two. */
    uint64_t (*dot)(uint32_t steps);
    uint64_t (*fma)(uint32_t steps);
    uint32_t dot_operations;
    uint32_t fma_operations;
} aq_limit_loops;

/* Of a rung by its name; those of plain C where it has none of its own. Static storage. */
const aq_limit_loops *aq_limit_loops_of(const char *rung);

#endif

/*
 * Ways of reading memory once, as a template: a file of one instruction set defines
 * LIMIT_VECTOR_BYTES and includes this; then LIMIT_READERS is its list of them.
 *
 * No way is the fastest on every processor, and on some not even twice in a row: what a core
 * fetches by itself depends on where things happen to lie. So all of them take their turns, and the
 * fastest is the limit. A line of four is what oneDNN's loops for fp32 ask for ahead of time; its
 * loops for int8 are plain.
 */
#ifndef AQ_BENCH_KERNELS_LIMIT_READ_H
#define AQ_BENCH_KERNELS_LIMIT_READ_H

#include "bench/kernels/limit_loops.h"

enum { LIMIT_VECTORS = 8, LINE_BYTES = 64, AHEAD_BYTES = 1024 };
enum { READ_STEP = LIMIT_VECTORS * LIMIT_VECTOR_BYTES };

#define LIMIT_INLINE static inline __attribute__((always_inline))

typedef uint64_t limit_vector __attribute__((vector_size(LIMIT_VECTOR_BYTES), may_alias));

/* `ahead`: one line of so many is asked for ahead of time; 0: none. */
LIMIT_INLINE void read_step(limit_vector *sums, const unsigned char *from, const uint32_t ahead)
{
    for (uint32_t i = 0; i < LIMIT_VECTORS; i++) {
        const uint32_t at = i * LIMIT_VECTOR_BYTES;
        if (ahead > 0 && at % (ahead * LINE_BYTES) == 0) {
            /* As a number: past the end there is no pointer. */
            __builtin_prefetch((const void *)((uintptr_t)from + AHEAD_BYTES + at));
        }
        sums[i] ^= *(const limit_vector *)(const void *)(from + at);
    }
}

/* In so many parts side by side, each of them in order, and what is left over. */
LIMIT_INLINE uint64_t read_all(const void *bytes, size_t size, const uint32_t ahead,
                               const uint32_t parts)
{
    const unsigned char *from = bytes;
    const size_t part = size / parts / READ_STEP * READ_STEP;
    limit_vector sums[LIMIT_VECTORS] = {0};
    uint64_t all = 0;
    for (size_t at = 0; at < part; at += READ_STEP) {
        for (uint32_t i = 0; i < parts; i++) {
            read_step(sums, from + i * part + at, ahead);
        }
    }
    for (size_t at = parts * part; at < size; at += READ_STEP) {
        read_step(sums, from + at, 0);
    }
    for (uint32_t i = 1; i < LIMIT_VECTORS; i++) {
        sums[0] ^= sums[i];
    }
    for (uint32_t i = 0; i < LIMIT_VECTOR_BYTES / sizeof(uint64_t); i++) {
        all |= sums[0][i];
    }
    return all;
}

static uint64_t read_plain(const void *bytes, size_t size)
{
    return read_all(bytes, size, 0, 1);
}

static uint64_t read_some_ahead(const void *bytes, size_t size)
{
    return read_all(bytes, size, 4, 1);
}

static uint64_t read_all_ahead(const void *bytes, size_t size)
{
    return read_all(bytes, size, 1, 1);
}

static uint64_t read_in_two(const void *bytes, size_t size)
{
    return read_all(bytes, size, 0, 2);
}

#define LIMIT_READERS                                                                              \
    {                                                                                              \
        {"plain", read_plain}, {"a line of 4 ahead", read_some_ahead},                             \
            {"every line ahead", read_all_ahead},                                                  \
        {                                                                                          \
            "two streams", read_in_two                                                             \
        }                                                                                          \
    }

#endif

/*
 * The kernel checker: runs a rung and the scalar reference on the same inputs and compares every
 * byte either may have written. Inputs end at a page that may not be read; outputs lie between
 * poisoned margins. The checker is itself checked with kernels that are wrong on purpose
 * (faulty_kernels.h). One thread.
 */
#ifndef AQ_TESTS_KERNELS_KERNEL_CHECK_H
#define AQ_TESTS_KERNELS_KERNEL_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/rng.h"
#include "quantizer/kernels/qkernels.h"

typedef struct kernel_check {
    aq_rng rng;
    const aq_qkernels *rung; /* under test */
    bool planted;            /* the first failure is enough, and is not printed */
    bool quick;              /* emulators: every size and pattern, but fewer numbers of rows */
    size_t cases;
    size_t failures;
} kernel_check;

/* Counts a case; `detail` (printf) is printed for the first failures of a rung. */
void kernel_check_case(kernel_check *check, bool good, const char *detail, ...) AQ_PRINTF(3, 4);

/* What was planted has been found: nothing is left to check. */
bool kernel_check_is_over(const kernel_check *check);

/* Memory whose last byte is followed by a page that faults. `bytes` at most GUARDED_BYTES_MAX; the
 * same slot gives the same memory again. Never freed. */
enum { GUARDED_SLOTS = 2 };
#define GUARDED_BYTES_MAX (UINT32_C(1) << 21)
void *guarded_input(unsigned slot, size_t bytes);

/* Two outputs of the same size, the reference's and the rung's, each with poisoned margins and
 * starting `misaligned` bytes past a cache line. */
enum { OUTPUT_MARGIN = 192, OUTPUT_POISON = 0xA5 };
typedef struct output_pair {
    size_t bytes;
    unsigned char *block[2];
    unsigned char *expected, *got; /* in the blocks */
} output_pair;
void output_pair_init(output_pair *pair, size_t bytes, size_t misaligned);
void output_pair_fini(output_pair *pair);
/* Both margins of both outputs are as they were. */
bool output_pair_margins_hold(const output_pair *pair);

/* A random value of any sign and magnitude 2^low to 2^high. */
float random_scaled(aq_rng *rng, int low, int high);

/* The checks, of every pattern and size. */
void check_quantize_rows(kernel_check *check);
void check_quantize_rows_static(kernel_check *check);
void check_linear_int8(kernel_check *check);
void check_linear_f32(kernel_check *check);
void check_linear_f16(kernel_check *check);
void check_linear_bf16(kernel_check *check);
void check_linear_int4(kernel_check *check);
void check_linear_int2(kernel_check *check);
void check_linear_sparse(kernel_check *check);
/* Of common/base/exact_math.h, which knows no rungs, but processors. */
void check_exact_math(kernel_check *check);

#endif

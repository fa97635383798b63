/*
 * Products: what a layer asks of matrices, C = act(op(A) op(B) + bias), by OpenBLAS in fp32 or by
 * kernels of our own in bf16.
 *
 * In bf16 both operands are rounded, ties to even, and an element of C is a sum in fp32, whatever
 * the number of threads. Of op(A)'s row a and op(B)'s column b, with AVX512-BF16, for k = 0, 2, 4,
 * ...:
 *
 *   sum = fma(a[k + 1], b[k + 1], sum);  sum = fma(a[k], b[k], sum)
 *
 * and with AMX, for k = 0, 32, 64, ...:
 *
 *   even = odd = 0, and for i = k, k + 2, ... k + 30:
 *     even = fma(a[i], b[i], even);  odd = fma(a[i + 1], b[i + 1], odd)
 *   sum = sum + (even + odd)
 *
 * where a subnormal number, as an operand, a sum or before it is rounded, counts as zero. Products
 * too small to gain by it are OpenBLAS's: their shape alone decides.
 */
#ifndef AQ_LEARNER_NN_PRODUCTS_H
#define AQ_LEARNER_NN_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "learner/nn/thread_pool.h"

typedef struct aq_products aq_products;

typedef struct aq_product {
    bool transposes_a, transposes_b;
    uint32_t m, n, k;    /* of op(A), (m, k), and op(B), (k, n) */
    const float *a, *b;  /* as they lie: (k, m) or (n, k) where they are transposed */
    uint32_t b_stride;   /* from row to row of B as it lies; A and C have no gaps */
    float *c;            /* (m, n) */
    const float *bias;   /* (n); NULL: none, and no activation */
    uint32_t activation; /* enum aq_activation */
} aq_product;

/* Room for rounded operands, in pairs of values. */
typedef struct aq_products_room {
    size_t a, b;
} aq_products_room;

/* Whether bf16 is for products of this shape; smaller ones gain nothing by it. */
bool aq_products_rounds(uint64_t m, uint64_t n, uint64_t k);

/* Makes the room large enough for a product, of which the shape is read. */
void aq_products_room_for(const aq_product *product, aq_products_room *room);

/* Whether this processor has instructions for bf16 and this build uses them. */
bool aq_products_has_bf16(void);

/* What a run's products are in on this processor: "bf16" or "fp32". */
const char *aq_products_format(const aq_run_config *config);

/* `threads`, or 0 where they are in fp32; see net_train.h. */
uint32_t aq_products_bf16_threads(const aq_run_config *config, uint64_t threads);

/* For products in bf16, on `threads` threads. AQ_E_NOMEM, or a code of pthread_create's errno. */
int aq_products_create(aq_products_room room, uint32_t threads,
                       aq_products **ret_products) AQ_MUST_USE;
void aq_products_destroy(aq_products *products); /* NULL is fine */

/* Its threads, for others to use between products; NULL for NULL. */
aq_thread_pool *aq_products_pool(const aq_products *products);

/* NULL computes in fp32. One thread at a time for each `products`. */
void aq_products_run(aq_products *products, const aq_product *product);

#endif

/*
 * Which kernels a product goes to, and the memory and the threads of those in bf16.
 */
#include "learner/nn/products.h"

#include <string.h>

#include <cblas.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/sys/cpu.h"
#include "learner/nn/passes.h"
#include "learner/nn/products_bf16.h"
#include "learner/nn/thread_pool.h"

/* Below 16 rows, columns or terms bf16 is slower. Below the product of all three it saves
 * microseconds, and some small networks train less steadily (docs/training.md). */
enum {
    LEAST = 16,
    LEAST_IN_ALL = 1 << 19,
    LINE_PAIRS = 16 /* of a cache line */
};

struct aq_products {
    aq_thread_pool *pool;
    aq_products_room room;
    uint32_t *a, *b;
    aq_bf16_product now;
};

bool aq_products_has_bf16(void)
{
#if defined(AQ_HAVE_BF16_PRODUCTS)
    return (aq_cpu_flags() & AQ_CPU_AVX512_BF16) != 0;
#else
    return false;
#endif
}

uint32_t aq_products_bf16_threads(const aq_run_config *config, uint64_t threads)
{
    const bool is_bf16 = config->learner.products != AQ_PRODUCTS_FP32 && aq_products_has_bf16();
    return is_bf16 ? (uint32_t)threads : 0;
}

const char *aq_products_format(const aq_run_config *config)
{
    return aq_products_bf16_threads(config, 1) != 0 ? "bf16" : "fp32";
}

/* ---- fp32 ----------------------------------------------------------------------------------- */

static void run_fp32(const aq_product *product)
{
    const int m = (int)product->m, n = (int)product->n, k = (int)product->k;
    /* A bias alone is what the sums begin with, instead of zeros and one more walk. */
    const bool is_begun = product->bias != NULL && product->activation == AQ_ACTIVATION_NONE;
    for (uint32_t r = 0; is_begun && r < product->m; r++) {
        memcpy(product->c + (size_t)r * product->n, product->bias,
               product->n * sizeof(*product->c));
    }
    cblas_sgemm(CblasRowMajor, product->transposes_a ? CblasTrans : CblasNoTrans,
                product->transposes_b ? CblasTrans : CblasNoTrans, m, n, k, 1.0f, product->a,
                product->transposes_a ? m : k, product->b, (int)product->b_stride,
                is_begun ? 1.0f : 0.0f, product->c, n);
    if (product->bias != NULL && !is_begun) {
        aq_passes_best()->bias_activate(product->c, product->bias, product->m, product->n,
                                        product->n, product->activation);
    }
}

/* ---- bf16 ----------------------------------------------------------------------------------- */

bool aq_products_rounds(uint64_t m, uint64_t n, uint64_t k)
{
    return m >= LEAST && n >= LEAST && k >= LEAST && m * n * k >= LEAST_IN_ALL;
}

static bool is_rounded(const aq_product *product)
{
    return aq_products_rounds(product->m, product->n, product->k);
}

/* A line more than `count` needs: rows that lie powers of two apart would share a few places of
 * the nearest cache. */
static size_t spread(size_t count)
{
    return (count + LINE_PAIRS - 1) / LINE_PAIRS * LINE_PAIRS + LINE_PAIRS;
}

static aq_bf16_product lay_out(const aq_product *product)
{
    const size_t pairs = ((size_t)product->k + 1) / 2;
    return (aq_bf16_product){
        .is = product,
        .pairs = pairs,
        .a_row = product->transposes_a ? 1 : spread(pairs),
        .a_pair = product->transposes_a ? spread(product->m) : 1,
        .panel = spread(pairs * AQ_PANEL),
    };
}

void aq_products_room_for(const aq_product *product, aq_products_room *room)
{
    const aq_bf16_product at = lay_out(product);
    const size_t a = product->transposes_a ? at.pairs * at.a_pair : product->m * at.a_row;
    const size_t b = (product->n + AQ_PANEL - 1) / AQ_PANEL * at.panel;
    if (is_rounded(product)) {
        room->a = a > room->a ? a : room->a;
        room->b = b > room->b ? b : room->b;
    }
}

int aq_products_create(aq_products_room room, uint32_t threads, aq_products **ret_products)
{
    AQ_ASSERT(aq_products_has_bf16());
    aq_products *products = aq_alloc(1, sizeof(*products));
    if (products == NULL) {
        return AQ_E_NOMEM;
    }
    products->room = room;
    products->a = aq_alloc_large(room.a + room.b, sizeof(*products->a));
    int rc = products->a == NULL ? AQ_E_NOMEM : aq_thread_pool_create(threads, &products->pool);
    if (rc != 0) {
        aq_products_destroy(products);
        return rc;
    }
    products->b = products->a + room.a;
    *ret_products = products;
    return 0;
}

void aq_products_destroy(aq_products *products)
{
    if (products != NULL) {
        aq_thread_pool_destroy(products->pool);
        aq_free(products->a);
        aq_free(products);
    }
}

aq_thread_pool *aq_products_pool(const aq_products *products)
{
    return products != NULL ? products->pool : NULL;
}

#if defined(AQ_HAVE_BF16_PRODUCTS)
/* Some parts for each thread: another may have the processor for a while. */
enum { PARTS = 4 };

static uint32_t shares_of(const aq_products *products)
{
    const uint32_t threads = aq_thread_pool_size(products->pool);
    return threads == 1 ? 1 : PARTS * threads;
}

static void round_part(void *user, uint32_t part)
{
    const aq_products *products = user;
    aq_round_avx512bf16(&products->now, part, shares_of(products));
}

static void multiply_part(void *user, uint32_t part)
{
    const aq_products *products = user;
    aq_multiply_avx512bf16(&products->now, part, shares_of(products));
}

static void run_bf16(aq_products *products, const aq_product *product)
{
    aq_products_room needed = {0};
    aq_products_room_for(product, &needed);
    AQ_ASSERT(needed.a <= products->room.a);
    AQ_ASSERT(needed.b <= products->room.b);
    products->now = lay_out(product);
    products->now.a = products->a;
    products->now.b = products->b;
    const uint32_t shares = shares_of(products);
    aq_thread_pool_run(products->pool, shares, round_part, products);
    aq_thread_pool_run(products->pool,
                       (uint32_t)aq_multiply_parts_avx512bf16(&products->now, shares),
                       multiply_part, products);
}
#endif

void aq_products_run(aq_products *products, const aq_product *product)
{
#if defined(AQ_HAVE_BF16_PRODUCTS)
    if (products != NULL && is_rounded(product)) {
        run_bf16(products, product);
        return;
    }
#endif
    run_fp32(product);
}

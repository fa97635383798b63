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
    LINE_PAIRS = 16,       /* of a cache line */
    PANELS_PAIRS = 1 << 17 /* of panels that stay in the second cache, 512 KiB */
};

struct aq_products {
    aq_thread_pool *pool;
    aq_products_room room;
    uint32_t *a, *b;
    aq_bf16_product now;
};

static bool has_amx(void)
{
    return (aq_cpu_flags() & AQ_CPU_AMX) != 0;
}

bool aq_products_has_bf16(void)
{
#if defined(AQ_HAVE_BF16_PRODUCTS)
    return has_amx() || (aq_cpu_flags() & AQ_CPU_AVX512_BF16) != 0;
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

static size_t up_to_whole(size_t count, size_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* A line more than `count` needs: rows that lie powers of two apart would share a few places of
 * the nearest cache. */
static size_t spread(size_t count)
{
    return up_to_whole(count, LINE_PAIRS) + LINE_PAIRS;
}

static aq_bf16_product lay_out(const aq_product *product)
{
    const size_t pairs = up_to_whole(((size_t)product->k + 1) / 2, has_amx() ? AQ_AMX_PAIRS : 1);
    const bool in_rows = has_amx() || !product->transposes_a;
    return (aq_bf16_product){
        .is = product,
        .pairs = pairs,
        .a_row = in_rows ? spread(pairs) : 1,
        .a_pair = in_rows ? 1 : spread(product->m),
        .panel = spread(pairs * AQ_PANEL),
    };
}

void aq_products_room_for(const aq_product *product, aq_products_room *room)
{
    const aq_bf16_product at = lay_out(product);
    /* The last tile is read whole, wherever it begins. */
    const size_t rows = product->m + (has_amx() ? AQ_AMX_ROWS - 1 : 0);
    const size_t a = at.a_pair == 1 ? rows * at.a_row : at.pairs * at.a_pair;
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

/* Columns whose panels stay in the second cache. They run past the rows of a tile, then past the
 * next rows: so those of A stay in the nearest one. */
static size_t columns_at_once(const aq_bf16_product *product)
{
    return (PANELS_PAIRS / product->panel + 1) * AQ_PANEL;
}

/* Shares of the same columns follow each other. Rows are shared out evenly into blocks, so that
 * none is much lower than others. */
static void multiply_part(void *user, uint32_t part)
{
    const aq_products *products = user;
    const aq_bf16_product *product = &products->now;
    const aq_product *is = product->is;
    const size_t shares = shares_of(products), share = part % shares;
    const size_t m = is->m, n = is->n, rows_max = has_amx() ? AQ_AMX_ROWS_MAX : AQ_ROWS_MAX;
    const size_t blocks = (m + rows_max - 1) / rows_max, width = columns_at_once(product);
    const size_t column = part / shares * width, end = n - column > width ? column + width : n;
    for (size_t i = blocks * share / shares; i < blocks * (share + 1) / shares; i++) {
        const size_t first = m * i / blocks, rows = m * (i + 1) / blocks - first;
        (has_amx() ? aq_multiply_amx : aq_multiply_avx512bf16)(product, first, rows, column, end);
        if (is->bias != NULL) {
            aq_passes_best()->bias_activate(is->c + first * n + column, is->bias + column, rows,
                                            end - column, n, is->activation);
        }
    }
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
    const size_t width = columns_at_once(&products->now);
    aq_thread_pool_run(products->pool, shares, round_part, products);
    aq_thread_pool_run(products->pool, (uint32_t)((product->n + width - 1) / width) * shares,
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

/*
 * Products in bf16 against the sums that products.h states, bit by bit: each way that operands lie,
 * lengths that fill no tile, panel or pair, threads, and numbers that are rare.
 */
#include "common/policy/half.h"
#include "common/policy/layer_spec.h"
#include "common/sys/cpu.h"
#include "learner/nn/passes.h"
#include "learner/nn/products.h"
#include "tests/support/test.h"

enum { GUARD = 8, ROOM = 300 * 300 };

typedef struct operands {
    float a[ROOM], b[ROOM], c[ROOM + GUARD], expected[ROOM], bias[ROOM];
} operands;

static operands *at; /* of this test */

static int make_operands(void **state)
{
    (void)state;
    at = aq_alloc(1, sizeof(*at));
    return at == NULL;
}

static int drop_operands(void **state)
{
    (void)state;
    aq_free(at);
    at = NULL;
    return 0;
}

#define BF16_TEST(name) TEST_WITH(name, make_operands, drop_operands)

/* First thing in a test: in what sets one up it would be a failure. */
static void need_bf16(void)
{
    if (!aq_products_has_bf16()) {
        skip();
    }
}

static float without_subnormals(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

static float rounded(float value)
{
    return without_subnormals(aq_bf16_to_f32(aq_bf16_from_f32(without_subnormals(value))));
}

/* sum + a[i] * b[i] of a row and a column; beyond k there are zeros. */
static float add_product(const aq_product *p, uint32_t r, uint32_t c, uint32_t i, float sum)
{
    const float a = i < p->k ? p->a[p->transposes_a ? i * p->m + r : r * p->k + i] : 0;
    const float b =
        i < p->k ? p->b[p->transposes_b ? c * p->b_stride + i : i * p->b_stride + c] : 0;
    return without_subnormals(fmaf(rounded(a), rounded(b), sum));
}

static float sum_of_vdpbf16ps(const aq_product *p, uint32_t r, uint32_t c)
{
    float sum = 0.0f;
    for (uint32_t k = 0; k < p->k; k += 2) {
        sum = add_product(p, r, c, k, add_product(p, r, c, k + 1, sum));
    }
    return sum;
}

static float sum_of_tiles(const aq_product *p, uint32_t r, uint32_t c)
{
    float sum = 0.0f;
    for (uint32_t first = 0; first < p->k; first += 32) {
        float even = 0.0f, odd = 0.0f;
        for (uint32_t k = first; k < first + 32; k += 2) {
            even = add_product(p, r, c, k, even);
            odd = add_product(p, r, c, k + 1, odd);
        }
        sum = without_subnormals(sum + without_subnormals(even + odd));
    }
    return sum;
}

static void make_expected(const aq_product *p)
{
    const bool is_tiled = (aq_cpu_flags() & AQ_CPU_AMX) != 0;
    for (uint32_t r = 0; r < p->m; r++) {
        for (uint32_t c = 0; c < p->n; c++) {
            at->expected[r * p->n + c] = (is_tiled ? sum_of_tiles : sum_of_vdpbf16ps)(p, r, c);
        }
    }
    if (p->bias != NULL) {
        aq_passes_best()->bias_activate(at->expected, p->bias, p->m, p->n, p->n, p->activation);
    }
}

static void run(aq_product *p, uint32_t threads)
{
    aq_products_room room = {0};
    aq_products *products;
    aq_products_room_for(p, &room);
    assert_succeeds(aq_products_create(room, threads, &products));
    for (size_t i = 0; i < (size_t)p->m * p->n + GUARD; i++) {
        at->c[i] = 777.0f;
    }
    p->a = at->a;
    p->b = at->b;
    p->c = at->c;
    aq_products_run(products, p);
    aq_products_destroy(products);
}

static void check_sums(const aq_product *p, uint32_t threads)
{
    for (size_t i = 0; i < (size_t)p->m * p->n; i++) {
        if (aq_f32_to_bits(at->c[i]) != aq_f32_to_bits(at->expected[i]) &&
            !(isnan(at->c[i]) && isnan(at->expected[i]))) {
            fail_msg("%ux%ux%u%s%s on %u threads: element %zu is %.9g, not %.9g", p->m, p->n, p->k,
                     p->transposes_a ? " A'" : "", p->transposes_b ? " B'" : "", threads, i,
                     (double)at->c[i], (double)at->expected[i]);
        }
    }
    for (size_t i = 0; i < GUARD; i++) {
        assert_true(at->c[(size_t)p->m * p->n + i] == 777.0f);
    }
}

static void check(aq_product *p, uint32_t threads_max)
{
    for (uint32_t threads = 1; threads <= threads_max; threads++) {
        run(p, threads);
        if (threads == 1) {
            make_expected(p);
        }
        check_sums(p, threads);
    }
}

static void fill(aq_rng *rng)
{
    for (size_t i = 0; i < ROOM; i++) {
        at->a[i] = (float)aq_rng_normal(rng);
        at->b[i] = (float)aq_rng_normal(rng);
        at->bias[i] = (float)aq_rng_normal(rng);
    }
}

BF16_TEST(every_way_that_operands_lie_gives_the_stated_sums)
{
    need_bf16();
    static const uint32_t sizes[][3] = {{16, 64, 512}, {17, 33, 941}, {25, 48, 441}, {137, 31, 125},
                                        {128, 64, 64}, {512, 51, 23}, {51, 170, 85}, {19, 700, 40},
                                        {700, 17, 47}, {200, 165, 16}};
    aq_rng rng = rng_of(1, 0);
    fill(&rng);
    EACH_ROW(i, sizes) {
        for (int ways = 0; ways < 8; ways++) {
            const bool transposes_b = (ways & 2) != 0;
            const uint32_t n = sizes[i][1], k = sizes[i][2];
            aq_product p = {.transposes_a = (ways & 1) != 0,
                            .transposes_b = transposes_b,
                            .m = sizes[i][0],
                            .n = n,
                            .k = k,
                            .b_stride = (transposes_b ? k : n) + (ways & 4),
                            .bias = (ways & 4) != 0 ? at->bias : NULL,
                            .activation = AQ_ACTIVATION_ELU};
            check(&p, 3);
        }
    }
}

/* Halfway cases of rounding, subnormal numbers and sums, infinities and NaN. */
BF16_TEST(rare_numbers_give_the_stated_sums)
{
    need_bf16();
    static const uint32_t rare[] = {0x3F808000, 0x3F818000, 0x3F808001, 0x007FFFFF, 0x00008000,
                                    0x00800000, 0x80800001, 0x7F7FFFFF, 0x1F800000, 0x9FC10000,
                                    0x7F800000, 0xFF800000, 0x7FC00000, 0x80000000, 0x00000000};
    aq_rng rng = rng_of(2, 0);
    fill(&rng);
    for (uint32_t i = 0; i < ROOM; i++) {
        if (aq_rng_below(&rng, 6) == 0) {
            /* Those that are not numbers in a few places only. */
            const uint32_t kinds = i % 512 == 0 ? 15 : 10;
            at->a[i] = aq_f32_from_bits(rare[aq_rng_below(&rng, kinds)]);
            at->b[i] = aq_f32_from_bits(rare[aq_rng_below(&rng, 10)]);
        }
    }
    for (uint32_t k = 16; k < 20; k++) {
        check(&(aq_product){.m = 182, .n = 182, .k = k, .b_stride = 182}, 1);
        check(&(aq_product){.transposes_b = true, .m = 182, .n = 182, .k = k, .b_stride = k}, 1);
    }
}

BF16_TEST(small_products_are_those_of_fp32)
{
    need_bf16();
    static const uint32_t sizes[][3] = {
        {15, 256, 256}, {256, 15, 256}, {256, 256, 15}, {64, 64, 64}, {1, 1, 1}};
    aq_rng rng = rng_of(3, 0);
    fill(&rng);
    EACH_ROW(i, sizes) {
        aq_product p = {
            .m = sizes[i][0], .n = sizes[i][1], .k = sizes[i][2], .b_stride = sizes[i][1]};
        run(&p, 1);
        p.c = at->expected;
        aq_products_run(NULL, &p);
        assert_memory_equal(at->c, at->expected, (size_t)p.m * p.n * sizeof(float));
    }
}

BF16_TEST(memory_and_threads_that_are_not_there_are_an_error)
{
    need_bf16();
    aq_products *products;
    assert_made_despite_failures(products,
                                 aq_products_create((aq_products_room){64, 64}, 2, &products));
    aq_products_destroy(products);
}

TEST(what_products_are_in_follows_from_the_setting_and_the_processor)
{
    aq_run_config config = {0};
    const char *best = aq_products_has_bf16() ? "bf16" : "fp32";
    assert_string_equal(aq_products_format(&config), "fp32");
    config.learner.products = AQ_PRODUCTS_AUTO;
    assert_string_equal(aq_products_format(&config), best);
    config.learner.products = AQ_PRODUCTS_BF16;
    assert_string_equal(aq_products_format(&config), best);
    assert_int_equal(aq_products_bf16_threads(&config, 3), aq_products_has_bf16() ? 3 : 0);
    aq_cpu_set_mask(~(uint32_t)(AQ_CPU_AVX512_BF16 | AQ_CPU_AMX));
    assert_string_equal(aq_products_format(&config), "fp32");
    assert_int_equal(aq_products_bf16_threads(&config, 3), 0);
    aq_cpu_set_mask(UINT32_MAX);
}

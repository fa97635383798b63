/*
 * The ladder's rungs, their masks and their names. Which flags the processor has is its own affair;
 * that they are a ladder, and that a mask takes away and never adds, holds everywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/sys/cpu.h"

static int allow_all(void **state)
{
    (void)state;
    aq_cpu_set_mask(UINT32_MAX);
    return 0;
}

static void *read_flags(void *argument)
{
    *(uint32_t *)argument = aq_cpu_flags();
    return NULL;
}

/* First, so that the threads race for the first use. */
static void test_the_first_use_may_race(void **state)
{
    pthread_t threads[4];
    uint32_t flags[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_flags, &flags[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(flags[i], flags[0]);
    }
}

static void test_an_unknown_rung_in_the_environment_is_ignored_and_told(void **state)
{
    uint32_t flags = aq_cpu_flags();

    (void)state;
    assert_string_equal(aq_cpu_mask_problem(), "mmx"); /* set by main */
    aq_cpu_set_mask(UINT32_MAX);
    assert_int_equal(aq_cpu_flags(), flags);
}

static void test_the_flags_are_a_ladder(void **state)
{
    uint32_t flags = aq_cpu_flags();

    (void)state;
    if ((flags & AQ_CPU_AVX2) != 0) {
        assert_true((flags & AQ_CPU_SSE42) != 0);
    }
    if ((flags & AQ_CPU_AVX_VNNI) != 0) {
        assert_true((flags & AQ_CPU_AVX2) != 0);
    }
    if ((flags & AQ_CPU_AVX512_VNNI) != 0) {
        assert_true((flags & AQ_CPU_AVX512) != 0);
    }
#if defined(__x86_64__)
    assert_int_equal((flags & AQ_CPU_AVX2) != 0,
                     __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    assert_int_equal((flags & AQ_CPU_SSE42) != 0, __builtin_cpu_supports("sse4.2") != 0);
#else
    assert_int_equal(flags, 0);
#endif
}

static void test_a_mask_takes_away_and_never_adds(void **state)
{
    uint32_t flags = aq_cpu_flags();

    (void)state;
    for (uint32_t mask = 0; mask < 32; mask++) {
        aq_cpu_set_mask(mask);
        assert_int_equal(aq_cpu_flags(), flags & mask);
    }
}

static void test_a_rung_allows_those_below_it(void **state)
{
    static const char *const names[] = {"scalar",  "sse42",  "avx2",
                                        "avxvnni", "avx512", "avx512vnni"};
    uint32_t mask = 77;
    uint32_t below = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(aq_cpu_mask_from_text(names[i], &mask), 0);
        assert_int_equal(mask & below, below);
        assert_int_equal(mask, i == 0 ? 0 : below | 1u << (i - 1));
        below = mask;
    }
    assert_int_equal(mask, AQ_CPU_SSE42 | AQ_CPU_AVX2 | AQ_CPU_AVX_VNNI | AQ_CPU_AVX512 |
                               AQ_CPU_AVX512_VNNI);
}

static void test_another_text_is_no_rung(void **state)
{
    uint32_t mask = 77;

    (void)state;
    assert_int_equal(aq_cpu_mask_from_text("", &mask), AQ_E_INVALID);
    assert_int_equal(aq_cpu_mask_from_text("AVX2", &mask), AQ_E_INVALID);
    assert_int_equal(aq_cpu_mask_from_text("avx2 ", &mask), AQ_E_INVALID);
    assert_int_equal(mask, 77);
}

static void test_flags_have_a_text(void **state)
{
    (void)state;
    assert_string_equal(aq_cpu_flags_text(0), "scalar");
    assert_string_equal(aq_cpu_flags_text(AQ_CPU_AVX2), "avx2");
    assert_string_equal(aq_cpu_flags_text(UINT32_MAX), "sse42 avx2 avxvnni avx512 avx512vnni");
    assert_string_equal(aq_cpu_flags_text(AQ_CPU_SSE42 | AQ_CPU_AVX512), "sse42 avx512");
}

static void test_the_model_is_a_trimmed_name(void **state)
{
    const char *model = aq_cpu_model();
    size_t length = strlen(model);

    (void)state;
    assert_true(length > 0);
    assert_true(model[0] != ' ' && model[length - 1] != ' ');
    assert_null(strstr(model, "  "));
    assert_ptr_equal(model, aq_cpu_model());
}

static void test_there_is_a_processor(void **state)
{
    (void)state;
    assert_true(aq_cpu_count() >= 1);
}

static void test_touched_memory_is_resident(void **state)
{
    const size_t size = (size_t)32 << 20;
    uint64_t before = aq_process_resident_bytes();
    void *block = aq_alloc(size, 1); /* zeroed, so touched */

    (void)state;
    assert_non_null(block);
    assert_true(before > 0);
    assert_true(aq_process_resident_bytes() >= before + size / 2);
    aq_free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_use_may_race),
        cmocka_unit_test(test_an_unknown_rung_in_the_environment_is_ignored_and_told),
        cmocka_unit_test_setup(test_the_flags_are_a_ladder, allow_all),
        cmocka_unit_test_setup_teardown(test_a_mask_takes_away_and_never_adds, allow_all,
                                        allow_all),
        cmocka_unit_test(test_a_rung_allows_those_below_it),
        cmocka_unit_test(test_another_text_is_no_rung),
        cmocka_unit_test(test_flags_have_a_text),
        cmocka_unit_test(test_the_model_is_a_trimmed_name),
        cmocka_unit_test(test_there_is_a_processor),
        cmocka_unit_test(test_touched_memory_is_resident),
    };

    setenv("ACTORQ_CPU", "mmx", 1); /* read at the first use */
    return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}

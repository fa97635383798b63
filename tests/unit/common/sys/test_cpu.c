/*
 * The rungs of the two ladders, their masks and their names. Which flags the processor has is its
 * own affair; that they are a ladder, and that a mask takes away and never adds, holds everywhere.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/sys/cpu.h"
#include "tests/support/test.h"

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
TEST(the_first_use_may_race)
{
    pthread_t threads[4];
    uint32_t flags[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, read_flags, &flags[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(flags[i], flags[0]);
    }
}

TEST(an_unknown_rung_in_the_environment_is_ignored_and_told)
{
    uint32_t flags = aq_cpu_flags();
    assert_string_equal(aq_cpu_mask_problem(), "mmx"); /* set by main */
    aq_cpu_set_mask(UINT32_MAX);
    assert_int_equal(aq_cpu_flags(), flags);
}

TEST_WITH(the_flags_are_a_ladder, allow_all, NULL)
{
    uint32_t flags = aq_cpu_flags();
    if ((flags & AQ_CPU_AVX2) != 0) {
        assert_true((flags & AQ_CPU_SSE42) != 0);
    }
    if ((flags & AQ_CPU_AVX_VNNI) != 0) {
        assert_true((flags & AQ_CPU_AVX2) != 0);
    }
    if ((flags & (AQ_CPU_AVX512_VNNI | AQ_CPU_AVX512_BF16 | AQ_CPU_AMX)) != 0) {
        assert_true((flags & AQ_CPU_AVX512) != 0);
    }
    if ((flags & AQ_CPU_NEON_DOT) != 0) {
        assert_true((flags & AQ_CPU_NEON) != 0);
    }
#if defined(__x86_64__)
    if ((flags & AQ_CPU_AVX2) != 0) {
        assert_true(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    }
    assert_int_equal((flags & AQ_CPU_SSE42) != 0, __builtin_cpu_supports("sse4.2") != 0);
    assert_int_equal(flags & (AQ_CPU_NEON | AQ_CPU_NEON_DOT), 0);
#else
    assert_int_equal(flags & ~(uint32_t)(AQ_CPU_NEON | AQ_CPU_NEON_DOT), 0);
#endif
}

#if defined(__x86_64__)
static bool linux_says(const char *line)
{
    char said[4096];
    bool is_said = false;
    FILE *file = fopen("/proc/cpuinfo", "re");
    assert_non_null(file);
    while (!is_said && fgets(said, sizeof(said), file) != NULL) {
        said[strcspn(said, "\n")] = '\0';
        is_said = strcmp(said, line) == 0;
    }
    (void)fclose(file);
    return is_said;
}

TEST_WITH(a_zen_4_is_known_under_any_mask, allow_all, allow_all)
{
    const bool has_avx512 = (aq_cpu_flags() & AQ_CPU_AVX512) != 0;
    const bool is_zen_4 =
        has_avx512 && linux_says("vendor_id\t: AuthenticAMD") && linux_says("cpu family\t: 25");
    assert_int_equal(aq_cpu_streams_alone(), is_zen_4);
    aq_cpu_set_mask(0);
    assert_int_equal(aq_cpu_streams_alone(), is_zen_4);
}
#endif

TEST_WITH(a_mask_takes_away_and_never_adds, allow_all, allow_all)
{
    uint32_t flags = aq_cpu_flags();
    for (uint32_t mask = 0; mask < 256; mask++) {
        aq_cpu_set_mask(mask);
        assert_int_equal(aq_cpu_flags(), flags & mask);
    }
}

/* Each of `names`, from the bottom, allows the flag at its place and those before it. */
static void assert_ladder(const char *const *names, const uint32_t *flags, size_t count)
{
    uint32_t mask = 77;
    uint32_t allowed = 0;
    assert_int_equal(aq_cpu_mask_from_text("scalar", &mask), 0);
    assert_int_equal(mask, 0);
    for (size_t i = 0; i < count; i++) {
        allowed |= flags[i];
        assert_int_equal(aq_cpu_mask_from_text(names[i], &mask), 0);
        assert_int_equal(mask, allowed);
    }
}

TEST(a_rung_of_x86_allows_those_below_it)
{
    static const char *const names[] = {"sse42",      "avx2",       "avxvnni", "avx512",
                                        "avx512vnni", "avx512bf16", "amx"};
    static const uint32_t flags[] = {AQ_CPU_SSE42,  AQ_CPU_AVX2,        AQ_CPU_AVX_VNNI,
                                     AQ_CPU_AVX512, AQ_CPU_AVX512_VNNI, AQ_CPU_AVX512_BF16,
                                     AQ_CPU_AMX};
    assert_ladder(names, flags, sizeof(flags) / sizeof(flags[0]));
}

TEST(a_rung_of_arm_allows_those_below_it)
{
    static const char *const names[] = {"neon", "neondot"};
    static const uint32_t flags[] = {AQ_CPU_NEON, AQ_CPU_NEON_DOT};
    assert_ladder(names, flags, sizeof(flags) / sizeof(flags[0]));
}

TEST_WITH(a_rung_of_the_other_family_leaves_none, NULL, allow_all)
{
#if defined(__x86_64__)
    const char *other = "neondot";
#else
    const char *other = "avx512vnni";
#endif
    uint32_t mask;

    assert_int_equal(aq_cpu_mask_from_text(other, &mask), 0);
    aq_cpu_set_mask(mask);
    assert_int_equal(aq_cpu_flags(), 0);
}

TEST(another_text_is_no_rung)
{
    uint32_t mask = 77;
    assert_int_equal(aq_cpu_mask_from_text("", &mask), AQ_E_INVALID);
    assert_int_equal(aq_cpu_mask_from_text("AVX2", &mask), AQ_E_INVALID);
    assert_int_equal(aq_cpu_mask_from_text("avx2 ", &mask), AQ_E_INVALID);
    assert_int_equal(mask, 77);
}

TEST(flags_have_a_text)
{
    char text[AQ_CPU_TEXT_MAX];
    assert_string_equal(aq_cpu_flags_text(0, text, sizeof(text)), "scalar");
    assert_string_equal(aq_cpu_flags_text(AQ_CPU_AVX2, text, sizeof(text)), "avx2");
    assert_string_equal(aq_cpu_flags_text(UINT32_MAX, text, sizeof(text)),
                        "sse42 avx2 avxvnni avx512 avx512vnni avx512bf16 amx neon neondot");
    assert_string_equal(aq_cpu_flags_text(AQ_CPU_NEON | AQ_CPU_NEON_DOT, text, sizeof(text)),
                        "neon neondot");
    assert_string_equal(aq_cpu_flags_text(AQ_CPU_SSE42 | AQ_CPU_AVX512, text, sizeof(text)),
                        "sse42 avx512");
}

int main(void)
{
    setenv("ACTORQ_CPU", "mmx", 1); /* read at the first use */
    return aq_test_run(NULL);
}

/*
 * The judgement of OpenBLAS's choice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "learner/nn/blas.h"

static void test_openblas_names_its_core_and_itself(void **state)
{
    (void)state;
    assert_true(aq_blas_core() != NULL && aq_blas_core()[0] != '\0');
    assert_non_null(strstr(aq_blas_config(), "OpenBLAS"));
}

static void test_the_facts_are_those_of_the_process(void **state)
{
    aq_blas_facts facts;

    (void)state;
    aq_blas_find_facts(&facts);
    assert_string_equal(facts.core, aq_blas_core());
#if defined(__x86_64__)
    assert_true(facts.best_core != NULL || !__builtin_cpu_supports("avx2"));
#endif
}

static void test_equally_wide_kernels_are_no_problem(void **state)
{
    static const char *const pairs[][2] = {{"Cooperlake", "Cooperlake"},
                                           {"SkylakeX", "Cooperlake"},
                                           {"Cooperlake", "SkylakeX"},
                                           {"Haswell", "Zen"},
                                           {"SkylakeX", "Haswell"}};
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        memset(text, 'x', sizeof(text));
        assert_false(aq_blas_judge(&(aq_blas_facts){.core = pairs[i][0],
                                                    .best_core = pairs[i][1],
                                                    .env_coretype = "Haswell",
                                                    .env_l2_size = "512"},
                                   text, sizeof(text)));
        assert_string_equal(text, "");
    }
}

static void test_a_processor_that_is_not_known_is_no_problem(void **state)
{
    char text[256];

    (void)state;
    assert_false(aq_blas_judge(&(aq_blas_facts){.core = "neoversen1"}, text, sizeof(text)));
}

static void test_a_core_forced_by_the_environment_is_to_be_unset(void **state)
{
    const aq_blas_facts facts = {
        .core = "Haswell", .best_core = "Cooperlake", .env_coretype = "haswell"};
    char text[512];

    (void)state;
    assert_true(aq_blas_judge(&facts, text, sizeof(text)));
    assert_non_null(strstr(text, "Haswell (256 bits"));
    assert_non_null(strstr(text, "OPENBLAS_CORETYPE=haswell"));
    assert_non_null(strstr(text, "unset it"));
    assert_null(strstr(text, "OPENBLAS_L2_SIZE"));
}

static void test_a_cache_size_forced_with_it_is_named(void **state)
{
    const aq_blas_facts facts = {
        .core = "Nehalem", .best_core = "Zen", .env_coretype = "Nehalem", .env_l2_size = "512"};
    char text[512];

    (void)state;
    assert_true(aq_blas_judge(&facts, text, sizeof(text)));
    assert_non_null(strstr(text, "OPENBLAS_L2_SIZE"));
}

static void test_a_library_that_does_not_know_the_processor_is_told_its_core(void **state)
{
    const aq_blas_facts facts = {.core = "Prescott", .best_core = "SkylakeX"};
    char text[512];

    (void)state;
    assert_true(aq_blas_judge(&facts, text, sizeof(text)));
    assert_non_null(strstr(text, "OPENBLAS_CORETYPE=SkylakeX"));
    assert_null(strstr(text, "unset"));
}

static void test_a_short_buffer_gets_a_text_cut_off(void **state)
{
    const aq_blas_facts facts = {.core = "Haswell", .best_core = "SkylakeX"};
    char text[8];

    (void)state;
    assert_true(aq_blas_judge(&facts, text, sizeof(text)));
    assert_string_equal(text, "OpenBLA");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_openblas_names_its_core_and_itself),
        cmocka_unit_test(test_the_facts_are_those_of_the_process),
        cmocka_unit_test(test_equally_wide_kernels_are_no_problem),
        cmocka_unit_test(test_a_processor_that_is_not_known_is_no_problem),
        cmocka_unit_test(test_a_core_forced_by_the_environment_is_to_be_unset),
        cmocka_unit_test(test_a_cache_size_forced_with_it_is_named),
        cmocka_unit_test(test_a_library_that_does_not_know_the_processor_is_told_its_core),
        cmocka_unit_test(test_a_short_buffer_gets_a_text_cut_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

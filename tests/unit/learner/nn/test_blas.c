/*
 * The judgement of OpenBLAS's choice.
 */
#include "learner/nn/blas.h"
#include "tests/support/test.h"

TEST(openblas_names_its_core_and_itself)
{
    assert_true(aq_blas_core() != NULL && aq_blas_core()[0] != '\0');
    assert_says(aq_blas_config(), "OpenBLAS");
}

TEST(the_facts_are_those_of_the_process)
{
    aq_blas_facts facts;
    aq_blas_find_facts(&facts);
    assert_string_equal(facts.core, aq_blas_core());
#if defined(__x86_64__)
    assert_true(facts.best_core != NULL || !__builtin_cpu_supports("avx2"));
#endif
}

TEST(equally_wide_kernels_are_no_problem)
{
    static const char *const pairs[][2] = {{"Cooperlake", "Cooperlake"},
                                           {"SkylakeX", "Cooperlake"},
                                           {"Cooperlake", "SkylakeX"},
                                           {"Haswell", "Zen"},
                                           {"SkylakeX", "Haswell"}};
    char text[256];
    EACH_ROW(i, pairs) {
        memset(text, 'x', sizeof(text));
        assert_false(aq_blas_judge(&(aq_blas_facts){.core = pairs[i][0],
                                                    .best_core = pairs[i][1],
                                                    .env_coretype = "Haswell",
                                                    .env_l2_size = "512"},
                                   text, sizeof(text)));
        assert_string_equal(text, "");
    }
}

TEST(a_processor_that_is_not_known_is_no_problem)
{
    char text[256];
    assert_false(aq_blas_judge(&(aq_blas_facts){.core = "neoversen1"}, text, sizeof(text)));
}

TEST(a_core_forced_by_the_environment_is_to_be_unset)
{
    const aq_blas_facts facts = {
        .core = "Haswell", .best_core = "Cooperlake", .env_coretype = "haswell"};
    char text[512];
    assert_true(aq_blas_judge(&facts, text, sizeof(text)));
    assert_says(text, "Haswell (256 bits");
    assert_says(text, "OPENBLAS_CORETYPE=haswell");
    assert_says(text, "unset it");
    assert_null(strstr(text, "OPENBLAS_L2_SIZE"));
}

TEST(a_cache_size_forced_with_it_is_named)
{
    const aq_blas_facts facts = {
        .core = "Nehalem", .best_core = "Zen", .env_coretype = "Nehalem", .env_l2_size = "512"};
    char text[512];
    assert_true(aq_blas_judge(&facts, text, sizeof(text)));
    assert_says(text, "OPENBLAS_L2_SIZE");
}

TEST(a_library_that_does_not_know_the_processor_is_told_its_core)
{
    const aq_blas_facts facts = {.core = "Prescott", .best_core = "SkylakeX"};
    char text[512];
    assert_true(aq_blas_judge(&facts, text, sizeof(text)));
    assert_says(text, "OPENBLAS_CORETYPE=SkylakeX");
    assert_null(strstr(text, "unset"));
}

/* How often a program starts anew that begins with `env`, where OpenBLAS by itself runs `chosen`,
 * and `forced` when it is told the best. */
static int starts_anew(const char *env, const char *chosen, const char *forced)
{
    aq_blas_facts facts = {.best_core = "Cooperlake", .env_coretype = env};
    const char *coretype = env;
    int starts = 0;
    for (;;) {
        facts.env_coretype = coretype;
        facts.core = coretype == NULL                      ? chosen
                     : strcmp(coretype, "Cooperlake") == 0 ? forced
                                                           : coretype;
        if (!aq_blas_mend(&facts, &coretype)) {
            return starts;
        }
        assert_int_not_equal(++starts, 9);
    }
}

TEST(a_program_starts_anew_until_its_kernels_are_as_wide_as_can_be)
{
    assert_int_equal(starts_anew(NULL, "Cooperlake", "Cooperlake"), 0);
    assert_int_equal(starts_anew("SkylakeX", "Cooperlake", "Cooperlake"), 0);
    assert_int_equal(starts_anew("Haswell", "Cooperlake", "Cooperlake"), 1); /* without */
    assert_int_equal(starts_anew(NULL, "Prescott", "Cooperlake"), 1);        /* told the best */
    assert_int_equal(starts_anew("Haswell", "Prescott", "Cooperlake"), 2); /* one, then the other */
    assert_int_equal(starts_anew(NULL, "Prescott", "Prescott"), 1);        /* to no avail */
    assert_int_equal(starts_anew("Cooperlake", "Prescott", "Prescott"), 0);
}

TEST(a_short_buffer_gets_a_text_cut_off)
{
    const aq_blas_facts facts = {.core = "Haswell", .best_core = "SkylakeX"};
    char text[8];
    assert_true(aq_blas_judge(&facts, text, sizeof(text)));
    assert_string_equal(text, "OpenBLA");
}

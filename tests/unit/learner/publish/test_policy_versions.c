/*
 * Policy versions: they only grow, also over restarts, and a file that is not ours is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "common/base/memory.h"
#include "learner/publish/policy_versions.h"
#include "tests/unit/learner/run_dir_fixture.h"

static uint64_t reserve(void **state, uint64_t at_least, uint64_t count)
{
    uint64_t first = 0;
    aq_error error = {0};

    if (aq_version_reserve(*state, at_least, count, &first, &error) != 0) {
        fail_msg("%s", error.text);
    }
    return first;
}

static void test_a_new_folder_starts_at_1(void **state)
{
    assert_int_equal(reserve(state, 0, 1000), 1);
}

static void test_blocks_follow_each_other(void **state)
{
    assert_int_equal(reserve(state, 0, 1000), 1);
    assert_int_equal(reserve(state, 0, 10), 1001);
    assert_int_equal(reserve(state, 5, 10), 1011);
    assert_int_equal(reserve(state, 1020, 1), 1021);
}

static void test_numbers_are_above_what_is_asked_for(void **state)
{
    assert_int_equal(reserve(state, 5000, 10), 5001);
    assert_int_equal(reserve(state, 0, 10), 5011);
}

static void test_the_last_numbers_are_handed_out_but_no_more(void **state)
{
    uint64_t first = 7;
    aq_error error = {0};

    assert_int_equal(reserve(state, UINT64_MAX - 11, 10), UINT64_MAX - 10);
    assert_int_equal(aq_version_reserve(*state, 0, 1, &first, &error), AQ_E_TOO_BIG);
    assert_non_null(strstr(error.text, "versions"));
    assert_int_equal(aq_version_reserve(*state, UINT64_MAX, 1, &first, &error), AQ_E_TOO_BIG);
    assert_int_equal(first, 7);
}

static void test_a_file_that_is_not_ours_is_refused_and_left(void **state)
{
    static const char *const texts[] = {"",       "12",
                                        "\n",     "x\n",
                                        "-1\n",   "12 \n",
                                        "1\n2\n", "18446744073709551616\n",
                                        "0x10\n", "000000000000000000000000000001\n"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char after[64];
        uint64_t first = 7;
        aq_error error = {0};

        fixture_write_bytes(run_dir_path(state, "versions"), texts[i], strlen(texts[i]));
        assert_int_equal(aq_version_reserve(*state, 0, 1, &first, &error), AQ_E_CORRUPT);
        assert_non_null(strstr(error.text, "versions"));
        assert_int_equal(first, 7);
        assert_int_equal(fixture_read_bytes(run_dir_path(state, "versions"), after, sizeof(after)),
                         strlen(texts[i]));
    }
    fixture_write_bytes(run_dir_path(state, "versions"), "1\0\n", 3);
    assert_int_equal(aq_version_reserve(*state, 0, 1, &(uint64_t){0}, NULL), AQ_E_CORRUPT);
}

static void test_a_folder_that_is_not_there_is_an_error(void **state)
{
    uint64_t first = 7;
    aq_error error = {0};

    assert_true(aq_version_reserve(run_dir_path(state, "none"), 0, 1, &first, &error) < 0);
    assert_int_equal(first, 7);
    assert_non_null(strstr(error.text, "none"));
}

static void test_too_long_a_path_is_refused(void **state)
{
    static char path[8192];

    (void)state;
    memset(path, 'a', sizeof(path) - 1);
    assert_int_equal(aq_version_reserve(path, 0, 1, &(uint64_t){0}, NULL), AQ_E_TOO_BIG);
}

static void test_without_memory_nothing_is_reserved(void **state)
{
    uint64_t first = 7;

    assert_int_equal(reserve(state, 0, 10), 1);
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_version_reserve(*state, 0, 10, &first, NULL), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    assert_int_equal(first, 7);
    assert_int_equal(reserve(state, 0, 10), 11);
}

#define IN_RUN_DIR(test) cmocka_unit_test_setup_teardown(test, run_dir_setup, run_dir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_RUN_DIR(test_a_new_folder_starts_at_1),
        IN_RUN_DIR(test_blocks_follow_each_other),
        IN_RUN_DIR(test_numbers_are_above_what_is_asked_for),
        IN_RUN_DIR(test_the_last_numbers_are_handed_out_but_no_more),
        IN_RUN_DIR(test_a_file_that_is_not_ours_is_refused_and_left),
        IN_RUN_DIR(test_a_folder_that_is_not_there_is_an_error),
        IN_RUN_DIR(test_too_long_a_path_is_refused),
        IN_RUN_DIR(test_without_memory_nothing_is_reserved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Policy versions: they only grow, also over restarts, and a file that is not ours is refused.
 */
#include <string.h>

#include "common/base/memory.h"
#include "learner/publish/policy_versions.h"
#include "tests/support/test.h"
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

TEST_WITH(a_new_folder_starts_at_1, run_dir_setup, run_dir_teardown)
{
    assert_int_equal(reserve(state, 0, 1000), 1);
}

TEST_WITH(blocks_follow_each_other, run_dir_setup, run_dir_teardown)
{
    assert_int_equal(reserve(state, 0, 1000), 1);
    assert_int_equal(reserve(state, 0, 10), 1001);
    assert_int_equal(reserve(state, 5, 10), 1011);
    assert_int_equal(reserve(state, 1020, 1), 1021);
}

TEST_WITH(numbers_are_above_what_is_asked_for, run_dir_setup, run_dir_teardown)
{
    assert_int_equal(reserve(state, 5000, 10), 5001);
    assert_int_equal(reserve(state, 0, 10), 5011);
}

TEST_WITH(the_last_numbers_are_handed_out_but_no_more, run_dir_setup, run_dir_teardown)
{
    uint64_t first = 7;
    aq_error error = {0};

    assert_int_equal(reserve(state, UINT64_MAX - 11, 10), UINT64_MAX - 10);
    assert_int_equal(aq_version_reserve(*state, 0, 1, &first, &error), AQ_E_TOO_BIG);
    assert_non_null(strstr(error.text, "versions"));
    assert_int_equal(aq_version_reserve(*state, UINT64_MAX, 1, &first, &error), AQ_E_TOO_BIG);
    assert_int_equal(first, 7);
}

TEST_WITH(a_file_that_is_not_ours_is_refused_and_left, run_dir_setup, run_dir_teardown)
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

TEST_WITH(a_folder_that_is_not_there_is_an_error, run_dir_setup, run_dir_teardown)
{
    uint64_t first = 7;
    aq_error error = {0};

    assert_true(aq_version_reserve(run_dir_path(state, "none"), 0, 1, &first, &error) < 0);
    assert_int_equal(first, 7);
    assert_non_null(strstr(error.text, "none"));
}

TEST_WITH(too_long_a_path_is_refused, run_dir_setup, run_dir_teardown)
{
    static char path[8192];

    memset(path, 'a', sizeof(path) - 1);
    assert_int_equal(aq_version_reserve(path, 0, 1, &(uint64_t){0}, NULL), AQ_E_TOO_BIG);
}

TEST_WITH(without_memory_nothing_is_reserved, run_dir_setup, run_dir_teardown)
{
    uint64_t first = 7;

    assert_int_equal(reserve(state, 0, 10), 1);
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_version_reserve(*state, 0, 10, &first, NULL), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    assert_int_equal(first, 7);
    assert_int_equal(reserve(state, 0, 10), 11);
}

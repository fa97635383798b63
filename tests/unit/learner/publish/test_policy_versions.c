/*
 * Policy versions: they only grow, also over restarts, and a file that is not ours is refused.
 */
#include "learner/publish/policy_versions.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

static uint64_t reserve(run_dir *dir, uint64_t at_least, uint64_t count)
{
    uint64_t first = 0;
    assert_succeeds(aq_version_reserve(dir->path, at_least, count, &first, &refusal));
    return first;
}

TEST_IN(run_dir, dir, a_new_folder_starts_at_1)
{
    assert_int_equal(reserve(dir, 0, 1000), 1);
}

TEST_IN(run_dir, dir, blocks_follow_each_other)
{
    assert_int_equal(reserve(dir, 0, 1000), 1);
    assert_int_equal(reserve(dir, 0, 10), 1001);
    assert_int_equal(reserve(dir, 5, 10), 1011);
    assert_int_equal(reserve(dir, 1020, 1), 1021);
}

TEST_IN(run_dir, dir, numbers_are_above_what_is_asked_for)
{
    assert_int_equal(reserve(dir, 5000, 10), 5001);
    assert_int_equal(reserve(dir, 0, 10), 5011);
    assert_int_equal(reserve(dir, 5021, 10), 5022); /* the next itself is taken */
}

TEST_IN(run_dir, dir, the_last_numbers_are_handed_out_but_no_more)
{
    uint64_t first = 7;
    assert_int_equal(reserve(dir, UINT32_MAX - 10, 10), UINT32_MAX - 9);
    assert_refused(aq_version_reserve(dir->path, 0, 1, &first, &refusal), AQ_E_TOO_BIG,
                   "no 1 policy versions are left from 4294967296 on");
    assert_int_equal(aq_version_reserve(dir->path, UINT64_MAX, 1, &first, &refusal), AQ_E_TOO_BIG);
    assert_int_equal(first, 7);
}

TEST_IN(run_dir, dir, a_file_that_is_not_ours_is_refused_and_left)
{
    static const struct {
        const char *bytes;
        size_t size;
    } files[] = {{"", 0},
                 {"12", 2},
                 {"\n", 1},
                 {"x\n", 2},
                 {"-1\n", 3},
                 {"12 \n", 4},
                 {"1\n2\n", 4},
                 {"0x10\n", 5},
                 {"18446744073709551616\n", 21},
                 {"1\0\n", 3},
                 {"000000000000000000000000000001\n", 31}};
    EACH_ROW(i, files) {
        uint64_t first = 7;
        file_put(run_dir_path(dir, "versions"), files[i].bytes, files[i].size);
        assert_refused(aq_version_reserve(dir->path, 0, 1, &first, &refusal), AQ_E_CORRUPT,
                       "versions");
        assert_int_equal(first, 7);
        assert_int_equal(file_bytes(run_dir_path(dir, "versions"))->size, files[i].size);
    }
}

static uint64_t take(aq_version_numbers *numbers)
{
    uint64_t version = 0;
    assert_int_equal(aq_version_numbers_take(numbers, &version, NULL), 0);
    return version;
}

TEST_IN(run_dir, dir, numbers_go_on_above_what_somebody_has_seen)
{
    aq_version_numbers numbers;
    aq_version_numbers_init(&numbers, dir->path, 20000);
    aq_version_numbers_see(&numbers, 20001); /* of the folder's own time */
    aq_version_numbers_see(&numbers, 26708); /* the folder is an older copy */
    aq_version_numbers_see(&numbers, 7);
    assert_int_equal(take(&numbers), 26709);
    assert_int_equal(take(&numbers), 26710);
    assert_int_equal(numbers.leaps, 1);
    aq_version_numbers_see(&numbers, 30000);
    assert_int_equal(take(&numbers), 30001);
    aq_version_numbers_init(&numbers, dir->path, 20000);
    assert_true(take(&numbers) > 30001); /* it was kept, too */
}

TEST_IN(run_dir, dir, nor_is_the_next_one_given_that_somebody_has_seen)
{
    aq_version_numbers numbers;
    aq_version_numbers_init(&numbers, dir->path, 20000);
    aq_version_numbers_see(&numbers, 20001);
    assert_true(take(&numbers) > 20001);
}

TEST_IN(run_dir, dir, what_was_reserved_and_not_kept_is_no_leap)
{
    aq_version_numbers numbers;
    assert_int_equal(reserve(dir, 0, 1024), 1);
    aq_version_numbers_init(&numbers, dir->path, 500);
    aq_version_numbers_see(&numbers, 600);
    assert_int_equal(take(&numbers), 1025);
    assert_int_equal(numbers.leaps, 0);
}

TEST_IN(run_dir, dir, after_an_end_in_order_none_is_skipped)
{
    aq_version_numbers numbers;
    aq_version_numbers_init(&numbers, dir->path, 0);
    aq_version_numbers_give_back(&numbers); /* none was taken */
    for (uint64_t version = 1; version <= 3; version++) {
        assert_int_equal(take(&numbers), version);
    }
    aq_version_numbers_give_back(&numbers);
    aq_version_numbers_init(&numbers, dir->path, 2); /* of the last checkpoint */
    assert_int_equal(take(&numbers), 4);
    aq_version_numbers_see(&numbers, 100); /* of another copy of the folder */
    aq_version_numbers_give_back(&numbers);
    aq_version_numbers_init(&numbers, dir->path, 4);
    assert_int_equal(take(&numbers), 1028);
}

TEST_IN(run_dir, dir, nobody_is_believed_who_has_seen_far_too_much)
{
    aq_version_numbers numbers;
    aq_version_numbers_init(&numbers, dir->path, 20000);
    aq_version_numbers_see(&numbers, UINT64_MAX);
    assert_int_equal(take(&numbers), 20001);
    aq_version_numbers_see(&numbers, 26708); /* others still are */
    assert_int_equal(take(&numbers), 26709);
}

/* Steps carry versions of 32 bits, and many small lies are one great one. */
TEST_IN(run_dir, dir, nor_do_many_together_lead_out_of_32_bits)
{
    aq_version_numbers numbers;
    aq_version_numbers_init(&numbers, dir->path, 20000);
    uint64_t version = 20000;
    for (int i = 0; i < 300; i++) {
        aq_version_numbers_see(&numbers, version + (1 << 24));
        version = take(&numbers);
    }
    assert_true(version < 20000 + 5 * (UINT64_C(1) << 24));
    aq_version_numbers_init(&numbers, dir->path, UINT32_MAX / 2 - 10000);
    aq_version_numbers_see(&numbers, UINT32_MAX / 2 + 1);
    assert_int_equal(take(&numbers), UINT32_MAX / 2 - 9999);
    aq_version_numbers_see(&numbers, UINT32_MAX / 2);
    assert_int_equal(take(&numbers), UINT64_C(1) + UINT32_MAX / 2);
}

TEST_IN(run_dir, dir, a_folder_that_is_not_there_is_an_error)
{
    uint64_t first = 7;
    assert_true(aq_version_reserve(run_dir_path(dir, "none"), 0, 1, &first, &refusal) < 0);
    assert_int_equal(first, 7);
    assert_says(refusal.text, "none");
}

TEST(too_long_a_path_is_refused)
{
    static char path[8192];
    memset(path, 'a', sizeof(path) - 1);
    assert_int_equal(aq_version_reserve(path, 0, 1, &(uint64_t){0}, NULL), AQ_E_TOO_BIG);
}

TEST_IN(run_dir, dir, without_memory_nothing_is_reserved)
{
    uint64_t first = 7;
    assert_int_equal(reserve(dir, 0, 10), 1);
    assert_fails_without_memory(aq_version_reserve(dir->path, 0, 10, &first, NULL));
    assert_int_equal(first, 7);
    assert_int_equal(reserve(dir, 0, 10), 11);
}

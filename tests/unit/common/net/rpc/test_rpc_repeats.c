/*
 * Kept replies: found again, bounded, and the least recent gone first.
 */
#include "common/net/rpc/rpc_repeats.h"
#include "tests/support/test.h"

static uint8_t reply[4096];

TEST_ENDING(destroy, aq_rpc_repeats_destroy);

/* Until the test is over. */
static aq_rpc_repeats *repeats_of(size_t bytes_max)
{
    aq_rpc_repeats *repeats = NULL;
    assert_int_equal(aq_rpc_repeats_create(bytes_max, &repeats), 0);
    at_end(destroy, repeats);
    return repeats;
}

static bool has(aq_rpc_repeats *repeats, uint64_t id)
{
    const uint8_t *found = NULL;
    size_t size = 0;
    return aq_rpc_repeats_find(repeats, id, 1, &found, &size) == 0;
}

TEST(a_kept_reply_is_found)
{
    aq_rpc_repeats *repeats = repeats_of(65536);
    const uint8_t *found = NULL;
    size_t size = 0;
    memset(reply, 0xab, sizeof(reply));
    aq_rpc_repeats_keep(repeats, 7, 1, reply, 100);
    memset(reply, 0, sizeof(reply)); /* it is a copy */
    assert_int_equal(aq_rpc_repeats_find(repeats, 7, 1, &found, &size), 0);
    assert_int_equal(size, 100);
    assert_int_equal(found[99], 0xab);
    assert_int_equal(aq_rpc_repeats_find(repeats, 8, 1, &found, &size), AQ_E_NOT_FOUND);
}

TEST(the_same_id_of_another_request_is_told)
{
    aq_rpc_repeats *repeats = repeats_of(65536);
    const uint8_t *found = NULL;
    size_t size = 0;
    aq_rpc_repeats_keep(repeats, 7, 1, reply, 100);
    assert_int_equal(aq_rpc_repeats_find(repeats, 7, 2, &found, &size), AQ_E_INVALID);
    assert_null(found);
}

TEST(the_oldest_gives_way_when_the_bytes_are_full)
{
    aq_rpc_repeats *repeats = repeats_of(10000);
    unsigned count = 0;
    for (uint64_t id = 1; id <= 20; id++) {
        aq_rpc_repeats_keep(repeats, id, 1, reply, 1000);
        assert_true(has(repeats, id));
    }
    for (uint64_t id = 1; id <= 20; id++) {
        bool found = has(repeats, id);
        count += found;
        assert_true(!found || id > 10);
    }
    assert_in_range(count, 8, 10);
}

TEST(a_reply_that_was_used_stays_longer)
{
    aq_rpc_repeats *repeats = repeats_of(10000);
    for (uint64_t id = 1; id <= 30; id++) {
        aq_rpc_repeats_keep(repeats, id, 1, reply, 1000);
        assert_true(has(repeats, 1));
    }
    assert_false(has(repeats, 2));
}

TEST(the_count_is_limited_as_well)
{
    aq_rpc_repeats *repeats = repeats_of(512 * 20);
    unsigned count = 0;
    for (uint64_t id = 1; id <= 100; id++) {
        aq_rpc_repeats_keep(repeats, id, 1, reply, 0);
    }
    for (uint64_t id = 1; id <= 100; id++) {
        count += has(repeats, id);
    }
    assert_int_equal(count, 20);
}

TEST(one_large_reply_does_not_push_out_all_others)
{
    aq_rpc_repeats *repeats = repeats_of(10000);
    aq_rpc_repeats_keep(repeats, 1, 1, reply, 100);
    aq_rpc_repeats_keep(repeats, 2, 1, reply, 2501);
    assert_true(has(repeats, 1));
    assert_false(has(repeats, 2));
    aq_rpc_repeats_keep(repeats, 3, 1, reply, 2400);
    assert_true(has(repeats, 1));
    assert_true(has(repeats, 3));
}

TEST(replies_that_are_allowed_are_kept_four_of_them)
{
    aq_rpc_repeats *repeats = repeats_of(1000);
    aq_rpc_repeats_keep(repeats, 1, 1, reply, 3000);
    assert_false(has(repeats, 1));
    aq_rpc_repeats_allow(repeats, 3000);
    aq_rpc_repeats_allow(repeats, 100); /* never less than before */
    for (uint64_t id = 2; id <= 6; id++) {
        aq_rpc_repeats_keep(repeats, id, 1, reply, 3000);
    }
    for (uint64_t id = 2; id <= 6; id++) {
        assert_int_equal(has(repeats, id), id > 2);
    }
    for (uint64_t id = 100; id < 200; id++) {
        aq_rpc_repeats_keep(repeats, id, 1, reply, 10);
        assert_true(has(repeats, id));
    }
    for (uint64_t id = 3; id <= 6; id++) {
        assert_true(has(repeats, id)); /* small ones take none of their room */
    }
    aq_rpc_repeats_keep(repeats, 7, 1, reply, 3001);
    assert_false(has(repeats, 7));
}

TEST(without_bytes_nothing_is_kept)
{
    aq_rpc_repeats *repeats = repeats_of(0);
    aq_rpc_repeats_keep(repeats, 1, 1, reply, 0);
    assert_false(has(repeats, 1));
}

TEST(without_memory_nothing_is_kept_and_nothing_breaks)
{
    aq_rpc_repeats *repeats;
    assert_made_despite_failures(repeats, aq_rpc_repeats_create(65536, &repeats));
    aq_memory_fail_at(1, 0);
    aq_rpc_repeats_keep(repeats, 1, 1, reply, 100);
    aq_memory_fail_at(0, 0);
    assert_false(has(repeats, 1));
    aq_rpc_repeats_destroy(repeats);
    aq_rpc_repeats_destroy(NULL);
}

/*
 * Arrays that grow: what was in them stays, and a bound or no memory leaves all as it was.
 */
#include "common/base/growing.h"

#include "tests/support/test.h"

enum { MOST = 40 };

TEST(what_is_in_it_stays)
{
    uint32_t *items = NULL;
    size_t capacity = 0;
    for (uint32_t i = 0; i < MOST; i++) {
        assert_int_equal(aq_grow(&items, &capacity, i, sizeof(*items), MOST), 0);
        assert_true(capacity > i);
        items[i] = i;
    }
    assert_int_equal(aq_grow(&items, &capacity, MOST, sizeof(*items), MOST), AQ_E_FULL);
    for (uint32_t i = 0; i < MOST; i++) {
        assert_int_equal(items[i], i);
    }
    aq_free(items);
}

TEST(without_memory_it_stays_as_it_is)
{
    int before = 0;
    int *items = &before;
    size_t capacity = 1;
    assert_fails_without_memory(aq_grow(&items, &capacity, 1, sizeof(*items), SIZE_MAX));
    assert_ptr_equal(items, &before);
    assert_int_equal(capacity, 1);
}

/*
 * Pauses: twice as long after each failure, up to a limit, and half of each by chance.
 */
#include "actor/core/back_off.h"
#include "tests/support/test.h"

TEST(pauses_double_up_to_the_limit)
{
    static const struct {
        uint32_t failures;
        int64_t ms;
    } rows[] = {{0, 100},   {1, 200},   {3, 800},          {4, 1000},
                {31, 1000}, {32, 1000}, {UINT32_MAX, 1000}};
    aq_rng rng = rng_of(test_seed(), 0);
    EACH_ROW(i, rows) {
        int64_t least = INT64_MAX, most = 0;
        for (int n = 0; n < 2000; n++) {
            const int64_t ns = aq_back_off_ns(&rng, 100, 1000, rows[i].failures);
            assert_in_range(ns, rows[i].ms / 2 * AQ_NS_PER_MS, rows[i].ms * AQ_NS_PER_MS);
            least = ns < least ? ns : least;
            most = ns > most ? ns : most;
        }
        assert_true(most - least > rows[i].ms * AQ_NS_PER_MS / 3); /* nobody is in step */
    }
}

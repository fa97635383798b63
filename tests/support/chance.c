/*
 * See chance.h.
 */
#include "tests/support/chance.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/base/parse.h"
#include "tests/support/test.h"

uint64_t test_seed(void)
{
    uint64_t seed = 20260131;
    const char *text = getenv("AQ_SEED");
    if (text != NULL) {
        assert_int_equal(aq_parse_u64(text, &seed), 0);
    }
    print_message("AQ_SEED=%" PRIu64 "\n", seed);
    return seed;
}

/*
 * See chance.h.
 */
#include <inttypes.h>

#include "common/base/parse.h"
#include "tests/support/test.h"

uint64_t test_number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    uint64_t number = otherwise;
    if (text != NULL && aq_parse_u64(text, &number) != 0) {
        fail_msg("%s is not a number: %s", variable, text);
    }
    return number;
}

uint64_t test_rounds(uint64_t all)
{
    const uint64_t rounds = all / test_number("AQ_ROUNDS_DIVISOR", 1);
    return rounds > 0 ? rounds : 1;
}

uint64_t test_seed_or(uint64_t otherwise)
{
    const uint64_t seed = test_number("AQ_SEED", otherwise);
    print_message("AQ_SEED=%" PRIu64 "\n", seed);
    return seed;
}

uint64_t test_seed(void)
{
    return test_seed_or(20260131);
}

/*
 * Radix selection, a byte of the keys a pass, highest first.
 */
#include "quantizer/quantize/rank.h"

#include <stdint.h>

#include "common/base/assert.h"
#include "common/policy/half.h"

#define SIGN_BIT UINT32_C(0x80000000)

/* Keys have the order of the floats. Negative ones count downwards, so all their bits turn. */
static uint32_t key_of(float value)
{
    const uint32_t bits = aq_f32_to_bits(value);
    return (bits & SIGN_BIT) != 0 ? ~bits : bits | SIGN_BIT;
}

static float value_of(uint32_t key)
{
    return aq_f32_from_bits((key & SIGN_BIT) != 0 ? key & ~SIGN_BIT : ~key);
}

/* How many of the keys that begin with `prefix` have which next byte, the one above `shift`. */
static void count_bytes(const float *values, size_t count, uint32_t prefix, uint32_t prefix_mask,
                        uint32_t shift, size_t *counts)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t key = key_of(values[i]);
        counts[key >> shift & 0xFF] += (key & prefix_mask) == prefix;
    }
}

float aq_rank_value(const float *values, size_t count, size_t index)
{
    uint32_t prefix = 0;
    uint32_t prefix_mask = 0;
    AQ_ASSERT(index < count);
    for (uint32_t shift = 32; shift > 0;) {
        size_t counts[256] = {0};
        uint32_t byte = 0;
        shift -= 8;
        count_bytes(values, count, prefix, prefix_mask, shift, counts);
        while (index >= counts[byte]) {
            index -= counts[byte++];
        }
        prefix |= byte << shift;
        prefix_mask |= UINT32_C(0xFF) << shift;
    }
    return value_of(prefix);
}

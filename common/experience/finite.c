/*
 * The exponent bits alone decide: all ones is infinite or NaN, and adding one to them then carries
 * into the sign. Blocks are reduced with one OR, a loop without exits that compilers turn into
 * vector code; only a bad block is searched.
 */
#include "common/experience/finite.h"

#include <stdint.h>
#include <string.h>

#define EXPONENT_BITS UINT32_C(0x7f800000)
#define EXPONENT_ONE  UINT32_C(0x00800000)
#define SIGN_BIT      UINT32_C(0x80000000)

enum { BLOCK_VALUES = 1024 };

/* With the sign bit set if and only if the value is not finite. */
static uint32_t carried(const uint8_t *value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof(bits));
    return (bits & EXPONENT_BITS) + EXPONENT_ONE;
}

size_t aq_find_nonfinite(const void *values, size_t count)
{
    const uint8_t *bytes = values;
    for (size_t start = 0; start < count; start += BLOCK_VALUES) {
        size_t left = count - start;
        size_t end = start + (left < BLOCK_VALUES ? left : BLOCK_VALUES);
        uint32_t bad = 0;
        for (size_t i = start; i < end; i++) {
            bad |= carried(bytes + i * sizeof(float));
        }
        for (size_t i = start; (bad & SIGN_BIT) != 0 && i < end; i++) {
            if ((carried(bytes + i * sizeof(float)) & SIGN_BIT) != 0) {
                return i;
            }
        }
    }
    return count;
}

/*
 * The exponent bits alone decide: all ones is infinite or NaN. Blocks are reduced with one OR, a
 * loop without exits that compilers turn into vector code; only a bad block is searched.
 */
#include "common/rl/finite.h"

#include <stdint.h>
#include <string.h>

#define EXPONENT_BITS UINT32_C(0x7f800000)

enum { BLOCK_VALUES = 1024 };

static uint32_t nonfinite(const float *value)
{
    uint32_t bits;
    memcpy(&bits, value, sizeof(bits));
    return (bits & EXPONENT_BITS) == EXPONENT_BITS;
}

size_t aq_find_nonfinite(const float *values, size_t count)
{
    for (size_t start = 0; start < count; start += BLOCK_VALUES) {
        size_t left = count - start;
        size_t end = start + (left < BLOCK_VALUES ? left : BLOCK_VALUES);
        uint32_t bad = 0;
        for (size_t i = start; i < end; i++) {
            bad |= nonfinite(&values[i]);
        }
        for (size_t i = start; bad != 0 && i < end; i++) {
            if (nonfinite(&values[i])) {
                return i;
            }
        }
    }
    return count;
}

/*
 * The exponent bits alone decide: all ones is infinite or NaN, and adding one to them then carries
 * into the sign. Blocks are reduced with one OR, a loop without exits that compilers turn into
 * vector code; only a bad block is searched.
 */
#include "common/experience/finite.h"

#include <inttypes.h>
#include <stdio.h>
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

bool aq_space_row_fault(const aq_space *space, const void *row, char *text, size_t size)
{
    if (space->kind == AQ_SPACE_DISCRETE) {
        const int32_t value = *(const int32_t *)row;
        if (value >= 0 && (uint32_t)value < space->choice_count) {
            return false;
        }
        (void)snprintf(text, size, "shows observation %" PRId32 ", not 0 to %" PRIu32, value,
                       space->choice_count - 1);
        return true;
    }
    const size_t elements = space->dtype == AQ_DTYPE_F32 ? aq_space_elements(space) : 0;
    const size_t bad = aq_find_nonfinite(row, elements);
    if (bad == elements) {
        return false;
    }
    (void)snprintf(text, size, "shows %g as element %zu of the observation",
                   (double)((const float *)row)[bad], bad);
    return true;
}

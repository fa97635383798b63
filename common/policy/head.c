/*
 * The table of the heads.
 */
#include "common/policy/head.h"

#include <math.h>

#include "common/base/assert.h"

#define DECLARE(number, NAME, name) extern const aq_head aq_head_##name;
AQ_HEADS(DECLARE)
#undef DECLARE

const aq_head *aq_head_of(uint32_t number)
{
#define ROW(number, NAME, name) [number] = &aq_head_##name,
    static const aq_head *const heads[] = {AQ_HEADS(ROW)};
#undef ROW
    return number < AQ_HEADS_END ? heads[number] : NULL;
}

const char *aq_head_name(uint32_t number)
{
    const aq_head *head = aq_head_of(number);
    return head != NULL ? head->name : "unknown";
}

uint32_t aq_argmax(const float *values, uint32_t count)
{
    AQ_ASSERT(count > 0);
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (values[i] > values[best] || (isnan(values[best]) && !isnan(values[i]))) {
            best = i;
        }
    }
    return best;
}

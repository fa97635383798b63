/*
 * Trying one space after the other.
 */
#include "tests/unit/common/policy/head_kit.h"

#include <math.h>

static void init_box(aq_space *space, uint32_t count)
{
    float low[AQ_BOUNDS_MAX], high[AQ_BOUNDS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        low[i] = -0.3f * (float)(i + 1);
        high[i] = 0.7f * (float)(i + 1);
    }
    aq_space_init_box(space, count, low, high);
}

bool head_kit_space(uint32_t head, const aq_net_spec *spec, aq_space *ret_space)
{
    const uint32_t outputs = aq_net_spec_outputs(spec);
    aq_space spaces[3] = {0};
    aq_space_init_discrete(&spaces[0], outputs);
    init_box(&spaces[1], outputs < AQ_BOUNDS_MAX ? outputs : AQ_BOUNDS_MAX);
    init_box(&spaces[2], 1);
    for (int i = 0; i < 3; i++) {
        if (aq_head_of(head)->check(spec, &spaces[i], NULL) == 0) {
            *ret_space = spaces[i];
            return true;
        }
    }
    return false;
}

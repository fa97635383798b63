/*
 * Trying one space after the other.
 */
#include "tests/unit/common/policy/head_kit.h"

#include <stdio.h>

static void init_box(aq_space *space, uint32_t count)
{
    float low[AQ_BOUNDS_MAX], high[AQ_BOUNDS_MAX];
    count = count < AQ_BOUNDS_MAX ? count : AQ_BOUNDS_MAX;
    for (uint32_t i = 0; i < count; i++) {
        low[i] = -0.3f * (float)(i + 1);
        high[i] = 0.7f * (float)(i + 1);
    }
    aq_space_init_box(space, count, low, high);
}

static void add_array(aq_net_spec *spec, const char *name, uint32_t count)
{
    aq_net_array *array = &spec->arrays[spec->array_count++];
    (void)snprintf(array->name, sizeof(array->name), "%s", name);
    array->count = count;
}

/* None, deviations, or what gSDE keeps. */
static aq_net_spec with_arrays(const aq_net_spec *spec, int which, uint32_t elements)
{
    const uint32_t outputs = aq_net_spec_outputs(spec);
    aq_net_spec with = *spec;
    if (which == 1) {
        add_array(&with, "log_deviation", elements);
    } else if (which == 2) {
        add_array(&with, "mean_weight", elements * outputs);
        add_array(&with, "mean_bias", elements);
        add_array(&with, "deviation", elements * outputs);
    }
    return with;
}

bool head_kit_fit(uint32_t kind, aq_net_spec *spec, aq_space *ret_space)
{
    enum { SPACES = 4 };
    const aq_head *head = aq_head_of(head_kit_number(kind));
    const uint32_t outputs = aq_net_spec_outputs(spec);
    aq_space spaces[SPACES] = {0};
    if (kind >= HEAD_KIT_ROW) {
        aq_space_init_choices(ret_space, 2, (uint32_t[]){(outputs + 1) / 2, outputs / 2});
        return head != NULL && head->check(spec, ret_space, NULL) == 0;
    }
    aq_space_init_discrete(&spaces[0], outputs);
    init_box(&spaces[1], outputs);
    init_box(&spaces[2], outputs > 1 ? outputs / 2 : 1);
    init_box(&spaces[3], 1);
    for (int i = 0; i < 3 * SPACES; i++) {
        const aq_space *space = &spaces[i % SPACES];
        const uint32_t elements = (uint32_t)aq_space_elements(space);
        const aq_net_spec with = with_arrays(spec, i / SPACES, elements);
        if (head->check(&with, space, NULL) == 0) {
            *spec = with;
            *ret_space = *space;
            return true;
        }
    }
    return false;
}

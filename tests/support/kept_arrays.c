/*
 * See kept_arrays.h.
 */
#include "tests/support/kept_arrays.h"

#include "tests/support/test.h"

void kept_arrays(size_t count, float *const arrays[4], uint64_t *adam_step,
                 aq_named_arrays *ret_arrays)
{
    static const char *const names[] = {"parameters", "target", "adam_m", "adam_v"};
    ret_arrays->count = 0;
    for (size_t i = 0; i < 4; i++) {
        aq_named_arrays_add(ret_arrays, names[i], AQ_ARRAY_F32, count, arrays[i]);
    }
    aq_named_arrays_add(ret_arrays, "adam_step", AQ_ARRAY_U64, 1, adam_step);
}

float *kept_floats(const aq_named_arrays *arrays, const char *name)
{
    const aq_named_array *array = aq_named_arrays_find(arrays, name);
    assert_non_null(array);
    assert_int_equal(array->type, AQ_ARRAY_F32);
    return array->values;
}

uint64_t kept_adam_step(const aq_named_arrays *arrays)
{
    const aq_named_array *array = aq_named_arrays_find(arrays, "adam_step");
    assert_non_null(array);
    return *(const uint64_t *)array->values;
}

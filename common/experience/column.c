/*
 * Workload: every byte that actors send is looked at once here, so the scans are made for bytes at
 * any alignment and vector registers (finite.c, and the one of choices below).
 */
#include "common/experience/column.h"

#include "common/experience/finite.h"

static int check_floats(const aq_column *column, const uint8_t *values, size_t count,
                        aq_error *error)
{
    const size_t elements = aq_column_stride(column) / sizeof(float);
    const size_t bad = aq_find_nonfinite(values, count * elements);
    if (bad == count * elements) {
        return 0;
    }
    return aq_fail(error, AQ_E_CORRUPT, "%s %zu, element %zu is NaN or infinite", column->name,
                   bad / elements, bad % elements);
}

/* As unsigned numbers, negative choices are large ones. */
static uint32_t choice_at(const uint8_t *values, size_t index)
{
    uint32_t choice;
    memcpy(&choice, values + index * sizeof(choice), sizeof(choice));
    return choice;
}

static inline uint32_t largest_of(const uint8_t *values, size_t count, size_t stride)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t choice = choice_at(values, i * stride);
        largest = choice > largest ? choice : largest;
    }
    return largest;
}

/* Of an element of each value. They are told by their numbers as they lie. */
static int check_choices(const aq_column *column, const uint8_t *values, size_t count,
                         size_t element, aq_error *error)
{
    const uint32_t choices = column->choices[element];
    const size_t elements = column->bytes / sizeof(int32_t), end = count * elements;
    const uint32_t largest = elements == 1
                                 ? largest_of(values, count, 1) /* by vectors */
                                 : largest_of(values + element * sizeof(int32_t), count, elements);
    for (size_t i = element; largest >= choices && i < end; i += elements) {
        const uint32_t choice = choice_at(values, i);
        if (choice >= choices) {
            return aq_fail(error, AQ_E_SCHEMA, "%s %zu is %d; 0 to %u are possible", column->name,
                           i, (int32_t)choice, choices - 1);
        }
    }
    return 0;
}

int aq_column_check(const aq_column *column, const uint8_t *values, size_t count, aq_error *error)
{
    if (column->dtype == AQ_DTYPE_F32) {
        return check_floats(column, values, count, error);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < AQ_BOUNDS_MAX && column->choices[i] > 0; i++) {
        rc = check_choices(column, values, count, i, error);
    }
    return rc;
}

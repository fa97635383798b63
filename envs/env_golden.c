/*
 * Values of a recording, looked up by name. A handful each, so a linear search.
 */
#include "envs/env_golden.h"

#include <string.h>

static const aq_golden_value *find(const aq_golden_values *values, const char *name)
{
    for (size_t i = 0; i < values->count; i++) {
        if (strcmp(values->rows[i].name, name) == 0) {
            return &values->rows[i];
        }
    }
    return NULL;
}

const double *aq_golden_find(const aq_golden_values *values, const char *name, size_t count)
{
    const aq_golden_value *value = find(values, name);
    return value != NULL && value->count == count ? value->numbers : NULL;
}

int aq_golden_check(const aq_golden_values *values, const char *name, size_t count, bool is_needed,
                    aq_error *error)
{
    const aq_golden_value *value = find(values, name);
    if (value == NULL && is_needed) {
        return aq_fail(error, AQ_E_INVALID, "the recording has no '%s'", name);
    }
    if (value != NULL && value->count != count) {
        return aq_fail(error, AQ_E_INVALID, "the recording's '%s' has %zu numbers, not %zu", name,
                       value->count, count);
    }
    return 0;
}

int aq_golden_copy(const aq_golden_values *values, const char *name, size_t count, double *out,
                   aq_error *error)
{
    int rc = aq_golden_check(values, name, count, true, error);
    if (rc == 0) {
        memcpy(out, find(values, name)->numbers, count * sizeof(*out));
    }
    return rc;
}

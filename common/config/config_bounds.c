/*
 * Config bounds: see config_bounds.h.
 */
#include "common/config/config_bounds.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/config/run_config.h"

const aq_setting *aq_config_row(const char *key)
{
    const aq_settings_table *table = aq_run_config_table();
    const aq_setting *found = NULL;
    for (size_t i = 0; found == NULL && i < table->count; i++) {
        if (strcmp(table->rows[i].key, key) == 0) {
            found = &table->rows[i];
        }
    }
    AQ_ASSERT(found != NULL);
    return found;
}

double aq_bounded_number_get(const aq_bounded_number *number, const void *object)
{
    const uint8_t *at = (const uint8_t *)object + number->offset;
    uint32_t u32;
    uint64_t u64;
    double f64 = 0.0;
    switch (number->type) {
    case AQ_NUMBER_U32:
        memcpy(&u32, at, sizeof(u32));
        f64 = u32;
        break;
    case AQ_NUMBER_U64:
        memcpy(&u64, at, sizeof(u64));
        f64 = (double)u64;
        break;
    case AQ_NUMBER_F64:
        memcpy(&f64, at, sizeof(f64));
        break;
    }
    return f64;
}

int aq_bounded_number_check(const aq_bounded_number *number, const char *name, const void *object,
                            aq_error *error)
{
    const aq_setting *row = aq_config_row(number->key);
    const double value = aq_bounded_number_get(number, object);
    if (value >= row->min && value <= row->max) {
        return 0;
    }
    return aq_fail(error, AQ_E_INVALID, "%s is %.17g; %.17g to %.17g are possible",
                   name != NULL ? name : row->key, value, row->min, row->max);
}

/*
 * An array for each recorded column.
 */
#include "actor/core/record.h"

#include <string.h>

#include "common/base/memory.h"

int aq_record_init(aq_record *record, const aq_run_settings *settings, uint32_t lanes)
{
    *record = (aq_record){.count = settings->recorded_count};
    memcpy(record->columns, settings->recorded, sizeof(record->columns));
    for (uint32_t i = 0; i < record->count; i++) {
        record->values[i] = aq_alloc(lanes, record->columns[i].bytes);
        if (record->values[i] == NULL) {
            return AQ_E_NOMEM;
        }
    }
    return 0;
}

void aq_record_fini(aq_record *record)
{
    for (uint32_t i = 0; i < record->count; i++) {
        aq_free(record->values[i]);
    }
    *record = (aq_record){.count = 0};
}

static uint32_t find(const aq_record *record, const char *name)
{
    uint32_t i = 0;
    while (i < record->count && strcmp(record->columns[i].name, name) != 0) {
        i++;
    }
    return i;
}

uint8_t *aq_record_claim(aq_record *record, const char *name, size_t bytes)
{
    const uint32_t i = find(record, name);
    if (i == record->count || record->columns[i].bytes != bytes) {
        return NULL;
    }
    record->claimed |= UINT32_C(1) << i;
    return record->values[i];
}

uint8_t *aq_record_claim_any(aq_record *record, const char *name, uint32_t *ret_bytes)
{
    const uint32_t i = find(record, name);
    *ret_bytes = i < record->count ? record->columns[i].bytes : 0;
    return aq_record_claim(record, name, *ret_bytes);
}

int aq_record_check(const aq_record *record, aq_error *error)
{
    for (uint32_t i = 0; i < record->count; i++) {
        if ((record->claimed & UINT32_C(1) << i) == 0) {
            return aq_fail(error, AQ_E_UNSUPPORTED,
                           "this actor cannot record '%s': it is of another version than its "
                           "learner",
                           record->columns[i].name);
        }
    }
    return 0;
}

void aq_record_put(const aq_record *record, uint32_t lane, aq_step_values *values)
{
    for (uint32_t i = 0; i < record->count; i++) {
        values->of[AQ_COLUMNS_STANDARD + i] =
            record->values[i] + lane * (size_t)record->columns[i].bytes;
    }
}

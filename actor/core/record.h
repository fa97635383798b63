/*
 * Record: room for what a run records of each step besides what every run has. Who makes such
 * values claims the room of their column and writes into it; what nobody claims, this actor cannot
 * record.
 *
 * One thread at a time.
 */
#ifndef AQ_ACTOR_CORE_RECORD_H
#define AQ_ACTOR_CORE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "actor/core/chunker.h"
#include "common/base/error.h"
#include "common/config/run_settings.h"

typedef struct aq_record {
    uint32_t count;
    uint32_t claimed; /* a bit a column */
    aq_column columns[AQ_COLUMNS_RECORDED_MAX];
    uint8_t *values[AQ_COLUMNS_RECORDED_MAX]; /* (lanes) values each, zeroed */
} aq_record;

/* AQ_E_NOMEM. `fini` is due then, too. */
int aq_record_init(aq_record *record, const aq_run_settings *settings, uint32_t lanes) AQ_MUST_USE;
void aq_record_fini(aq_record *record); /* zeroes are fine */

/* Where the values of that column are to be written, one of `bytes` bytes for each lane; NULL when
 * the run does not record it, or as something else. */
uint8_t *aq_record_claim(aq_record *record, const char *name, size_t bytes);

/* The same, however many bytes it has. */
uint8_t *aq_record_claim_any(aq_record *record, const char *name, uint32_t *ret_bytes);

/* AQ_E_UNSUPPORTED, in words, unless all have been claimed. */
int aq_record_check(const aq_record *record, aq_error *error) AQ_MUST_USE;

/* The lane's values, behind the standard ones. */
void aq_record_put(const aq_record *record, uint32_t lane, aq_step_values *values);

#endif

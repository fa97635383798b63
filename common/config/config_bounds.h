/*
 * Config bounds: what a peer says about a run is held to the same bounds as what a person says.
 * They are written down once, in the rows of the configuration; this finds the row and the number.
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_CONFIG_CONFIG_BOUNDS_H
#define AQ_COMMON_CONFIG_CONFIG_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/settings/settings.h"

enum aq_number_type { AQ_NUMBER_U32, AQ_NUMBER_U64, AQ_NUMBER_F64 };

/* A member of some plain struct that comes from a row of the configuration. */
typedef struct aq_bounded_number {
    const char *key; /* of the row: "replay.capacity" */
    enum aq_number_type type;
    size_t offset;
} aq_bounded_number;

/* The row, which must be there. */
const aq_setting *aq_config_row(const char *key);

/* As a double, which is exact below 2^53 and, for what is larger, still out of bounds. */
double aq_bounded_number_get(const aq_bounded_number *number, const void *object);

/* AQ_E_INVALID: "KEY is VALUE; ... are possible", with `name` in the place of the key unless it is
 * NULL. A NaN is out of bounds, too. */
int aq_bounded_number_check(const aq_bounded_number *number, const char *name, const void *object,
                            aq_error *error) AQ_MUST_USE;

#endif

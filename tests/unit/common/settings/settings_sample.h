/*
 * A table with a setting of every type, for the tests of settings.
 */
#ifndef AQ_TESTS_UNIT_COMMON_SETTINGS_SETTINGS_SAMPLE_H
#define AQ_TESTS_UNIT_COMMON_SETTINGS_SETTINGS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/settings/settings.h"

typedef struct sample {
    uint64_t seed;
    char name[16];
    uint64_t capacity;
    double alpha;
    bool durable;
    uint32_t precision;
    double rate;
    char widths[64];
    char url[64];
} sample;

enum { SAMPLE_FP32, SAMPLE_FP16, SAMPLE_INT8 };

extern const aq_settings_table sample_table;

/* With every setting at its default. */
sample sample_defaults(void);

#endif

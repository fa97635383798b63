/*
 * Names of checkpoints' files.
 */
#include "common/wire/checkpoint_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/parse.h"

#define PREFIX "step-"
#define SUFFIX ".aqc"

void aq_checkpoint_name(uint64_t step, char out[AQ_CHECKPOINT_NAME_MAX])
{
    snprintf(out, AQ_CHECKPOINT_NAME_MAX, PREFIX "%012" PRIu64 SUFFIX, step);
}

bool aq_checkpoint_name_step(const char *name, uint64_t *ret_step)
{
    const size_t prefix = strlen(PREFIX), suffix = strlen(SUFFIX);
    const size_t length = strlen(name);
    char digits[AQ_CHECKPOINT_NAME_MAX], canonical[AQ_CHECKPOINT_NAME_MAX];
    uint64_t step;

    if (length <= prefix + suffix || length >= AQ_CHECKPOINT_NAME_MAX) {
        return false;
    }
    memcpy(digits, name + prefix, length - prefix - suffix);
    digits[length - prefix - suffix] = '\0';
    if (aq_parse_u64(digits, &step) != 0) {
        return false;
    }
    aq_checkpoint_name(step, canonical);
    if (strcmp(name, canonical) != 0) {
        return false;
    }
    *ret_step = step;
    return true;
}

/*
 * What the file of a checkpoint is called: "step-000000003000.aqc".
 */
#ifndef AQ_COMMON_WIRE_CHECKPOINT_NAME_H
#define AQ_COMMON_WIRE_CHECKPOINT_NAME_H

#include <stdbool.h>
#include <stdint.h>

enum { AQ_CHECKPOINT_NAME_MAX = 64 };

void aq_checkpoint_name(uint64_t step, char out[AQ_CHECKPOINT_NAME_MAX]);

/* Whether `name` is exactly what one is called; its step then. */
bool aq_checkpoint_name_step(const char *name, uint64_t *ret_step);

#endif

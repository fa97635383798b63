/*
 * Checkpoint view: a checkpoint file, as people and programs want to see it.
 */
#ifndef AQ_CLI_POLICY_CHECKPOINT_VIEW_H
#define AQ_CLI_POLICY_CHECKPOINT_VIEW_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"
#include "common/wire/wire_checkpoint.h"

/* NULL when out of memory. */
json_t *aq_checkpoint_view_json(const aq_checkpoint *checkpoint, size_t file_bytes);

/* The facts below a line that names the file, then a table of layers. AQ_E_NOMEM. */
int aq_checkpoint_view_print(FILE *out, const char *path, const aq_checkpoint *checkpoint,
                             size_t file_bytes) AQ_MUST_USE;

/* "step 3000, 12.3k environment steps, policy version 31" into out[size]; returns out. */
const char *aq_checkpoint_view_line(const aq_checkpoint *checkpoint, char *out, size_t size);

#endif

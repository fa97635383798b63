/*
 * Column catalog: what actors can record of each step besides what every run has. A row for each
 * (docs/adding-a-column.md): the algorithm's class names it, the learner makes the column, and Join
 * describes it to the actors.
 *
 * Plain data. Any thread.
 */
#ifndef AQ_COMMON_EXPERIENCE_COLUMN_CATALOG_H
#define AQ_COMMON_EXPERIENCE_COLUMN_CATALOG_H

#include "common/experience/column.h"
#include "common/experience/schema.h"

/* What a policy keeps from step to step, at each boundary: zeros where an episode begins. It is as
 * wide as the run's network says, so under a schema alone it has no bytes. */
#define AQ_STATE_COLUMN "state"

/* The column of that name under a schema; of no bytes where it has nothing to say there.
 * AQ_E_NOT_FOUND when no row has it. */
int aq_column_find(const char *name, const aq_schema *schema, aq_column *ret_column) AQ_MUST_USE;

/* The columns behind the standard ones in the layout of that hash (AQ_COLUMNS_RECORDED_MAX; *count
 * of them). AQ_E_NOT_FOUND when no columns of the catalog give it. */
int aq_columns_of_hash(const aq_schema *schema, uint64_t hash, aq_column *ret_columns,
                       uint32_t *ret_count) AQ_MUST_USE;

#endif

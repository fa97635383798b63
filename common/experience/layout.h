/*
 * Layout: the columns that every chunk of a run carries, in their order, and how long chunks are.
 * Obs, action, reward and version come first and are always there, so that who needs one of them
 * takes it by its index. What the run's algorithm wants recorded besides follows.
 *
 * Plain data. Any thread.
 */
#ifndef AQ_COMMON_EXPERIENCE_LAYOUT_H
#define AQ_COMMON_EXPERIENCE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/column.h"
#include "common/experience/schema.h"

#define AQ_CHUNK_LENGTH_MAX UINT32_C(65536)
#define AQ_CHUNK_BYTES_MAX  (UINT64_C(1) << 28)

/* An n_step for those who read chunks of any run: whatever a chunk repeats is fine. */
#define AQ_CHUNK_SPAN_ANY UINT32_C(0)

enum {
    AQ_COLUMN_OBS,     /* per boundary */
    AQ_COLUMN_ACTION,  /* per step, as the others */
    AQ_COLUMN_REWARD,  /* float */
    AQ_COLUMN_VERSION, /* uint32: of the policy that chose the action; 0: at random */
    AQ_COLUMNS_STANDARD,
    AQ_COLUMNS_RECORDED_MAX = 4,
    AQ_COLUMNS_MAX = AQ_COLUMNS_STANDARD + AQ_COLUMNS_RECORDED_MAX,
};

#define AQ_COLUMN_BYTES_MAX (UINT32_C(1) << 26) /* of one recorded value */

typedef struct aq_layout {
    uint64_t hash;       /* of the columns; the schema's where none are recorded */
    uint32_t n_step;     /* >= 1; or AQ_CHUNK_SPAN_ANY, to validate only */
    uint32_t length_max; /* transitions a chunk, > n_step - 1 */
    size_t step_bytes;   /* of all columns, for one more step ... */
    size_t first_bytes;  /* ... and for the boundary at which a chunk begins */
    uint32_t column_count;
    aq_column columns[AQ_COLUMNS_MAX];
} aq_layout;

/* AQ_E_INVALID for an n_step or a length_max that cannot work, AQ_E_TOO_BIG for chunks of more than
 * AQ_CHUNK_BYTES_MAX, AQ_E_SCHEMA for a schema that cannot be. */
int aq_layout_init(const aq_schema *schema, uint32_t n_step, uint32_t length_max,
                   aq_layout *ret_layout, aq_error *error) AQ_MUST_USE;

/* Adds columns that are recorded besides. AQ_E_INVALID for one that cannot be, or a name that is
 * there already; AQ_E_TOO_BIG as above. The layout is unchanged then. */
int aq_layout_record(aq_layout *layout, const aq_column *columns, uint32_t count,
                     aq_error *error) AQ_MUST_USE;

/* Of all columns of a chunk of `length` transitions, end to end. */
static inline size_t aq_layout_bytes(const aq_layout *layout, uint32_t length)
{
    return layout->first_bytes + length * layout->step_bytes;
}

#endif

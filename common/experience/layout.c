/*
 * The columns follow from the schema.
 */
#include "common/experience/layout.h"

static aq_column column_of(const char *name, const aq_space *space, uint32_t per)
{
    aq_column column = {
        .dtype = space->kind == AQ_SPACE_DISCRETE ? AQ_DTYPE_I32 : space->dtype,
        .per = per,
        .bytes = (uint32_t)aq_space_bytes(space),
    };
    memcpy(column.name, name, strlen(name));
    return column;
}

static void put_columns(const aq_schema *schema, aq_layout *layout)
{
    layout->columns[AQ_COLUMN_OBS] = column_of("obs", &schema->obs, AQ_PER_BOUNDARY);
    layout->columns[AQ_COLUMN_ACTION] = column_of("action", &schema->action, AQ_PER_STEP);
    layout->columns[AQ_COLUMN_REWARD] = (aq_column){"reward", AQ_DTYPE_F32, AQ_PER_STEP, 4, 0};
    layout->columns[AQ_COLUMN_VERSION] = (aq_column){"version", AQ_DTYPE_U32, AQ_PER_STEP, 4, 0};
    if (schema->action.kind == AQ_SPACE_DISCRETE) {
        layout->columns[AQ_COLUMN_ACTION].choice_count = schema->action.choice_count;
    }
    layout->column_count = AQ_COLUMNS_STANDARD;
    layout->hash = aq_schema_hash(schema);
}

static void add_up(aq_layout *layout)
{
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        layout->step_bytes += column->bytes;
        layout->first_bytes += column->per == AQ_PER_BOUNDARY ? column->bytes : 0;
    }
}

int aq_layout_init(const aq_schema *schema, uint32_t n_step, uint32_t length_max,
                   aq_layout *ret_layout, aq_error *error)
{
    aq_layout layout = {.n_step = n_step, .length_max = length_max};
    int rc = aq_schema_validate(schema, error);
    if (rc != 0) {
        return rc;
    }
    if (n_step < 1) {
        return aq_fail(error, AQ_E_INVALID, "an n-step return of 0 steps is no return");
    }
    if (length_max > AQ_CHUNK_LENGTH_MAX) {
        return aq_fail(error, AQ_E_INVALID, "chunks of %u transitions; at most %u are possible",
                       length_max, AQ_CHUNK_LENGTH_MAX);
    }
    if (length_max < n_step) {
        return aq_fail(error, AQ_E_INVALID,
                       "chunks of %u transitions cannot hold one return over %u steps", length_max,
                       n_step);
    }
    put_columns(schema, &layout);
    add_up(&layout);
    if (aq_layout_bytes(&layout, length_max) > AQ_CHUNK_BYTES_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG,
                       "chunks of %u transitions with steps of %zu bytes take more than %u MiB",
                       length_max, layout.step_bytes, (unsigned)(AQ_CHUNK_BYTES_MAX >> 20));
    }
    *ret_layout = layout;
    return 0;
}

/*
 * The first columns follow from the schema.
 */
#include "common/experience/layout.h"

#include <inttypes.h>

#include "common/base/fnv1a.h"

static aq_column column_of(const char *name, const aq_space *space, uint32_t per)
{
    aq_column column = {
        .dtype = space->kind == AQ_SPACE_DISCRETE ? AQ_DTYPE_I32 : space->dtype,
        .per = per,
        .bytes = (uint32_t)aq_space_bytes(space),
        .frames = aq_frames_of(space),
    };
    memcpy(column.name, name, strlen(name));
    return column;
}

static void put_columns(const aq_schema *schema, aq_layout *layout)
{
    layout->columns[AQ_COLUMN_OBS] = column_of("obs", &schema->obs, AQ_PER_BOUNDARY);
    layout->columns[AQ_COLUMN_ACTION] = column_of("action", &schema->action, AQ_PER_STEP);
    layout->columns[AQ_COLUMN_REWARD] =
        (aq_column){"reward", AQ_DTYPE_F32, AQ_PER_STEP, 4, {0}, {0}};
    layout->columns[AQ_COLUMN_VERSION] =
        (aq_column){"version", AQ_DTYPE_U32, AQ_PER_STEP, 4, {0}, {0}};
    const bool is_discrete = schema->action.kind == AQ_SPACE_DISCRETE;
    for (size_t i = 0; is_discrete && i < aq_space_elements(&schema->action); i++) {
        layout->columns[AQ_COLUMN_ACTION].choices[i] = aq_space_choices(&schema->action, i);
    }
    layout->column_count = AQ_COLUMNS_STANDARD;
    layout->hash = aq_schema_hash(schema);
}

static void add_up(aq_layout *layout)
{
    layout->step_bytes = 0;
    layout->first_bytes = 0;
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        layout->step_bytes += aq_column_stride(column);
        layout->first_bytes += column->per == AQ_PER_BOUNDARY ? column->bytes : 0;
    }
}

static int check_size(const aq_layout *layout, aq_error *error)
{
    if (aq_layout_bytes(layout, layout->length_max) > AQ_CHUNK_BYTES_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG,
                       "chunks of %u transitions with steps of %zu bytes take more than %u MiB",
                       layout->length_max, layout->step_bytes,
                       (unsigned)(AQ_CHUNK_BYTES_MAX >> 20));
    }
    return 0;
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
    rc = check_size(&layout, error);
    if (rc == 0) {
        *ret_layout = layout;
    }
    return rc;
}

/* ---- what is recorded besides ---------------------------------------------------------------- */

static int check_recorded(const aq_layout *layout, const aq_column *column, aq_error *error)
{
    const uint32_t element = column->dtype == AQ_DTYPE_U8 ? 1 : 4;
    const size_t name = strnlen(column->name, sizeof(column->name));
    if (name == 0 || strspn(column->name, "abcdefghijklmnopqrstuvwxyz0123456789_") != name ||
        name > AQ_COLUMN_RECORDED_NAME_MAX) {
        return aq_fail(error, AQ_E_INVALID,
                       "the name of a column is 1 to %d of a to z, 0 to 9 and '_', not '%.*s'",
                       AQ_COLUMN_RECORDED_NAME_MAX, AQ_COLUMN_NAME_MAX, column->name);
    }
    for (uint32_t i = 0; i < layout->column_count; i++) {
        if (strcmp(layout->columns[i].name, column->name) == 0) {
            return aq_fail(error, AQ_E_INVALID, "two columns of the name %s", column->name);
        }
    }
    if (column->dtype < AQ_DTYPE_F32 || column->dtype > AQ_DTYPE_U32 ||
        column->per > AQ_PER_BOUNDARY || column->choices[0] != 0 || column->frames.count != 0 ||
        column->bytes == 0 || column->bytes > AQ_COLUMN_BYTES_MAX || column->bytes % element != 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "column %s: values of %" PRIu32 " bytes of type %" PRIu32 " cannot be",
                       column->name, column->bytes, column->dtype);
    }
    return 0;
}

static uint64_t hash_with(uint64_t hash, const aq_column *column)
{
    for (const char *at = column->name; *at != '\0'; at++) {
        hash = aq_fnv1a_word(hash, (uint8_t)*at);
    }
    hash = aq_fnv1a_word(hash, column->dtype);
    hash = aq_fnv1a_word(hash, column->per);
    return aq_fnv1a_end(aq_fnv1a_word(hash, column->bytes));
}

int aq_layout_record(aq_layout *layout, const aq_column *columns, uint32_t count, aq_error *error)
{
    aq_layout with = *layout;
    if (count > AQ_COLUMNS_MAX - layout->column_count) {
        return aq_fail(error, AQ_E_INVALID, "%" PRIu32 " recorded columns; up to %d are possible",
                       count, AQ_COLUMNS_RECORDED_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        int rc = check_recorded(&with, &columns[i], error);
        if (rc != 0) {
            return rc;
        }
        with.hash = hash_with(with.hash, &columns[i]);
        with.columns[with.column_count++] = columns[i];
    }
    add_up(&with);
    int rc = check_size(&with, error);
    if (rc == 0) {
        *layout = with;
    }
    return rc;
}

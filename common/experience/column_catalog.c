/*
 * The rows, and columns made of them.
 */
#include "common/experience/column_catalog.h"

#include <string.h>

#include "common/experience/layout.h"

/* As wide as a layer may be: AQ_NET_WIDTH_MAX, which stands above this room. */
enum { STATE_BYTES_MAX = 16384 * 4 };

typedef struct catalog_row {
    const char *name;
    uint32_t dtype;                              /* enum aq_dtype */
    uint32_t per;                                /* enum aq_column_per */
    size_t (*elements)(const aq_schema *schema); /* of one value */
} catalog_row;

static size_t one(const aq_schema *schema)
{
    (void)schema;
    return 1;
}

/* A choice is what was drawn. */
static size_t drawn_elements(const aq_schema *schema)
{
    const aq_space *action = &schema->action;
    return action->kind == AQ_SPACE_BOX ? aq_space_elements(action) : 0;
}

static size_t of_network(const aq_schema *schema)
{
    (void)schema;
    return 0;
}

static const catalog_row rows[] = {
    {"log_prob", AQ_DTYPE_F32, AQ_PER_STEP, one},
    {"drawn", AQ_DTYPE_F32, AQ_PER_STEP, drawn_elements},
    {AQ_STATE_COLUMN, AQ_DTYPE_F32, AQ_PER_BOUNDARY, of_network},
    {NULL, 0, 0, NULL}, /* the end */
};

int aq_column_find(const char *name, const aq_schema *schema, aq_column *ret_column)
{
    const catalog_row *row = rows;
    while (row->name != NULL && strcmp(row->name, name) != 0) {
        row++;
    }
    if (row->name == NULL) {
        return AQ_E_NOT_FOUND;
    }
    const size_t element_bytes = row->dtype == AQ_DTYPE_U8 ? 1 : 4;
    aq_column column = {.dtype = row->dtype, .per = row->per};
    memcpy(column.name, row->name, strlen(row->name));
    column.bytes = (uint32_t)(row->elements(schema) * element_bytes);
    *ret_column = column;
    return 0;
}

/* A state is the last column, of any width. */
static bool completes_by_state(const aq_schema *schema, uint64_t hash, const aq_layout *layout,
                               aq_layout *ret_layout)
{
    aq_column state;
    int rc = aq_column_find(AQ_STATE_COLUMN, schema, &state);
    for (state.bytes = 4; rc == 0 && state.bytes <= STATE_BYTES_MAX; state.bytes += 4) {
        aq_layout with = *layout;
        rc = aq_layout_record(&with, &state, 1, NULL);
        if (rc == 0 && with.hash == hash) {
            *ret_layout = with;
            return true;
        }
    }
    return false;
}

/* Tries each column of the catalog behind those that `layout` has. */
static bool completes(const aq_schema *schema, uint64_t hash, const aq_layout *layout,
                      aq_layout *ret_layout)
{
    if (layout->hash == hash) {
        *ret_layout = *layout;
        return true;
    }
    for (const catalog_row *row = rows; row->name != NULL; row++) {
        aq_layout with = *layout;
        aq_column column;
        if (aq_column_find(row->name, schema, &column) == 0 && column.bytes > 0 &&
            aq_layout_record(&with, &column, 1, NULL) == 0 &&
            completes(schema, hash, &with, ret_layout)) {
            return true;
        }
    }
    return completes_by_state(schema, hash, layout, ret_layout);
}

int aq_columns_of_hash(const aq_schema *schema, uint64_t hash, aq_column *ret_columns,
                       uint32_t *ret_count)
{
    aq_layout layout;
    int rc = aq_layout_init(schema, 1, 1, &layout, NULL);
    if (rc != 0) {
        return rc;
    }
    if (!completes(schema, hash, &layout, &layout)) {
        return AQ_E_NOT_FOUND;
    }
    *ret_count = layout.column_count - AQ_COLUMNS_STANDARD;
    memcpy(ret_columns, layout.columns + AQ_COLUMNS_STANDARD, *ret_count * sizeof(*ret_columns));
    return 0;
}

/*
 * The rows, and columns made of them.
 */
#include "common/experience/column_catalog.h"

#include <string.h>

typedef struct catalog_row {
    const char *name;
    uint32_t dtype;                              /* enum aq_dtype */
    uint32_t per;                                /* enum aq_column_per */
    size_t (*elements)(const aq_schema *schema); /* of one value */
} catalog_row;

static const catalog_row rows[] = {
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

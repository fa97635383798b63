/*
 * Text table: rows of cells in columns that are as wide as they need to be. For people; a header
 * line, then one line a row. One thread.
 */
#ifndef AQ_CLI_TEXT_TEXT_TABLE_H
#define AQ_CLI_TEXT_TEXT_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"

enum { AQ_TABLE_COLUMNS_MAX = 32, AQ_TABLE_CELL_BYTES = 80, AQ_TABLE_ROWS_MAX = 65536 };

enum aq_table_align { AQ_TABLE_LEFT, AQ_TABLE_RIGHT };

typedef struct aq_table_column {
    const char *name;
    enum aq_table_align align;
} aq_table_column;

typedef struct aq_text_table {
    const aq_table_column *columns; /* lent */
    size_t column_count, row_count;
    size_t capacity; /* rows */
    size_t next;     /* cell of the last row to be filled */
    struct aq_table_cell *cells;
    int rc; /* of the row that failed: the writer asks once, in the end */
} aq_text_table;

/* 1 to AQ_TABLE_COLUMNS_MAX columns, and one without a name behind the last. */
void aq_text_table_begin(aq_text_table *table, const aq_table_column *columns);

/* Begins a row. A cell that is left out or empty shows as "-". */
void aq_text_table_row(aq_text_table *table);

/* Fills the row's next cell; it is made plain (plain_text.h) and cut to AQ_TABLE_CELL_BYTES - 1. */
void aq_text_table_cell(aq_text_table *table, const char *format, ...) AQ_PRINTF(2, 3);

/* Fills the row's last cell with a text that is lent until the table ends, which is printed whole:
 * of a column on the left, which is the table's last. */
void aq_text_table_whole(aq_text_table *table, const char *text);

/* Prints the table, unless `out` is NULL or there are no rows, and frees it. Two blanks before each
 * line and between columns, none at the ends of lines. AQ_E_NOMEM, AQ_E_FULL beyond
 * AQ_TABLE_ROWS_MAX: nothing is printed. */
int aq_text_table_end(aq_text_table *table, FILE *out) AQ_MUST_USE;

#endif

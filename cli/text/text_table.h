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
    const char *name; /* lent */
    enum aq_table_align align;
} aq_table_column;

typedef struct aq_text_table aq_text_table;

/* 1 to AQ_TABLE_COLUMNS_MAX columns, up to `rows_max` rows (at most AQ_TABLE_ROWS_MAX). */
int aq_text_table_create(const aq_table_column *columns, size_t column_count, size_t rows_max,
                         aq_text_table **ret_table) AQ_MUST_USE;
void aq_text_table_destroy(aq_text_table *table); /* NULL is fine */

/* Begins a row; past rows_max is an assertion. A cell that is left out or empty shows as "-". */
void aq_text_table_row(aq_text_table *table);

/* Fills the row's next cell; it is made plain (plain_text.h) and cut to AQ_TABLE_CELL_BYTES - 1. */
void aq_text_table_cell(aq_text_table *table, const char *format, ...) AQ_PRINTF(2, 3);

/* Two blanks before each line and between columns, none at the ends of lines. */
void aq_text_table_print(const aq_text_table *table, FILE *out);

#endif

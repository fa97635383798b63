/*
 * Text table: see text_table.h. Cells have a fixed size, so that a table is one block.
 */
#include "cli/text/text_table.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/growing.h"
#include "common/base/memory.h"
#include "common/base/plain_text.h"

typedef struct aq_table_cell {
    char text[AQ_TABLE_CELL_BYTES];
    const char *whole; /* in its place, behind all others */
} table_cell;

void aq_text_table_begin(aq_text_table *table, const aq_table_column *columns)
{
    *table = (aq_text_table){.columns = columns};
    while (columns[table->column_count].name != NULL) {
        table->column_count++;
    }
    AQ_ASSERT(table->column_count >= 1);
    AQ_ASSERT(table->column_count <= AQ_TABLE_COLUMNS_MAX);
}

void aq_text_table_row(aq_text_table *table)
{
    const size_t row_bytes = table->column_count * sizeof(table_cell);
    if (table->rc == 0) {
        table->rc = aq_grow(&table->cells, &table->capacity, table->row_count, row_bytes,
                            AQ_TABLE_ROWS_MAX);
    }
    if (table->rc == 0) {
        memset(table->cells + table->row_count * table->column_count, 0, row_bytes);
        table->row_count++;
        table->next = 0;
    }
}

static table_cell *next_cell(aq_text_table *table)
{
    AQ_ASSERT(table->row_count > 0);
    AQ_ASSERT(table->next < table->column_count);
    return &table->cells[(table->row_count - 1) * table->column_count + table->next++];
}

void aq_text_table_whole(aq_text_table *table, const char *text)
{
    if (table->rc == 0) {
        next_cell(table)->whole = text;
        AQ_ASSERT(table->next == table->column_count);
        AQ_ASSERT(table->columns[table->column_count - 1].align == AQ_TABLE_LEFT);
    }
}

void aq_text_table_cell(aq_text_table *table, const char *format, ...)
{
    if (table->rc != 0) {
        return;
    }
    table_cell *cell = next_cell(table);
    char raw[4 * AQ_TABLE_CELL_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    (void)aq_plain_text(cell->text, sizeof(cell->text), raw);
}

static const char *cell_text(const aq_text_table *table, size_t row, size_t column)
{
    const char *text = table->cells[row * table->column_count + column].text;
    return text[0] != '\0' ? text : "-";
}

static size_t column_width(const aq_text_table *table, size_t column)
{
    size_t width = aq_plain_columns(table->columns[column].name);
    for (size_t row = 0; row < table->row_count; row++) {
        size_t columns = aq_plain_columns(cell_text(table, row, column));
        width = columns > width ? columns : width;
    }
    return width;
}

static void print_blanks(FILE *out, size_t count)
{
    (void)fprintf(out, "%*s", (int)count, "");
}

static void print_cell(const aq_text_table *table, size_t column, size_t width, const char *text,
                       FILE *out)
{
    size_t padding = width - aq_plain_columns(text);
    print_blanks(out, 2);
    if (table->columns[column].align == AQ_TABLE_RIGHT) {
        print_blanks(out, padding);
        (void)fputs(text, out);
    } else {
        (void)fputs(text, out);
        print_blanks(out, column + 1 < table->column_count ? padding : 0);
    }
}

static void print(const aq_text_table *table, FILE *out)
{
    size_t widths[AQ_TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = column_width(table, i);
        print_cell(table, i, widths[i], table->columns[i].name, out);
    }
    (void)fputc('\n', out);
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            const char *whole = table->cells[row * table->column_count + i].whole;
            if (whole != NULL) {
                char plain[PATH_MAX];
                (void)fprintf(out, "  %s", aq_plain_text(plain, sizeof(plain), whole));
            } else {
                print_cell(table, i, widths[i], cell_text(table, row, i), out);
            }
        }
        (void)fputc('\n', out);
    }
}

int aq_text_table_end(aq_text_table *table, FILE *out)
{
    const int rc = table->rc;
    if (rc == 0 && out != NULL && table->row_count > 0) {
        print(table, out);
    }
    aq_free(table->cells);
    return rc;
}

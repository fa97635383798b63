/*
 * Tables line up, whatever is in their cells.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/text/text_table.h"
#include "common/base/memory.h"
#include "tests/support/test.h"

static const aq_table_column columns[] = {
    {"name", AQ_TABLE_LEFT}, {"count", AQ_TABLE_RIGHT}, {"note", AQ_TABLE_LEFT}};

static aq_text_table *make(size_t rows_max)
{
    aq_text_table *table = NULL;
    assert_int_equal(aq_text_table_create(columns, 3, rows_max, &table), 0);
    return table;
}

static void assert_prints(const aq_text_table *table, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    aq_text_table_print(table, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

TEST(a_table_without_rows_is_its_head)
{
    aq_text_table *table = make(0);
    assert_prints(table, "  name  count  note\n");
    aq_text_table_destroy(table);
}

TEST(columns_are_as_wide_as_their_widest_cell)
{
    aq_text_table *table = make(2);
    aq_text_table_row(table);
    aq_text_table_cell(table, "actor");
    aq_text_table_cell(table, "%d", 1234567);
    aq_text_table_cell(table, "x");
    aq_text_table_row(table);
    aq_text_table_cell(table, "a");
    aq_text_table_cell(table, "5");
    aq_text_table_cell(table, "yy");
    assert_prints(table, "  name     count  note\n"
                         "  actor  1234567  x\n"
                         "  a            5  yy\n");
    aq_text_table_destroy(table);
}

TEST(cells_left_out_show_as_dashes)
{
    aq_text_table *table = make(1);
    aq_text_table_row(table);
    aq_text_table_cell(table, "%s", "");
    assert_prints(table, "  name  count  note\n"
                         "  -         -  -\n");
    aq_text_table_destroy(table);
}

TEST(characters_of_several_bytes_take_one_column)
{
    aq_text_table *table = make(1);
    aq_text_table_row(table);
    aq_text_table_cell(table, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
    aq_text_table_cell(table, "1");
    assert_prints(table, "  name   count  note\n"
                         "  \xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4      1  -\n");
    aq_text_table_destroy(table);
}

TEST(a_cell_is_made_plain_and_cut)
{
    char longer[AQ_TABLE_CELL_BYTES + 40];
    char expected[2 * sizeof(longer)];
    aq_text_table *table = make(1);
    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    aq_text_table_row(table);
    aq_text_table_cell(table, "b\033[2J");
    aq_text_table_cell(table, "1");
    aq_text_table_cell(table, "%s", longer);
    longer[AQ_TABLE_CELL_BYTES - 1] = '\0';
    (void)snprintf(expected, sizeof(expected), "  name   count  note\n  b?[2J      1  %s\n",
                   longer);
    assert_prints(table, expected);
    aq_text_table_destroy(table);
}

TEST(without_memory_there_is_no_table)
{
    for (uint64_t nth = 1; nth <= 2; nth++) {
        aq_text_table *table = NULL;
        aq_memory_fail_at(nth, 0);
        assert_int_equal(aq_text_table_create(columns, 3, 10, &table), AQ_E_NOMEM);
        aq_memory_fail_at(0, 0);
        assert_null(table);
    }
    aq_text_table_destroy(NULL);
}

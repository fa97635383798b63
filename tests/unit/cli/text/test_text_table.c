/*
 * Tables line up, whatever is in their cells.
 */
#include "cli/text/text_table.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static const aq_table_column columns[] = {
    {"name", AQ_TABLE_LEFT}, {"count", AQ_TABLE_RIGHT}, {"note", AQ_TABLE_LEFT}};

TEST_ENDING(end_table, aq_text_table_destroy);

static aq_text_table *make(size_t rows_max)
{
    aq_text_table *table = NULL;
    assert_int_equal(aq_text_table_create(columns, 3, rows_max, &table), 0);
    at_end(end_table, table);
    return table;
}

static void assert_prints(const aq_text_table *table, const char *expected)
{
    aq_text_table_print(table, cli_print_begin());
    assert_string_equal(cli_print_end(), expected);
}

TEST(a_table_without_rows_is_its_head)
{
    aq_text_table *table = make(0);
    assert_prints(table, "  name  count  note\n");
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
}

TEST(cells_left_out_show_as_dashes)
{
    aq_text_table *table = make(1);
    aq_text_table_row(table);
    aq_text_table_cell(table, "%s", "");
    assert_prints(table, "  name  count  note\n"
                         "  -         -  -\n");
}

TEST(characters_of_several_bytes_take_one_column)
{
    aq_text_table *table = make(1);
    aq_text_table_row(table);
    aq_text_table_cell(table, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
    aq_text_table_cell(table, "1");
    assert_prints(table, "  name   count  note\n"
                         "  \xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4      1  -\n");
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
}

TEST(without_memory_there_is_no_table)
{
    aq_text_table *table;
    assert_made_despite_failures(table, aq_text_table_create(columns, 3, 10, &table));
    aq_text_table_destroy(table);
    aq_text_table_destroy(NULL);
}

/*
 * Tables line up, whatever is in their cells.
 */
#include "cli/text/text_table.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static const aq_table_column columns[] = {
    {"name", AQ_TABLE_LEFT}, {"count", AQ_TABLE_RIGHT}, {"note", AQ_TABLE_LEFT}, {NULL}};

static aq_text_table *begin(void)
{
    static aq_text_table table;
    aq_text_table_begin(&table, columns);
    return &table;
}

static void assert_prints(aq_text_table *table, const char *expected)
{
    assert_int_equal(aq_text_table_end(table, cli_print_begin()), 0);
    assert_string_equal(cli_print_end(), expected);
}

TEST(a_table_without_rows_is_nothing)
{
    assert_prints(begin(), "");
}

TEST(columns_are_as_wide_as_their_widest_cell)
{
    aq_text_table *table = begin();
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

/* A path that is cut names another file, or none. */
TEST(the_last_cell_may_be_printed_whole)
{
    enum { LENGTH = 2 * AQ_TABLE_CELL_BYTES };
    char path[LENGTH + 1], expected[LENGTH + 64];
    memset(path, 'p', LENGTH);
    path[LENGTH - 1] = '\n';
    path[LENGTH] = '\0';
    aq_text_table *table = begin();
    aq_text_table_row(table);
    aq_text_table_cell(table, "a");
    aq_text_table_cell(table, "5");
    aq_text_table_whole(table, path);
    path[LENGTH - 1] = '?';
    (void)snprintf(expected, sizeof(expected), "  name  count  note\n  a         5  %s\n", path);
    path[LENGTH - 1] = '\n';
    assert_prints(table, expected);
}

TEST(cells_left_out_show_as_dashes)
{
    aq_text_table *table = begin();
    aq_text_table_row(table);
    aq_text_table_cell(table, "%s", "");
    assert_prints(table, "  name  count  note\n"
                         "  -         -  -\n");
}

TEST(characters_of_several_bytes_take_one_column)
{
    aq_text_table *table = begin();
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
    aq_text_table *table = begin();
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

TEST(a_table_that_is_not_wanted_is_freed)
{
    aq_text_table *table = begin();
    aq_text_table_row(table);
    assert_int_equal(aq_text_table_end(table, NULL), 0);
}

TEST(without_memory_nothing_is_printed)
{
    int rc = AQ_E_NOMEM;
    EACH_ALLOCATION_FAILS(rc) {
        aq_text_table *table = begin();
        for (int i = 0; i < 10; i++) {
            aq_text_table_row(table);
            aq_text_table_cell(table, "%d", i);
        }
        rc = aq_text_table_end(table, cli_print_begin());
        assert_true((cli_print_end()[0] == '\0') == (rc != 0));
    }
    assert_int_equal(rc, 0);
}

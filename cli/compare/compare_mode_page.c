/*
 * Compare mode page: see compare_mode_page.h. A table is made once, as cells, whatever shows it.
 */
#include "cli/compare/compare_mode_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/compare/compare_mode_figures.h"
#include "cli/compare/compare_scaling.h"
#include "cli/text/figure_text.h"
#include "cli/text/html_page.h"
#include "cli/text/text_table.h"

enum { CELL_BYTES = 64, COLUMNS_MAX = 16, BINS_SHOWN = 8 };

typedef struct grid {
    const char *caption;
    size_t columns;
    char titles[COLUMNS_MAX][CELL_BYTES];
    char cells[AQ_COMPARE_ARMS_MAX][COLUMNS_MAX][CELL_BYTES];
} grid;

static void begin(grid *made, const char *caption)
{
    *made = (grid){.caption = caption, .columns = 1};
    (void)snprintf(made->titles[0], CELL_BYTES, "%s", aq_compare_subject_name(AQ_COMPARE_MODES));
}

/* ---- what they hold ------------------------------------------------------------------------- */

static void fill_figures(const aq_compare_summary *summary, enum aq_mode_table table, grid *made)
{
    begin(made, aq_mode_table_caption(table));
    for (size_t i = 0; i < aq_mode_figure_count(); i++) {
        const aq_mode_figure *figure = aq_mode_figure_at(i);
        if (figure->table != table) {
            continue;
        }
        const size_t column = made->columns++;
        (void)snprintf(made->titles[column], CELL_BYTES, "%s", figure->title);
        for (size_t row = 0; row < summary->plan->arm_count; row++) {
            (void)aq_mode_figure_text(figure, &summary->rows[row], made->cells[row][column],
                                      CELL_BYTES);
        }
    }
}

/* Bins from the last shown one on are one. */
static void fill_behind(const aq_compare_summary *summary, grid *made)
{
    aq_figure room;
    begin(made, "How many versions what was learned from was behind: share of the rows (of the "
                "gradients, where actors push them).");
    for (size_t bin = 0; bin < BINS_SHOWN; bin++) {
        const size_t column = made->columns++;
        const int first = bin == 0 ? 0 : 1 << (bin - 1), last = bin == 0 ? 0 : (1 << bin) - 1;
        (void)snprintf(made->titles[column], CELL_BYTES,
                       bin + 1 == BINS_SHOWN ? "%d and more"
                       : first == last       ? "%d"
                                             : "%d to %d",
                       first, last);
        for (size_t row = 0; row < summary->plan->arm_count; row++) {
            const double *behind = summary->rows[row].behind;
            double share = behind[bin];
            for (size_t i = BINS_SHOWN; bin + 1 == BINS_SHOWN && i < AQ_CURVE_BINS; i++) {
                share += behind[i];
            }
            (void)snprintf(made->cells[row][column], CELL_BYTES, "%s",
                           aq_figure_share(&room, share));
        }
    }
}

static void fill_scaling(const aq_compare_summary *summary, grid *made)
{
    begin(made, "Efficiency of so many side by side, 1 where each does as much as one alone: "
                "measured, on the processors that there were, or by the model, where each actor "
                "and rank of what was measured could have one of its own.");
    for (size_t point = 0; point < AQ_SCALING_POINTS; point++) {
        const uint64_t parallel = aq_scaling_parallel(point);
        const size_t column = made->columns++;
        (void)snprintf(made->titles[column], CELL_BYTES, "%" PRIu64, parallel);
        for (size_t row = 0; row < summary->plan->request.name_count; row++) {
            const aq_scaling at = aq_compare_scaling(summary, row, parallel);
            (void)snprintf(made->cells[row][column], CELL_BYTES,
                           isnan(at.efficiency) ? "-"
                           : at.is_model        ? "%.2f (model)"
                                                : "%.2f",
                           at.efficiency);
        }
    }
}

/* The tables of figures, then staleness and scaling. False after the last. */
static bool fill(const aq_compare_summary *summary, size_t table, grid *made, size_t *ret_rows)
{
    *ret_rows = summary->plan->arm_count;
    if (table > AQ_MODE_TABLE_COUNT + 1) {
        return false;
    }
    if (table < AQ_MODE_TABLE_COUNT) {
        fill_figures(summary, (enum aq_mode_table)table, made);
    } else if (table == AQ_MODE_TABLE_COUNT) {
        fill_behind(summary, made);
    } else {
        fill_scaling(summary, made);
        *ret_rows = summary->plan->request.name_count;
    }
    for (size_t row = 0; row < *ret_rows; row++) {
        (void)snprintf(made->cells[row][0], CELL_BYTES, "%s", summary->plan->arms[row].name);
    }
    return true;
}

/* ---- how they are shown --------------------------------------------------------------------- */

/* A terminal has no sign for it. */
static void add_cell(aq_long_text *out, const char *text)
{
    const char *sign = strstr(text, "+-");
    aq_long_text_add(out, "<td>%.*s%s%s</td>", (int)(sign != NULL ? sign - text : CELL_BYTES), text,
                     sign != NULL ? "\u00b1" : "", sign != NULL ? sign + 2 : "");
}

static void add_grid(const grid *made, size_t rows, aq_long_text *out)
{
    aq_html_table_begin(out, made->caption);
    for (size_t i = 0; i < made->columns; i++) {
        aq_long_text_add(out, "<th>%s</th>", made->titles[i]);
    }
    aq_html_table_rows(out);
    for (size_t row = 0; row < rows; row++) {
        aq_long_text_add(out, "<tr>");
        for (size_t i = 0; i < made->columns; i++) {
            add_cell(out, made->cells[row][i]);
        }
        aq_long_text_add(out, "</tr>\n");
    }
    aq_html_table_end(out);
}

void aq_compare_mode_tables(const aq_compare_summary *summary, aq_long_text *out)
{
    grid made;
    size_t rows;
    for (size_t table = 0; fill(summary, table, &made, &rows); table++) {
        add_grid(&made, rows, out);
    }
    aq_html_methods_begin(out);
    for (size_t i = 0; i < aq_mode_figure_count(); i++) {
        const aq_mode_figure *figure = aq_mode_figure_at(i);
        if (figure->method != NULL) {
            aq_html_method(out, figure->title, figure->method);
        }
    }
    aq_html_methods_end(out);
}

static int print_grid(const grid *made, size_t rows, bool is_first, FILE *out)
{
    aq_table_column columns[COLUMNS_MAX + 1] = {{NULL}};
    aq_text_table table;
    for (size_t i = 0; i < made->columns; i++) {
        columns[i] = (aq_table_column){made->titles[i], i == 0 ? AQ_TABLE_LEFT : AQ_TABLE_RIGHT};
    }
    aq_text_table_begin(&table, columns);
    for (size_t row = 0; row < rows; row++) {
        aq_text_table_row(&table);
        for (size_t i = 0; i < made->columns; i++) {
            aq_text_table_cell(&table, "%s", made->cells[row][i]);
        }
    }
    (void)fprintf(out, "%s%s\n\n", is_first ? "" : "\n", made->caption);
    return aq_text_table_end(&table, out);
}

int aq_compare_mode_print(const aq_compare_summary *summary, FILE *out)
{
    grid made;
    size_t rows;
    int rc = 0;
    for (size_t table = 0; rc == 0 && fill(summary, table, &made, &rows); table++) {
        rc = print_grid(&made, rows, table == 0, out);
    }
    return rc;
}

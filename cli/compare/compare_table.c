/*
 * Compare table: see compare_table.h. A table is made once, as cells, whatever shows it.
 */
#include "cli/compare/compare_table.h"

#include <inttypes.h>
#include <math.h>

#include "cli/compare/compare_columns.h"
#include "cli/compare/compare_scaling.h"
#include "cli/text/figure_text.h"
#include "cli/text/html_page.h"
#include "cli/text/text_table.h"
#include "common/base/plain_text.h"

#define TABLE_HEAD(table, subject, caption) {subject, caption},

enum { STATE_BYTES = 512, COLUMNS_MAX = 12, TITLE_BYTES = 32, BINS_SHOWN = 8 };

typedef struct grid {
    enum aq_compare_place place; /* the page or the terminal */
    const char *caption;
    size_t rows, columns;
    bool is_words[COLUMNS_MAX]; /* which stand on the left */
    char titles[COLUMNS_MAX][TITLE_BYTES];
    char cells[AQ_COMPARE_ARMS_MAX][COLUMNS_MAX][STATE_BYTES];
} grid;

/* ---- what they hold ------------------------------------------------------------------------- */

static void fill_columns(const aq_compare_summary *summary, enum aq_compare_table table, grid *made)
{
    const enum aq_compare_subject subject = summary->plan->request.subject;
    const aq_compare_column *column = NULL;
    while ((column = aq_compare_column_next(subject, made->place, column)) != NULL) {
        if (column->table != table) {
            continue;
        }
        const bool is_short = made->place == AQ_ON_TERMINAL && column->short_title != NULL;
        const size_t at = made->columns++;
        made->is_words[at] = aq_compare_kind_stored(column->kind) == AQ_STORED_WORDS;
        (void)snprintf(made->titles[at], TITLE_BYTES, "%s",
                       is_short ? column->short_title : column->title);
        for (size_t row = 0; row < made->rows; row++) {
            aq_compare_column_text(column, summary, &summary->rows[row], made->place,
                                   made->cells[row][at], STATE_BYTES);
        }
    }
}

/* Bins from the last shown one on are one. */
static void fill_behind(const aq_compare_summary *summary, grid *made)
{
    aq_figure room;
    for (size_t bin = 0; bin < BINS_SHOWN; bin++) {
        const size_t column = made->columns++;
        const int first = bin == 0 ? 0 : 1 << (bin - 1), last = bin == 0 ? 0 : (1 << bin) - 1;
        (void)snprintf(made->titles[column], TITLE_BYTES,
                       bin + 1 == BINS_SHOWN ? "%d and more"
                       : first == last       ? "%d"
                                             : "%d to %d",
                       first, last);
        for (size_t row = 0; row < made->rows; row++) {
            const double *behind = summary->rows[row].behind;
            double share = behind[bin];
            for (size_t i = BINS_SHOWN; bin + 1 == BINS_SHOWN && i < AQ_CURVE_BINS; i++) {
                share += behind[i];
            }
            (void)snprintf(made->cells[row][column], STATE_BYTES, "%s",
                           aq_figure_share(&room, share));
        }
    }
}

static void fill_scaling(const aq_compare_summary *summary, grid *made)
{
    made->rows = summary->plan->request.name_count;
    for (size_t point = 0; point < AQ_SCALING_POINTS; point++) {
        const uint64_t parallel = aq_scaling_parallel(point);
        const size_t column = made->columns++;
        (void)snprintf(made->titles[column], TITLE_BYTES, "%" PRIu64, parallel);
        for (size_t row = 0; row < made->rows; row++) {
            const aq_scaling at = aq_compare_scaling(summary, row, parallel);
            (void)snprintf(made->cells[row][column], STATE_BYTES,
                           isnan(at.efficiency) ? "-"
                           : at.is_model        ? "%.2f (model)"
                                                : "%.2f",
                           at.efficiency);
        }
    }
}

static const struct {
    enum aq_compare_subject subject;
    const char *caption;
} tables[] = {AQ_COMPARE_TABLES(TABLE_HEAD)};

/* The subject's next table from *table on, which becomes the one behind; false: there is none. */
static bool fill(const aq_compare_summary *summary, enum aq_compare_place place, size_t *table,
                 grid *made)
{
    const aq_compare_plan *plan = summary->plan;
    while (*table < AQ_COMPARE_TABLE_COUNT && tables[*table].subject != plan->request.subject) {
        (*table)++;
    }
    if (*table == AQ_COMPARE_TABLE_COUNT) {
        return false;
    }
    *made = (grid){.place = place,
                   .caption = tables[*table].caption,
                   .rows = plan->arm_count,
                   .columns = 1,
                   .is_words = {true}};
    (void)snprintf(made->titles[0], TITLE_BYTES, "%s",
                   aq_compare_subject_name(plan->request.subject));
    for (size_t row = 0; row < made->rows; row++) {
        (void)snprintf(made->cells[row][0], STATE_BYTES, "%s", plan->arms[row].name);
    }
    const enum aq_compare_table at = (*table)++;
    if (at == AQ_MODE_BEHIND) {
        fill_behind(summary, made);
    } else if (at == AQ_MODE_SCALING) {
        fill_scaling(summary, made);
    } else {
        fill_columns(summary, at, made);
    }
    return true;
}

/* ---- on the page ---------------------------------------------------------------------------- */

static void add_grid(const grid *made, aq_long_text *out)
{
    aq_html_table_begin(out, made->caption);
    for (size_t i = 0; i < made->columns; i++) {
        aq_long_text_add(out, made->is_words[i] ? "<th class=\"words\">%s</th>" : "<th>%s</th>",
                         made->titles[i]);
    }
    aq_html_table_rows(out);
    for (size_t row = 0; row < made->rows; row++) {
        aq_long_text_add(out, "<tr>");
        for (size_t i = 0; i < made->columns; i++) {
            (made->is_words[i] ? aq_html_words : aq_html_figure)(out, made->cells[row][i]);
        }
        aq_long_text_add(out, "</tr>\n");
    }
    aq_html_table_end(out);
}

void aq_compare_table_add(const aq_compare_summary *summary, aq_long_text *out)
{
    const enum aq_compare_subject subject = summary->plan->request.subject;
    const aq_compare_column *column = NULL;
    grid made;
    for (size_t table = 0; fill(summary, AQ_ON_PAGE, &table, &made);) {
        add_grid(&made, out);
    }
    aq_html_methods_begin(out);
    while ((column = aq_compare_column_next(subject, AQ_IN_ANY, column)) != NULL) {
        if (column->method != NULL) {
            aq_html_method(out, column->title, column->method);
        }
    }
    aq_html_methods_end(out);
}

/* ---- on a terminal -------------------------------------------------------------------------- */

static int print_grid(const grid *made, FILE *out)
{
    aq_table_column columns[COLUMNS_MAX + 1] = {0};
    aq_text_table table;
    for (size_t i = 0; i < made->columns; i++) {
        columns[i] =
            (aq_table_column){made->titles[i], made->is_words[i] ? AQ_TABLE_LEFT : AQ_TABLE_RIGHT};
    }
    aq_text_table_begin(&table, columns);
    for (size_t row = 0; row < made->rows; row++) {
        aq_text_table_row(&table);
        for (size_t i = 0; i < made->columns; i++) {
            aq_text_table_cell(&table, "%s", made->cells[row][i]);
        }
    }
    return aq_text_table_end(&table, out);
}

/* Captions of precisions speak of columns that only the page has; a terminal goes without. */
static int print_tables(const aq_compare_summary *summary, FILE *out)
{
    const bool has_captions = summary->plan->request.subject == AQ_COMPARE_MODES;
    const char *between = "";
    grid made;
    int rc = 0;
    for (size_t table = 0; rc == 0 && fill(summary, AQ_ON_TERMINAL, &table, &made);) {
        (void)fprintf(out, "%s%s%s", between, has_captions ? made.caption : "",
                      has_captions ? "\n\n" : "");
        between = "\n";
        rc = print_grid(&made, out);
    }
    return rc;
}

static void print_methods(FILE *out)
{
    const aq_compare_column *column = NULL;
    (void)fprintf(out, "\n");
    while ((column = aq_compare_column_next(AQ_COMPARE_PRECISIONS, AQ_IN_ANY, column)) != NULL) {
        if (column->method != NULL) {
            (void)fprintf(out, "  %-13s %s\n", column->title, column->method);
        }
    }
}

int aq_compare_table_print(const aq_compare_summary *summary, FILE *out)
{
    char state[STATE_BYTES], plain[STATE_BYTES];
    const aq_compare_plan *plan = summary->plan;
    aq_figure room;
    (void)fprintf(out, "\n%s, preset %s, %" PRIu64 " seed%s; threshold %s (%s)\n\n",
                  plan->config.task, plan->config.preset, plan->seeds, plan->seeds == 1 ? "" : "s",
                  aq_figure_number(&room, summary->threshold), aq_compare_threshold_words(summary));
    int rc = print_tables(summary, out);
    for (size_t i = 0; rc == 0 && i < plan->arm_count; i++) {
        const aq_compare_row *row = &summary->rows[i];
        if (aq_compare_row_has_state(summary, row)) {
            (void)aq_compare_row_state(summary, row, state, sizeof(state));
            (void)fprintf(out, "\n  %s: %s\n", row->arm->name,
                          aq_plain_text(plain, sizeof(plain), state));
        }
    }
    if (rc == 0 && plan->request.subject == AQ_COMPARE_PRECISIONS) {
        print_methods(out);
    }
    return rc;
}

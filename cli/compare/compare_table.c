/*
 * Compare table: see compare_table.h. Two tables, as one line would not fit a terminal: what was
 * reached and when, and what it took.
 */
#include "cli/compare/compare_table.h"

#include <inttypes.h>
#include <math.h>

#include "cli/compare/compare_mode_page.h"
#include "cli/compare/compare_words.h"
#include "cli/text/figure_text.h"
#include "cli/text/text_table.h"
#include "common/base/plain_text.h"

enum { STATE_BYTES = 512, CROSSING_BYTES = 48 };

/* "2.31x"; empty, which the table shows as "-", where it is not known. */
static void add_ratio(aq_text_table *table, double ratio)
{
    if (isfinite(ratio)) {
        aq_text_table_cell(table, "%.2fx", ratio);
    } else {
        aq_text_table_cell(table, "%s", "");
    }
}

static void add_return(aq_text_table *table, const aq_mean_ci *mean)
{
    aq_figure centre, spread;
    if (isfinite(mean->ci95)) {
        aq_text_table_cell(table, "%s +- %s", aq_figure_return(&centre, mean->mean),
                           aq_figure_return(&spread, mean->ci95));
    } else if (isfinite(mean->mean)) {
        aq_text_table_cell(table, "%s", aq_figure_return(&centre, mean->mean));
    } else {
        aq_text_table_cell(table, "%s", "");
    }
}

static int print_reached(const aq_compare_summary *summary, FILE *out)
{
    static const aq_table_column columns[] = {
        {"precision", AQ_TABLE_LEFT}, {"seeds", AQ_TABLE_RIGHT},
        {"return", AQ_TABLE_RIGHT},   {"best policy", AQ_TABLE_RIGHT},
        {"in fp32", AQ_TABLE_RIGHT},  {"to threshold", AQ_TABLE_RIGHT},
        {"speed-up", AQ_TABLE_RIGHT}, {NULL},
    };
    aq_text_table table;
    aq_figure room;
    char text[CROSSING_BYTES];
    aq_text_table_begin(&table, columns);
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        const aq_compare_row *row = &summary->rows[i];
        aq_text_table_row(&table);
        aq_text_table_cell(&table, "%s", row->arm->name);
        aq_text_table_cell(&table, "%zu", row->finished);
        add_return(&table, &row->last);
        add_return(&table, &row->fresh);
        aq_text_table_cell(&table, "%s", aq_figure_share(&room, row->fallback_share));
        aq_text_table_cell(&table, "%s", aq_compare_crossing_text(row, text, sizeof(text)));
        if (row->crossing.missing == NULL) {
            add_ratio(&table, row->crossing.speedup);
        } else {
            aq_text_table_cell(&table, "%s", row->crossing.missing);
        }
    }
    return aq_text_table_end(&table, out);
}

static int print_cost(const aq_compare_summary *summary, FILE *out)
{
    static const aq_table_column columns[] = {
        {"precision", AQ_TABLE_LEFT}, {"steps/s", AQ_TABLE_RIGHT},
        {"ratio", AQ_TABLE_RIGHT},    {"actor/s", AQ_TABLE_RIGHT},
        {"ratio", AQ_TABLE_RIGHT},    {"broadcast", AQ_TABLE_RIGHT},
        {"energy J", AQ_TABLE_RIGHT}, {"gCO2", AQ_TABLE_RIGHT},
        {"source", AQ_TABLE_LEFT},    {NULL},
    };
    aq_text_table table;
    aq_figure room;
    aq_text_table_begin(&table, columns);
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        const aq_compare_row *row = &summary->rows[i];
        aq_text_table_row(&table);
        aq_text_table_cell(&table, "%s", row->arm->name);
        aq_text_table_cell(&table, "%s", aq_figure_count(&room, row->env_steps_per_s));
        add_ratio(&table, row->throughput_ratio);
        aq_text_table_cell(&table, "%s", aq_figure_count(&room, row->actor_steps_per_s));
        add_ratio(&table, row->actor_ratio);
        aq_text_table_cell(&table, "%s", aq_figure_bytes(&room, row->broadcast_bytes));
        aq_text_table_cell(&table, "%s", aq_figure_number(&room, row->energy_j));
        aq_text_table_cell(&table, "%s", aq_figure_number(&room, row->gco2));
        aq_text_table_cell(&table, "%s", row->energy_source ? row->energy_source : "not measured");
    }
    return aq_text_table_end(&table, out);
}

static int print_precisions(const aq_compare_summary *summary, FILE *out)
{
    int rc = print_reached(summary, out);
    (void)fprintf(out, "\n");
    return rc == 0 ? print_cost(summary, out) : rc;
}

int aq_compare_table_print(const aq_compare_summary *summary, FILE *out)
{
    char state[STATE_BYTES], plain[STATE_BYTES];
    const aq_compare_plan *plan = summary->plan;
    aq_figure room;
    (void)fprintf(out, "\n%s, preset %s, %" PRIu64 " seed%s; threshold %s (%s)\n\n",
                  plan->config.task, plan->config.preset, plan->seeds, plan->seeds == 1 ? "" : "s",
                  aq_figure_number(&room, summary->threshold),
                  summary->threshold_source == AQ_THRESHOLD_GIVEN ? "as given"
                  : summary->threshold_source == AQ_THRESHOLD_TASK
                      ? "the task's own"
                      : "95 % of the way from the baseline's first return to its last");
    const bool is_of_modes = plan->request.subject == AQ_COMPARE_MODES;
    int rc = is_of_modes ? aq_compare_mode_print(summary, out) : print_precisions(summary, out);
    for (size_t i = 0; rc == 0 && i < plan->arm_count; i++) {
        const aq_compare_row *row = &summary->rows[i];
        if (row->finished < plan->seeds) {
            (void)aq_compare_row_state(summary, row, state, sizeof(state));
            (void)fprintf(out, "\n  %s: %s\n", row->arm->name,
                          aq_plain_text(plain, sizeof(plain), state));
        }
    }
    (void)fprintf(out, "%s", is_of_modes ? "" : "\n");
    for (size_t i = 0; rc == 0 && !is_of_modes && i < AQ_COMPARE_METHODS; i++) {
        const aq_compare_method *method = aq_compare_method_at(i);
        (void)fprintf(out, "  %-13s %s\n", method->figure, method->text);
    }
    return rc;
}

/*
 * Compare CSV: see compare_csv.h.
 */
#include "cli/compare/compare_csv.h"

#include <inttypes.h>

#include "cli/compare/compare_columns.h"

/* Intervals follow what they are of; of modes a histogram of staleness comes behind; then times. */
static void add_names(enum aq_compare_subject subject, aq_long_text *out)
{
    const aq_compare_column *column = NULL;
    aq_long_text_add(out, "%s,outcome,seeds", aq_compare_subject_name(subject));
    while ((column = aq_compare_column_next(subject, AQ_IN_CSV, column)) != NULL) {
        aq_long_text_add(out, column->ci95_key != NULL ? ",%s,%s" : ",%s", column->key,
                         column->ci95_key);
    }
    for (int bin = 0; subject == AQ_COMPARE_MODES && bin < AQ_CURVE_BINS; bin++) {
        aq_long_text_add(out, ",behind_%d", bin == 0 ? 0 : 1 << (bin - 1));
    }
    for (int state = 0; state < AQ_TIME_STATES; state++) {
        const aq_compare_state_words *words = aq_compare_state_at(state);
        aq_long_text_add(out, ",%s_%s_s", words->role, words->key);
    }
    aq_long_text_add(out, "\n");
}

static void add_column(const aq_compare_column *column, const aq_compare_row *row,
                       aq_long_text *out)
{
    double ci95;
    const double value = aq_compare_column_value(column, row, &ci95);
    const char *words = aq_compare_column_words(column, row);
    if (aq_compare_kind_stored(column->kind) == AQ_STORED_WORDS) {
        aq_long_text_add(out, ",%s", words != NULL ? words : "");
    } else {
        aq_long_text_add_cell(out, value);
    }
    if (column->ci95_key != NULL) {
        aq_long_text_add_cell(out, ci95);
    }
}

static void add_row(enum aq_compare_subject subject, const aq_compare_row *row, aq_long_text *out)
{
    const aq_compare_column *column = NULL;
    aq_long_text_add(out, "%s,%s,%zu", row->arm->name, aq_run_outcome_name(row->outcome),
                     row->finished);
    while ((column = aq_compare_column_next(subject, AQ_IN_CSV, column)) != NULL) {
        add_column(column, row, out);
    }
    for (int bin = 0; subject == AQ_COMPARE_MODES && bin < AQ_CURVE_BINS; bin++) {
        aq_long_text_add_cell(out, row->behind[bin]);
    }
    for (int state = 0; state < AQ_TIME_STATES; state++) {
        aq_long_text_add_cell(out, row->states[state]);
    }
    aq_long_text_add(out, "\n");
}

void aq_compare_csv_rows(const aq_compare_summary *summary, aq_long_text *out)
{
    add_names(summary->plan->request.subject, out);
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        add_row(summary->plan->request.subject, &summary->rows[i], out);
    }
}

void aq_compare_csv_curves(const aq_compare_summary *summary, aq_long_text *out)
{
    aq_long_text_add(out, "%s,seed,wall_s,env_steps,return_mean\n",
                     aq_compare_subject_name(summary->plan->request.subject));
    for (size_t i = 0; i < summary->run_count; i++) {
        const aq_compare_run *run = &summary->runs[i];
        for (size_t j = 0; j < run->curve.returns.count; j++) {
            const aq_series_point *point = &run->curve.returns.points[j];
            aq_long_text_add(out, "%s,%" PRIu64 ",%.6f,%.0f,%.6g\n",
                             summary->plan->arms[run->arm].name, run->seed, point->wall_s,
                             point->env_steps, point->value);
        }
    }
}

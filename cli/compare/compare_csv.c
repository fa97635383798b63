/*
 * Compare CSV: see compare_csv.h.
 */
#include "cli/compare/compare_csv.h"

#include <inttypes.h>

#include "cli/compare/compare_mode_figures.h"

static void add_states(const aq_compare_row *row, aq_long_text *out)
{
    for (int state = 0; state < AQ_TIME_STATES; state++) {
        aq_long_text_add_cell(out, row->states[state]);
    }
    aq_long_text_add(out, "\n");
}

static void add_state_names(aq_long_text *out)
{
    for (int state = 0; state < AQ_TIME_STATES; state++) {
        const aq_compare_state_words *words = aq_compare_state_at(state);
        aq_long_text_add(out, ",%s_%s_s", words->role, words->key);
    }
    aq_long_text_add(out, "\n");
}

static void add_precisions(const aq_compare_summary *summary, aq_long_text *out)
{
    aq_long_text_add(out, "precision,outcome,seeds,wall_s,env_steps_per_s,throughput_ratio,"
                          "actor_steps_per_s,actor_throughput_ratio,return_mean,return_ci95,"
                          "return_best_mean,return_best_ci95,time_to_threshold_s,speedup,"
                          "broadcast_bytes,fallback_share,energy_j,gco2,energy_source,"
                          "speedup_missing");
    add_state_names(out);
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        const aq_compare_row *row = &summary->rows[i];
        const double cells[] = {
            row->wall_s,
            row->env_steps_per_s,
            row->throughput_ratio,
            row->actor_steps_per_s,
            row->actor_ratio,
            row->last.mean,
            row->last.ci95,
            row->fresh.mean,
            row->fresh.ci95,
            row->crossing.time_s.mean,
            row->crossing.speedup,
            row->broadcast_bytes,
            row->fallback_share,
            row->energy_j,
            row->gco2,
        };
        aq_long_text_add(out, "%s,%s,%zu", row->arm->name, aq_run_outcome_name(row->outcome),
                         row->finished);
        for (size_t cell = 0; cell < sizeof(cells) / sizeof(cells[0]); cell++) {
            aq_long_text_add_cell(out, cells[cell]);
        }
        aq_long_text_add(out, ",%s,%s", row->energy_source ? row->energy_source : "not measured",
                         row->crossing.missing ? row->crossing.missing : "");
        add_states(row, out);
    }
}

/* Intervals follow what they are of; the last columns are the histogram of staleness. */
static void add_modes(const aq_compare_summary *summary, aq_long_text *out)
{
    double ci95;
    aq_long_text_add(out, "mode,outcome,seeds,seeds_reached");
    for (size_t i = 0; i < aq_mode_figure_count(); i++) {
        const aq_mode_figure *figure = aq_mode_figure_at(i);
        aq_long_text_add(out, figure->kind <= AQ_KIND_STEPS ? ",%s,%s_ci95" : ",%s", figure->key,
                         figure->key);
    }
    for (int bin = 0; bin < AQ_CURVE_BINS; bin++) {
        aq_long_text_add(out, ",behind_%d", bin == 0 ? 0 : 1 << (bin - 1));
    }
    add_state_names(out);
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        const aq_compare_row *row = &summary->rows[i];
        aq_long_text_add(out, "%s,%s,%zu,%zu", row->arm->name, aq_run_outcome_name(row->outcome),
                         row->finished, row->crossing.reached);
        for (size_t j = 0; j < aq_mode_figure_count(); j++) {
            const aq_mode_figure *figure = aq_mode_figure_at(j);
            aq_long_text_add_cell(out, aq_mode_figure_value(figure, row, &ci95));
            if (figure->kind <= AQ_KIND_STEPS) {
                aq_long_text_add_cell(out, ci95);
            }
        }
        for (int bin = 0; bin < AQ_CURVE_BINS; bin++) {
            aq_long_text_add_cell(out, row->behind[bin]);
        }
        add_states(row, out);
    }
}

void aq_compare_csv_rows(const aq_compare_summary *summary, aq_long_text *out)
{
    if (summary->plan->request.subject == AQ_COMPARE_MODES) {
        add_modes(summary, out);
    } else {
        add_precisions(summary, out);
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

/*
 * Compare CSV: see compare_csv.h.
 */
#include "cli/compare/compare_csv.h"

#include <inttypes.h>
#include <math.h>

static void add_cell(aq_long_text *out, double value)
{
    if (isfinite(value)) {
        aq_long_text_add(out, ",%.10g", value);
    } else {
        aq_long_text_add(out, ",");
    }
}

void aq_compare_csv_rows(const aq_compare_summary *summary, aq_long_text *out)
{
    aq_long_text_add(out, "precision,outcome,seeds,wall_s,env_steps_per_s,throughput_ratio,"
                          "actor_steps_per_s,actor_throughput_ratio,return_mean,return_ci95,"
                          "return_best_mean,return_best_ci95,time_to_threshold_s,speedup,"
                          "broadcast_bytes,fallback_share,energy_j,gco2,energy_source,"
                          "speedup_missing");
    for (int state = 0; state < AQ_TIME_STATES; state++) {
        aq_long_text_add(out, ",%s_%s_s", aq_compare_state_role((enum aq_compare_state)state),
                         aq_compare_state_key((enum aq_compare_state)state));
    }
    aq_long_text_add(out, "\n");
    for (size_t i = 0; i < summary->plan->precision_count; i++) {
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
            row->crossing.time_s,
            row->crossing.speedup,
            row->broadcast_bytes,
            row->fallback_share,
            row->energy_j,
            row->gco2,
        };
        aq_long_text_add(out, "%s,%s,%zu", row->precision, aq_run_outcome_name(row->outcome),
                         row->finished);
        for (size_t cell = 0; cell < sizeof(cells) / sizeof(cells[0]); cell++) {
            add_cell(out, cells[cell]);
        }
        aq_long_text_add(out, ",%s,%s", row->energy_source ? row->energy_source : "not measured",
                         row->crossing.missing ? row->crossing.missing : "");
        for (int state = 0; state < AQ_TIME_STATES; state++) {
            add_cell(out, row->states[state]);
        }
        aq_long_text_add(out, "\n");
    }
}

void aq_compare_csv_curves(const aq_compare_summary *summary, aq_long_text *out)
{
    aq_long_text_add(out, "precision,seed,wall_s,env_steps,return_mean\n");
    for (size_t i = 0; i < summary->run_count; i++) {
        const aq_compare_run *run = &summary->runs[i];
        for (size_t j = 0; j < run->curve.count; j++) {
            const aq_curve_point *point = &run->curve.points[j];
            aq_long_text_add(out, "%s,%" PRIu64 ",%.6f,%.0f,%.6g\n",
                             summary->plan->precisions[run->precision], run->seed, point->wall_s,
                             point->env_steps, point->value);
        }
    }
}

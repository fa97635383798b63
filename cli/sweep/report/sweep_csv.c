/*
 * Sweep CSV: see sweep_csv.h.
 */
#include "cli/sweep/report/sweep_csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void add_names(aq_long_text *out)
{
    for (int i = 0; i < AQ_SWEEP_FIGURE_COUNT; i++) {
        aq_long_text_add(out, ",%s", aq_sweep_figure_name((enum aq_sweep_figure)i));
    }
    aq_long_text_add(out, "\n");
}

/* Lists have commas in them. */
static void add_values(const aq_sweep_study *study, const aq_sweep_stage *stage, aq_long_text *out)
{
    for (size_t i = 0; i < study->spec->space.count; i++) {
        const char *value = stage->kind == AQ_SWEEP_GIVEN ? "" : stage->point.values[i];
        const char *quote = strchr(value, ',') != NULL ? "\"" : "";
        aq_long_text_add(out, ",%s%s%s", quote, value, quote);
    }
}

/* The winner's settings and the given ones are trained beside the trials, and are none of them. */
static void add_trial(const aq_sweep_stage *stage, aq_long_text *out)
{
    if (stage->kind == AQ_SWEEP_TUNE) {
        aq_long_text_add(out, "%" PRIu32, stage->trial);
    }
    aq_long_text_add(out, ",");
}

void aq_sweep_csv_trials(const aq_sweep_summary *summary, aq_long_text *out)
{
    const aq_sweep_study *study = summary->study;
    aq_long_text_add(out, "kind,trial,rung,limit,round,parent,runs,score_ci95");
    for (size_t i = 0; i < study->spec->space.count; i++) {
        aq_long_text_add(out, ",%s", study->spec->space.dims[i].key);
    }
    add_names(out);
    for (uint32_t i = 0; i < study->stage_count; i++) {
        const aq_sweep_stage *stage = &study->stages[i];
        aq_long_text_add(out, "%s,", aq_sweep_kind_name(stage->kind));
        add_trial(stage, out);
        aq_long_text_add(out, "%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",", stage->rung,
                         aq_sweep_study_steps(study, stage->rung), stage->round);
        if (stage->from != AQ_SWEEP_NONE) {
            add_trial(&study->stages[stage->from], out);
        } else {
            aq_long_text_add(out, ",");
        }
        aq_long_text_add(out, "%zu", stage->run_count);
        aq_long_text_add_cell(out, aq_sweep_stage_spread(study, i));
        add_values(study, stage, out);
        for (int j = 0; j < AQ_SWEEP_FIGURE_COUNT; j++) {
            aq_long_text_add_cell(out, aq_sweep_stage_figure(study, i, (enum aq_sweep_figure)j));
        }
        aq_long_text_add(out, "\n");
    }
}

void aq_sweep_csv_runs(const aq_sweep_summary *summary, aq_long_text *out)
{
    const aq_sweep_study *study = summary->study;
    aq_long_text_add(out, "run,kind,trial,rung,seed,state,attempts,solved");
    add_names(out);
    for (size_t i = 0; i < study->run_count; i++) {
        const aq_sweep_run *run = &study->runs[i];
        const aq_sweep_stage *stage = &study->stages[run->stage];
        aq_long_text_add(out, "%zu,%s,", i, aq_sweep_kind_name(stage->kind));
        add_trial(stage, out);
        aq_long_text_add(out, "%" PRIu32 ",%" PRIu64 ",%s,%" PRIu32 ",%d", stage->rung, run->seed,
                         aq_sweep_run_state_name(run->state), run->attempt, run->outcome.is_solved);
        for (int j = 0; j < AQ_SWEEP_FIGURE_COUNT; j++) {
            aq_long_text_add_cell(out, run->state == AQ_SWEEP_DONE ? run->outcome.figures[j]
                                                                   : (double)NAN);
        }
        aq_long_text_add(out, "\n");
    }
}

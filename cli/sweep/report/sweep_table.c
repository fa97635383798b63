/*
 * Sweep table: see sweep_table.h.
 */
#include "cli/sweep/report/sweep_table.h"

#include <inttypes.h>
#include <math.h>

#include "cli/text/figure_text.h"
#include "cli/text/text_table.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"

enum { WORDS_BYTES = 2048, SEEDS_BYTES = 48, OWN_COLUMNS = 5 };

const char *aq_sweep_progress_line(const aq_sweep_summary *summary, char *line, size_t size)
{
    const aq_sweep_study *study = summary->study;
    aq_figure best;
    const double score = summary->winner != AQ_SWEEP_NONE
                             ? aq_sweep_stage_score(study, summary->winner)
                             : (double)NAN;
    (void)snprintf(line, size,
                   "%zu of %" PRIu32 " trials done, %zu running, %zu runs over, best %s",
                   summary->done, study->spec->trials, summary->running, study->runs_done,
                   aq_figure_return(&best, score));
    return line;
}

/* "learning_rate=0.001 n_step=3" */
static void print_settings(const aq_sweep_study *study, uint32_t stage, char *out, size_t size)
{
    const aq_sweep_space *space = &study->spec->space;
    out[0] = '\0';
    for (size_t i = 0; i < space->count; i++) {
        const char *value = study->stages[stage].point.values[i];
        if (value[0] != '\0') {
            aq_text_append(out, size, "%s%s=%s", out[0] != '\0' ? " " : "",
                           aq_setting_short_key(space->dims[i].key), value);
        }
    }
}

static int print_trials(const aq_sweep_summary *summary, size_t most, FILE *out)
{
    aq_table_column columns[OWN_COLUMNS + AQ_SWEEP_DIMS_MAX + 1] = {
        {"trial", AQ_TABLE_RIGHT},
        {"rung", AQ_TABLE_RIGHT},
        {"score", AQ_TABLE_RIGHT},
        {"+-", AQ_TABLE_RIGHT},
        {aq_sweep_cost_name(summary->study), AQ_TABLE_RIGHT},
    };
    const aq_sweep_study *study = summary->study;
    const aq_sweep_space *space = &study->spec->space;
    for (size_t i = 0; i < space->count; i++) {
        columns[OWN_COLUMNS + i] =
            (aq_table_column){aq_setting_short_key(space->dims[i].key), AQ_TABLE_LEFT};
    }
    aq_text_table table;
    aq_text_table_begin(&table, columns);
    for (size_t i = 0; i < summary->known_count && i < most; i++) {
        const uint32_t stage = summary->known[i];
        aq_figure score, spread, cost;
        aq_text_table_row(&table);
        aq_text_table_cell(&table, "%" PRIu32, study->stages[stage].trial);
        aq_text_table_cell(&table, "%" PRIu32, study->stages[stage].rung);
        aq_text_table_cell(&table, "%s",
                           aq_figure_return(&score, aq_sweep_stage_score(study, stage)));
        aq_text_table_cell(&table, "%s",
                           aq_figure_return(&spread, aq_sweep_stage_spread(study, stage)));
        aq_text_table_cell(&table, "%s", aq_sweep_cost_text(summary, stage, &cost));
        for (size_t j = 0; j < space->count; j++) {
            aq_text_table_cell(&table, "%s", study->stages[stage].point.values[j]);
        }
    }
    if (table.row_count > 0) {
        (void)fprintf(out, "\n");
    }
    return aq_text_table_end(&table, out);
}

static void print_finding(const aq_sweep_summary *summary, const char *name,
                          const aq_sweep_finding *finding, FILE *out)
{
    const enum aq_sweep_figure score = summary->study->spec->score;
    char seeds[SEEDS_BYTES];
    aq_figure mean, spread, steps, wall;
    if (finding->stage != AQ_SWEEP_NONE) {
        (void)fprintf(out, "  %-10s %s %s +- %s over %s seeds, %s steps, %s a run\n", name,
                      aq_sweep_figure_name(score),
                      aq_figure_return(&mean, finding->figures[score].mean),
                      aq_figure_return(&spread, finding->figures[score].ci95),
                      aq_sweep_finding_seeds(summary->study, finding, seeds, sizeof(seeds)),
                      aq_figure_count(&steps, finding->figures[AQ_SWEEP_STEPS].mean),
                      aq_figure_duration(&wall, finding->figures[AQ_SWEEP_WALL].mean));
    }
}

int aq_sweep_table_print(const aq_sweep_summary *summary, size_t rows, FILE *out)
{
    const aq_sweep_study *study = summary->study;
    char line[WORDS_BYTES];
    aq_figure took, spent;
    aq_print_line(out, "%s: %s", study->spec->task,
                  aq_sweep_progress_line(summary, line, sizeof(line)));
    int rc = print_trials(summary, rows, out);
    if (rc != 0) {
        return rc;
    }
    (void)fprintf(out, "\n");
    if (summary->winner != AQ_SWEEP_NONE) {
        print_settings(study, summary->winner, line, sizeof(line));
        (void)fprintf(out, "  %-10s trial %" PRIu32 ": %s\n",
                      study->is_ended ? "winner" : "best yet", study->stages[summary->winner].trial,
                      line);
    }
    print_finding(summary, "reported", &summary->reported, out);
    print_finding(summary, "as given", &summary->given, out);
    (void)fprintf(out, "  %-10s %s of runs in %s\n", "spent",
                  aq_figure_duration(&spent, aq_sweep_study_spent(study, AQ_SWEEP_WALL)),
                  aq_figure_duration(&took, study->last_s - study->began_s));
    return 0;
}

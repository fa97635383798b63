/*
 * Sweep page: see sweep_page.h.
 */
#include "cli/sweep/report/sweep_page.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "cli/sweep/report/sweep_figures.h"
#include "cli/text/figure_text.h"
#include "cli/text/html_page.h"
#include "common/sys/file.h"

enum { ROWS_MAX = 50, SEEDS_BYTES = 48, PATH_BYTES = PATH_MAX + 16 };

static void add_mean(aq_long_text *out, enum aq_sweep_figure figure, double mean, double ci95)
{
    aq_figure centre, spread;
    aq_html_mean(out, aq_sweep_figure_text(figure, mean, &centre),
                 isfinite(ci95) ? aq_sweep_figure_text(figure, ci95, &spread) : NULL);
}

static void add_heads(aq_long_text *out, const aq_sweep_spec *spec)
{
    for (size_t i = 0; i < spec->space.count; i++) {
        aq_long_text_add(out, "<th>%s</th>", spec->space.dims[i].key);
    }
}

static void add_values(aq_long_text *out, const aq_sweep_study *study, uint32_t stage)
{
    for (size_t i = 0; i < study->spec->space.count; i++) {
        const char *value = study->stages[stage].point.values[i];
        aq_html_figure(out, value[0] != '\0' ? value : "-");
    }
}

/* ---- tables --------------------------------------------------------------------------------- */

static void add_finding(const aq_sweep_study *study, const aq_sweep_finding *finding,
                        const char *name, aq_long_text *out)
{
    char seeds[SEEDS_BYTES];
    if (finding->stage == AQ_SWEEP_NONE) {
        return;
    }
    aq_long_text_add(out, "<tr>");
    aq_html_words(out, name);
    aq_html_figure(out, aq_sweep_finding_seeds(study, finding, seeds, sizeof(seeds)));
    for (int i = 0; i < AQ_SWEEP_FIGURE_COUNT; i++) {
        add_mean(out, (enum aq_sweep_figure)i, finding->figures[i].mean, finding->figures[i].ci95);
    }
    aq_long_text_add(out, "</tr>\n");
}

static void add_findings(const aq_sweep_summary *summary, aq_long_text *out)
{
    const aq_sweep_study *study = summary->study;
    if (summary->winner == AQ_SWEEP_NONE) {
        aq_long_text_add(out, "<p>No trial has come to its end.</p>\n");
        return;
    }
    aq_html_table_begin(out, study->is_ended ? "The winner by the seeds that tuned."
                                             : "The best so far: the sweep has not ended.");
    aq_long_text_add(out, "<th>trial</th><th>%s</th>", aq_sweep_figure_name(study->spec->score));
    add_heads(out, study->spec);
    aq_html_table_rows(out);
    aq_long_text_add(out, "<tr><td>%" PRIu32 "</td>", study->stages[summary->winner].trial);
    add_mean(out, study->spec->score, aq_sweep_stage_score(study, summary->winner),
             aq_sweep_stage_spread(study, summary->winner));
    add_values(out, study, summary->winner);
    aq_long_text_add(out, "</tr>\n");
    aq_html_table_end(out);
    if (summary->reported.stage == AQ_SWEEP_NONE) {
        return;
    }
    aq_html_table_begin(
        out, "Trained once more, from seeds that no trial used: means with 95 % intervals, over "
             "the runs that came to their end. These figures may be told; those above were chosen "
             "for being high.");
    aq_long_text_add(out, "<th></th><th>seeds</th>");
    for (int i = 0; i < AQ_SWEEP_FIGURE_COUNT; i++) {
        aq_long_text_add(out, "<th>%s</th>", aq_sweep_figure_name((enum aq_sweep_figure)i));
    }
    aq_html_table_rows(out);
    add_finding(study, &summary->reported, "winner", out);
    add_finding(study, &summary->given, "as given", out);
    aq_html_table_end(out);
}

static void add_trials(const aq_sweep_summary *summary, aq_long_text *out)
{
    const aq_sweep_study *study = summary->study;
    aq_figure room;
    aq_long_text_add(out, "<h2>Trials</h2>\n");
    aq_html_table_begin(out, "The best first, at most 50; all of them are in trials.csv.");
    aq_long_text_add(out, "<th>trial</th><th>rung</th><th>%s</th><th>%s</th>",
                     aq_sweep_figure_name(study->spec->score), aq_sweep_cost_name(study));
    add_heads(out, study->spec);
    aq_html_table_rows(out);
    for (size_t i = 0; i < summary->known_count && i < ROWS_MAX; i++) {
        const uint32_t index = summary->known[i];
        const aq_sweep_stage *stage = &study->stages[index];
        aq_long_text_add(out, "<tr><td>%" PRIu32 "</td><td>%" PRIu32 "</td>", stage->trial,
                         stage->rung);
        add_mean(out, study->spec->score, aq_sweep_stage_score(study, index),
                 aq_sweep_stage_spread(study, index));
        aq_html_figure(out, aq_sweep_cost_text(summary, index, &room));
        add_values(out, study, index);
        aq_long_text_add(out, "</tr>\n");
    }
    aq_html_table_end(out);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void add_charts(const aq_sweep_summary *summary, aq_long_text *out)
{
    aq_long_text_add(out, "<div class=\"figures\">\n");
    for (int i = 0; i < AQ_SWEEP_CHART_COUNT; i++) {
        const aq_sweep_chart *chart = &aq_sweep_charts[i];
        if (chart->has_data(summary)) {
            aq_long_text_add(out, "<figure id=\"%s\">\n", chart->name);
            chart->draw(summary, out);
            aq_long_text_add(out, "</figure>\n");
        }
    }
    aq_long_text_add(out, "</div>\n");
}

static void add_spec(const char *dir, aq_long_text *out)
{
    char path[PATH_BYTES];
    aq_long_text text;
    aq_long_text_init(&text, AQ_SWEEP_SPEC_BYTES_MAX + 1);
    (void)snprintf(path, sizeof(path), "%s/SPEC.yaml", dir);
    text.rc = aq_file_read(path, &text.bytes, NULL);
    aq_long_text_add(out, "<h2>What was asked</h2>\n<pre>");
    aq_html_lines(out, &text, "", "\n");
    aq_long_text_add(out, "</pre>\n");
    aq_long_text_fini(&text);
}

void aq_sweep_page(const aq_sweep_summary *summary, aq_long_text *out)
{
    const aq_sweep_study *study = summary->study;
    char title[AQ_TASK_NAME_MAX + 16];
    aq_figure spent;
    (void)snprintf(title, sizeof(title), "%s: a sweep", study->spec->task);
    aq_html_begin(out, title);
    aq_html_heading(out, title);
    aq_long_text_add(out,
                     "<p>%zu of %" PRIu32 " trials done by method %s, %zu seeds each, in "
                     "%" PRIu32 " rounds; %zu runs of %s together.</p>\n",
                     summary->done, study->spec->trials, aq_sweep_method_name(study->spec->method),
                     study->spec->tune.count, study->rounds, study->runs_done,
                     aq_figure_duration(&spent, aq_sweep_study_spent(study, AQ_SWEEP_WALL)));
    aq_long_text_add(out, "<h2>What was found</h2>\n");
    add_findings(summary, out);
    add_charts(summary, out);
    add_trials(summary, out);
    add_spec(summary->dir, out);
    aq_long_text_add(out, "<p class=\"soft\">Beside this page: sweep.json, trials.csv, runs.csv, "
                          "the figures as SVG, journal.jsonl, and a folder for each run.</p>\n");
    aq_html_end(out);
}

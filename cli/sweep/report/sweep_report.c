/*
 * Sweep report: see sweep_report.h.
 */
#include "cli/sweep/report/sweep_report.h"

#include <stdio.h>

#include "cli/plot/plot_chart.h"
#include "cli/sweep/report/sweep_csv.h"
#include "cli/sweep/report/sweep_figures.h"
#include "cli/sweep/report/sweep_json.h"
#include "cli/sweep/report/sweep_page.h"
#include "cli/text/json_file.h"
#include "cli/text/long_text.h"

enum { FILE_BYTES_MAX = 256 << 20 };

typedef void (*text_writer)(const aq_sweep_summary *summary, aq_long_text *out);

static int write_text(const aq_sweep_summary *summary, const char *name, text_writer writer,
                      aq_error *error)
{
    aq_long_text text;
    aq_long_text_init(&text, FILE_BYTES_MAX);
    writer(summary, &text);
    return aq_long_text_end(&text, summary->dir, name, error);
}

static int write_chart(const aq_sweep_summary *summary, const aq_sweep_chart *chart,
                       aq_error *error)
{
    char name[64];
    aq_long_text svg;
    if (!chart->has_data(summary)) {
        return 0;
    }
    (void)snprintf(name, sizeof(name), "%s.svg", chart->name);
    aq_long_text_init(&svg, AQ_PLOT_BYTES_MAX);
    chart->draw(summary, &svg);
    return aq_long_text_end(&svg, summary->dir, name, error);
}

int aq_sweep_report_write(const aq_sweep_summary *summary, aq_error *error)
{
    int rc = aq_json_file_write(aq_sweep_json(summary), 10, summary->dir, "sweep.json", error);
    for (int i = 0; rc == 0 && i < AQ_SWEEP_CHART_COUNT; i++) {
        rc = write_chart(summary, &aq_sweep_charts[i], error);
    }
    rc = rc != 0 ? rc : write_text(summary, "trials.csv", aq_sweep_csv_trials, error);
    rc = rc != 0 ? rc : write_text(summary, "runs.csv", aq_sweep_csv_runs, error);
    return rc != 0 ? rc : write_text(summary, "report.html", aq_sweep_page, error);
}

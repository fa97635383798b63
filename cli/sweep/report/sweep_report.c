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

static int write_chart(const aq_sweep_summary *summary, const char *dir, enum aq_sweep_chart chart,
                       aq_error *error)
{
    char name[64];
    aq_long_text svg;
    if (!aq_sweep_chart_has_data(summary, chart)) {
        return 0;
    }
    (void)snprintf(name, sizeof(name), "%s.svg", aq_sweep_chart_name(chart));
    aq_long_text_init(&svg, AQ_PLOT_BYTES_MAX);
    aq_sweep_chart_draw(summary, dir, chart, &svg);
    return aq_long_text_end(&svg, dir, name, error);
}

int aq_sweep_report_write(const aq_sweep_summary *summary, const char *dir, aq_error *error)
{
    aq_long_text text;
    int rc = aq_json_file_write(aq_sweep_json(summary, dir), 10, dir, "sweep.json", error);
    for (int i = 0; rc == 0 && i < AQ_SWEEP_CHART_COUNT; i++) {
        rc = write_chart(summary, dir, (enum aq_sweep_chart)i, error);
    }
    if (rc == 0) {
        aq_long_text_init(&text, FILE_BYTES_MAX);
        aq_sweep_csv_trials(summary, &text);
        rc = aq_long_text_end(&text, dir, "trials.csv", error);
    }
    if (rc == 0) {
        aq_long_text_init(&text, FILE_BYTES_MAX);
        aq_sweep_csv_runs(summary, &text);
        rc = aq_long_text_end(&text, dir, "runs.csv", error);
    }
    if (rc == 0) {
        aq_long_text_init(&text, FILE_BYTES_MAX);
        aq_sweep_page(summary, dir, &text);
        rc = aq_long_text_end(&text, dir, "report.html", error);
    }
    return rc;
}

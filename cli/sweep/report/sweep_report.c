/*
 * Sweep report: see sweep_report.h.
 */
#include "cli/sweep/report/sweep_report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot_chart.h"
#include "cli/sweep/report/sweep_csv.h"
#include "cli/sweep/report/sweep_figures.h"
#include "cli/sweep/report/sweep_json.h"
#include "cli/sweep/report/sweep_page.h"
#include "common/sys/file.h"

enum { FILE_BYTES_MAX = 256 << 20, PATH_BYTES = 4096 + 32 };

static int write_json(const aq_sweep_summary *summary, const char *dir, aq_error *error)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/sweep.json", dir);
    json_t *json = aq_sweep_json(summary, dir);
    char *text = json != NULL ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) : NULL;
    json_decref(json);
    int rc = text != NULL ? aq_file_write_atomic(path, text, strlen(text), error)
                          : aq_fail(error, AQ_E_NOMEM, "%s: out of memory", path);
    free(text);
    return rc;
}

/* A text that is being made, and where it goes. */
static int write_text(aq_long_text *text, const char *dir, const char *name, aq_error *error)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    int rc = aq_long_text_write(text, path, error);
    aq_long_text_fini(text);
    return rc;
}

static int write_chart(const aq_sweep_summary *summary, const char *dir, enum aq_sweep_chart chart,
                       aq_error *error)
{
    char path[PATH_BYTES];
    aq_buffer svg;
    if (!aq_sweep_chart_has_data(summary, chart)) {
        return 0;
    }
    (void)snprintf(path, sizeof(path), "%s/%s.svg", dir, aq_sweep_chart_name(chart));
    aq_buffer_init(&svg, AQ_PLOT_BYTES_MAX);
    int rc = aq_sweep_chart_draw(summary, dir, chart, &svg);
    rc = rc != 0 ? aq_fail(error, rc, "%s: %s", path, aq_error_text(rc))
                 : aq_file_write_atomic(path, svg.data, svg.size, error);
    aq_buffer_fini(&svg);
    return rc;
}

int aq_sweep_report_write(const aq_sweep_summary *summary, const char *dir, aq_error *error)
{
    aq_long_text trials, runs, page;
    int rc = write_json(summary, dir, error);
    for (int i = 0; rc == 0 && i < AQ_SWEEP_CHART_COUNT; i++) {
        rc = write_chart(summary, dir, (enum aq_sweep_chart)i, error);
    }
    if (rc == 0) {
        aq_long_text_init(&trials, FILE_BYTES_MAX);
        aq_sweep_csv_trials(summary, &trials);
        rc = write_text(&trials, dir, "trials.csv", error);
    }
    if (rc == 0) {
        aq_long_text_init(&runs, FILE_BYTES_MAX);
        aq_sweep_csv_runs(summary, &runs);
        rc = write_text(&runs, dir, "runs.csv", error);
    }
    if (rc == 0) {
        aq_long_text_init(&page, FILE_BYTES_MAX);
        aq_sweep_page(summary, dir, &page);
        rc = write_text(&page, dir, "report.html", error);
    }
    return rc;
}

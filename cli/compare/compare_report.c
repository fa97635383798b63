/*
 * Compare report: see compare_report.h.
 */
#include "cli/compare/compare_report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare_csv.h"
#include "cli/compare/compare_figures.h"
#include "cli/compare/compare_json.h"
#include "cli/compare/compare_page.h"
#include "cli/text/long_text.h"
#include "common/sys/file.h"

enum { FILE_BYTES_MAX = 256 << 20, PATH_BYTES = AQ_CLI_PATH_MAX + 32 };

static int write_json(const aq_compare_summary *summary, aq_error *error)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/compare.json", summary->plan->dir);
    json_t *json = aq_compare_json(summary);
    char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) : NULL;
    json_decref(json);
    int rc = text ? aq_file_write_atomic(path, text, strlen(text), error)
                  : aq_fail(error, AQ_E_NOMEM, "%s: out of memory", path);
    free(text);
    return rc;
}

typedef void (*text_writer)(const aq_compare_summary *summary, aq_long_text *out);

static int write_text(const aq_compare_summary *summary, const char *name, text_writer writer,
                      aq_error *error)
{
    char path[PATH_BYTES];
    aq_long_text text;
    (void)snprintf(path, sizeof(path), "%s/%s", summary->plan->dir, name);
    aq_long_text_init(&text, FILE_BYTES_MAX);
    writer(summary, &text);
    int rc = aq_long_text_write(&text, path, error);
    aq_long_text_fini(&text);
    return rc;
}

static int write_figure(const aq_compare_summary *summary, enum aq_compare_figure figure,
                        aq_error *error)
{
    char path[PATH_BYTES];
    aq_buffer svg;
    if (!aq_compare_figure_has_data(summary, figure)) {
        return 0;
    }
    (void)snprintf(path, sizeof(path), "%s/%s.svg", summary->plan->dir,
                   aq_compare_figure_name(figure));
    aq_buffer_init(&svg, AQ_PLOT_BYTES_MAX);
    int rc = aq_compare_figure_draw(summary, figure, &svg);
    rc = rc != 0 ? aq_fail(error, rc, "%s: %s", path, aq_error_text(rc))
                 : aq_file_write_atomic(path, svg.data, svg.size, error);
    aq_buffer_fini(&svg);
    return rc;
}

int aq_compare_report_write(const aq_compare_summary *summary, aq_error *error)
{
    int rc = write_json(summary, error);
    if (rc == 0) {
        rc = write_text(summary, "compare.csv", aq_compare_csv_rows, error);
    }
    if (rc == 0) {
        rc = write_text(summary, "curves.csv", aq_compare_csv_curves, error);
    }
    for (int i = 0; rc == 0 && i < AQ_FIGURE_COUNT; i++) {
        rc = write_figure(summary, (enum aq_compare_figure)i, error);
    }
    return rc != 0 ? rc : write_text(summary, "report.html", aq_compare_page, error);
}

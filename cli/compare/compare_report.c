/*
 * Compare report: see compare_report.h.
 */
#include "cli/compare/compare_report.h"

#include <stdio.h>

#include "cli/compare/compare_csv.h"
#include "cli/compare/compare_figures.h"
#include "cli/compare/compare_json.h"
#include "cli/compare/compare_page.h"
#include "cli/text/json_file.h"
#include "cli/text/long_text.h"

enum { FILE_BYTES_MAX = 256 << 20 };

typedef void (*text_writer)(const aq_compare_summary *summary, aq_long_text *out);

static int write_text(const aq_compare_summary *summary, const char *name, text_writer writer,
                      aq_error *error)
{
    aq_long_text text;
    aq_long_text_init(&text, FILE_BYTES_MAX);
    writer(summary, &text);
    return aq_long_text_end(&text, summary->plan->dir, name, error);
}

static int write_figure(const aq_compare_summary *summary, enum aq_compare_figure figure,
                        aq_error *error)
{
    char name[64];
    aq_long_text svg;
    if (!aq_compare_figure_has_data(summary, figure)) {
        return 0;
    }
    (void)snprintf(name, sizeof(name), "%s.svg", aq_compare_figure_name(figure));
    aq_long_text_init(&svg, AQ_PLOT_BYTES_MAX);
    aq_compare_figure_draw(summary, figure, &svg);
    return aq_long_text_end(&svg, summary->plan->dir, name, error);
}

int aq_compare_report_write(const aq_compare_summary *summary, aq_error *error)
{
    int rc =
        aq_json_file_write(aq_compare_json(summary), 10, summary->plan->dir, "compare.json", error);
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

/*
 * actorq dashboard: runs in a browser, from what their folders hold. A run that goes on is served
 * by its learner as well; this says where.
 */
#include <stdio.h>

#include "cli/operate/live_endpoint.h"
#include "cli/plot/run_page.h"
#include "cli/plot/run_plot.h"
#include "cli/run/run_paths.h"
#include "cli/text/command.h"
#include "cli/text/output_file.h"
#include "common/base/plain_text.h"

enum { PAGE_BYTES_MAX = AQ_PLOT_BYTES_MAX };

typedef struct dashboard_arguments {
    aq_run_names runs;
    const char *output;
    const char *by;
    aq_json_form json;
} dashboard_arguments;

static const aq_option option_rows[] = {
    {"output", 'o', "FILE", "the page (default: dashboard.html)",
     AQ_TO_TEXT(dashboard_arguments, output)},
    {"group-by", 0, "LIST",
     "settings that tell curves apart, such as quantizer.format (default: run, a curve each)",
     AQ_TO_TEXT(dashboard_arguments, by)},
    AQ_JSON_OPTION_ROW(dashboard_arguments, json, "the result"),
};

static const aq_options options_page = {
    .program = "actorq dashboard",
    .usage = "RUN... [options]",
    .summary =
        "Writes one HTML page of runs, whether they go on or have ended: a row for each, and "
        "their curves in common pictures.",
    .details = "While a run goes on, its learner serves a page that follows it; its address is "
               "said here, and\nby actorq status.\n\n"
               "Examples:\n"
               "  actorq dashboard runs/first\n"
               "  actorq dashboard runs/* --group-by quantizer.format -o formats.html\n",
    AQ_OPTION_ROWS(option_rows),
    .more = aq_run_names_take,
};

static void say_skipped(const char *words)
{
    char plain[AQ_ERROR_TEXT_MAX];
    (void)fprintf(stderr, "actorq dashboard: left out: %s\n",
                  aq_plain_text(plain, sizeof(plain), words));
}

static int print_result(const dashboard_arguments *arguments, const aq_run_paths *runs,
                        const aq_run_page *page, aq_error *error)
{
    if (arguments->json) {
        return aq_print_json(json_pack("{s:o, s:o, s:o}", "path", aq_json_text(arguments->output),
                                       "runs", aq_json_count(page->runs), "charts",
                                       aq_json_count(page->charts)),
                             arguments->json, error);
    }
    (void)printf("%s: %zu run%s, %zu pictures\n", arguments->output, page->runs,
                 page->runs == 1 ? "" : "s", page->charts);
    for (size_t i = 0; i < runs->count; i++) {
        char http[AQ_URL_MAX];
        if (aq_live_endpoint_http(runs->paths[i], http)) {
            aq_print_line(stdout, "  %s goes on: %s/", runs->paths[i], http);
        }
    }
    return 0;
}

static const dashboard_arguments defaults = {.output = "dashboard.html", .by = "run"};

static int dashboard(void *given, aq_error *error)
{
    const dashboard_arguments *arguments = given;
    aq_long_text text;
    aq_run_page page;
    aq_run_paths runs = {0};
    aq_long_text_init(&text, PAGE_BYTES_MAX);
    int rc = aq_run_paths_add_named(&runs, &arguments->runs, error);
    if (rc == 0) {
        rc = aq_run_page_make((const char *const *)runs.paths, runs.count, arguments->by,
                              say_skipped, &text, &page, error);
    }
    if (rc == 0) {
        rc = aq_long_text_write(&text, arguments->output, error);
    }
    aq_long_text_fini(&text);
    if (rc == 0) {
        aq_output_written(arguments->output);
    }
    rc = rc != 0 ? rc : print_result(arguments, &runs, &page, error);
    aq_run_paths_fini(&runs);
    return rc;
}

const aq_command aq_command_dashboard = {
    .name = "dashboard",
    .summary = "show runs as one page, ended or not",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = dashboard,
};

/*
 * actorq sweep status: how far a sweep is, and what it found.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/sweep/journal/sweep_desk.h"
#include "cli/sweep/report/sweep_json.h"
#include "cli/sweep/report/sweep_report.h"
#include "cli/sweep/report/sweep_table.h"
#include "cli/text/command.h"
#include "common/base/clock.h"

enum { ROWS_DEFAULT = 20, WATCH_S = 1 };

typedef struct status_arguments {
    const char *folder;
    uint64_t rows;
    aq_json_form json;
    bool watch, report;
} status_arguments;

static const aq_option option_rows[] = {
    {"watch", 'w', NULL, "again each second, until the sweep has ended",
     AQ_TO_FLAG(status_arguments, watch)},
    {"rows", 0, "N", "how many trials are shown, the best first (default: 20)",
     AQ_TO_NUMBER(status_arguments, rows, 1, AQ_SWEEP_TRIALS_MAX)},
    {"report", 0, NULL, "write DIR/report.html and its figures as of now, too",
     AQ_TO_FLAG(status_arguments, report)},
    AQ_JSON_OPTION_ROW(status_arguments, json, "the status"),
};

static const aq_options options_page = {
    .program = "actorq sweep status",
    .usage = "DIR [options]",
    .summary = "Tells how far the sweep in DIR is: its trials, the best first, what was found, and "
               "what it cost.",
    .details = "Examples:\n"
               "  actorq sweep status sweeps/cartpole --watch\n"
               "  actorq sweep status sweeps/cartpole --json=pretty\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("DIR", status_arguments, folder)},
};

static int show(const status_arguments *arguments, const aq_sweep_study *study, aq_error *error)
{
    aq_sweep_summary summary;
    int rc = aq_sweep_summary_make(study, arguments->folder, &summary);
    if (rc != 0) {
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    if (arguments->watch && !arguments->json && isatty(STDOUT_FILENO)) {
        (void)printf("\033[H\033[J");
    }
    if (arguments->json) {
        rc = aq_print_json(aq_sweep_json(&summary), arguments->json, error);
    } else if (aq_sweep_table_print(&summary, (size_t)arguments->rows, stdout) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    if (rc == 0 && arguments->report) {
        rc = aq_sweep_report_write(&summary, error);
    }
    (void)fflush(stdout);
    aq_sweep_summary_fini(&summary);
    return rc;
}

static int status(void *given, aq_error *error)
{
    const status_arguments *arguments = given;
    aq_sweep_desk *desk = NULL;
    int rc = aq_sweep_desk_open(arguments->folder, "", &desk, error);
    rc = rc != 0 ? rc : show(arguments, aq_sweep_desk_study(desk), error);
    while (rc == 0 && arguments->watch && !aq_sweep_desk_study(desk)->is_ended && !ferror(stdout)) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + WATCH_S * AQ_NS_PER_S);
        rc = aq_sweep_desk_look(desk, error);
        rc = rc != 0 ? rc : show(arguments, aq_sweep_desk_study(desk), error);
    }
    aq_sweep_desk_close(desk);
    return rc;
}

static const status_arguments defaults = {.rows = ROWS_DEFAULT};

const aq_command aq_command_sweep_status = {
    .name = "status",
    .summary = "how far a sweep is, and what it found",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = status,
};

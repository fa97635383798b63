/*
 * actorq export: a policy as a file for machines that have no ActorQ.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/sys/file.h"
#include "library/source/policy_source.h"
#include "quantizer/export/export_c.h"

typedef struct export_arguments {
    const char *source;
    const char *output; /* NULL: NAME.c */
    const char *name;
    aq_json_form json;
} export_arguments;

typedef struct export_report {
    char source[AQ_POLICY_PATH_MAX]; /* the policy file that was read */
    char path[AQ_POLICY_PATH_MAX];   /* the file that was written */
    size_t bytes;
    aq_export_figures figures;
    aq_snapshot *snapshot;
} export_report;

/* There is one yet, so nothing is kept. */
static int check_format(void *member, const char *value, aq_error *error)
{
    (void)member;
    return strcmp(value, "c") == 0
               ? 0
               : aq_fail(error, AQ_E_INVALID, "'%s' is no format to export to; c is", value);
}

static const aq_option option_rows[] = {
    {"format", 0, "FORMAT", "what to write: c, the default",
     AQ_TO(check_format, export_arguments, name)},
    {"output", 'o', "FILE", "the file to write (default: NAME.c)",
     AQ_TO_TEXT(export_arguments, output)},
    {"name", 0, "NAME", "what the names of its functions begin with (default: policy)",
     AQ_TO_TEXT(export_arguments, name)},
    AQ_JSON_OPTION_ROW(export_arguments, json, "the result"),
};

static const aq_options options_page = {
    .program = "actorq export",
    .usage = "RUN_OR_POLICY [options]",
    .summary = "Writes a policy as one freestanding C file: no library, no allocation, and the "
               "same actions as an actor's, bit for bit, on any machine with a C99 compiler.",
    .details = "NAME_forward gives the network's outputs, NAME_act the greedy action, and "
               "NAME_draw, of\n"
               "policies that draw, what an actor would draw by the same random numbers.\n"
               "docs/export.md tells how to use it on a microcontroller.\n\n"
               "Examples:\n"
               "  actorq export runs/first\n"
               "  actorq export policy.aq --format c --output src/balance.c --name balance\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("RUN_OR_POLICY", export_arguments, source)},
};

/* ---- writing -------------------------------------------------------------------------------- */

static int choose_path(const export_arguments *arguments, export_report *report, aq_error *error)
{
    int rc = arguments->output
                 ? aq_text_set(report->path, sizeof(report->path), arguments->output)
                 : aq_text_format(report->path, sizeof(report->path), "%s.c", arguments->name);
    return rc != 0 ? aq_fail(error, rc, "the path of the output is too long") : 0;
}

/* Nothing is written before all of the text is there. */
static int write_text(const export_arguments *arguments, export_report *report, aq_error *error)
{
    aq_buffer text;
    aq_buffer_init(&text, AQ_EXPORT_BYTES_MAX);
    int rc = aq_export_c(report->snapshot, arguments->name, &text, &report->figures, error);
    if (rc != 0) {
        rc = aq_fail_context(error, rc, "%s", report->source);
    }
    if (rc == 0) {
        report->bytes = text.size;
        rc = aq_file_write_atomic(report->path, text.data, text.size, error);
    }
    aq_buffer_fini(&text);
    return rc;
}

static int export_policy(const export_arguments *arguments, export_report *report, aq_error *error)
{
    int rc = choose_path(arguments, report, error);
    if (rc == 0) {
        rc = aq_policy_source_read(arguments->source, AQ_PRECISION_AS_STORED, &report->snapshot,
                                   report->source, NULL, error);
    }
    return rc != 0 ? rc : write_text(arguments, report, error);
}

/* ---- the result ----------------------------------------------------------------------------- */

static json_t *make_json(const export_arguments *arguments, const export_report *report)
{
    const aq_snapshot *snapshot = report->snapshot;
    char net[256];
    return json_pack(
        "{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:o, s:s}", "path", aq_json_text(report->path),
        "format", "c", "name", arguments->name, "bytes", aq_json_count(report->bytes),
        "weights_bytes", aq_json_count(report->figures.weights_bytes), "stack_bytes",
        aq_json_count(report->figures.stack_bytes), "policy", aq_json_text(report->source), "task",
        snapshot->task, "policy_version", aq_json_count(snapshot->version), "network",
        aq_net_spec_text(&snapshot->spec, net, sizeof(net)));
}

static void print(const export_report *report)
{
    const aq_snapshot *snapshot = report->snapshot;
    char path[AQ_POLICY_PATH_MAX];
    char net[256];
    aq_figure bytes, weights, stack;
    (void)printf("%s: %s, version %" PRIu64 "\n", aq_plain_text(path, sizeof(path), report->path),
                 snapshot->task, snapshot->version);
    aq_print_fact(stdout, "network", "%s", aq_net_spec_text(&snapshot->spec, net, sizeof(net)));
    aq_print_fact(stdout, "text", "%s of C", aq_figure_bytes(&bytes, (double)report->bytes));
    aq_print_fact(stdout, "memory", "%s of constants, %s of arrays on the stack",
                  aq_figure_bytes(&weights, (double)report->figures.weights_bytes),
                  aq_figure_bytes(&stack, (double)report->figures.stack_bytes));
}

static const export_arguments defaults = {.name = "policy"};

static int export_or_say(void *given, aq_error *error)
{
    const export_arguments *arguments = given;
    export_report report = {0};
    int rc = export_policy(arguments, &report, error);
    if (rc == 0 && arguments->json) {
        rc = aq_print_json(make_json(arguments, &report), arguments->json, error);
    } else if (rc == 0) {
        print(&report);
    }
    aq_snapshot_unref(report.snapshot);
    return rc;
}

const aq_command aq_command_export = {
    .name = "export",
    .summary = "write a policy as one freestanding C file",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = export_or_say,
};

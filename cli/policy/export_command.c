/*
 * actorq export: a policy as a file for machines that have no ActorQ.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/policy/run_record.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/text/output_file.h"
#include "cli/text/shell_text.h"
#include "common/base/choice.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/policy/layer_formats.h"
#include "common/sys/file.h"
#include "envs/env_code.h"
#include "interchange/onnx/onnx_export.h"
#include "library/source/policy_source.h"
#include "quantizer/export/export_c.h"

/* What is written, which also ends the file's name. */
#define FORMATS(X) X(FORMAT_C, "c") X(FORMAT_ONNX, "onnx")
enum export_format { FORMATS(AQ_CHOICE_CONSTANT) };
static const char *const format_words[] = {FORMATS(AQ_CHOICE_WORD) NULL};

typedef struct export_arguments {
    const char *source;
    enum export_format format;
    const char *output; /* NULL: NAME.FORMAT */
    const char *name;
    const char *header; /* NULL: none */
    uint32_t precision; /* a format, or AQ_PRECISION_AS_STORED */
    aq_json_form json;
} export_arguments;

typedef struct export_report {
    char source[PATH_MAX]; /* the policy file that was read */
    char path[PATH_MAX];   /* the file that was written */
    size_t bytes;
    bool quantized;            /* now, for this file */
    aq_export_figures figures; /* of C */
    aq_onnx_figures model;     /* of ONNX */
    aq_snapshot *snapshot;
    aq_snapshot mean; /* of it: what is exported */
} export_report;

static const aq_option option_rows[] = {
    {"format", 0, "FORMAT", "what to write: c, the default, or onnx",
     AQ_TO_CHOICE(export_arguments, format, 0, format_words)},
    {"precision", 0, "FORMAT", AQ_PRECISION_HELP,
     AQ_TO(aq_precision_take, export_arguments, precision)},
    {"output", 'o', "FILE", "the file to write (default: NAME.c or NAME.onnx)",
     AQ_TO_TEXT(export_arguments, output)},
    {"name", 0, "NAME",
     "what the names of its functions begin with, or the model's name (default: policy)",
     AQ_TO_TEXT(export_arguments, name)},
    {"header", 0, "FILE",
     "of C: also write this header, with its functions, for C and C++, and the widths of their "
     "arrays",
     AQ_TO_TEXT(export_arguments, header)},
    AQ_JSON_OPTION_ROW(export_arguments, json, "the result"),
};

static const aq_options options_page = {
    .program = "actorq export",
    .usage = "RUN_OR_POLICY [options]",
    .summary = "Writes a policy as one freestanding C file: no library, no allocation, and the "
               "same actions as an actor's, bit for bit, on any machine with a C99 compiler. Or "
               "as an ONNX model, for other runtimes.",
    .details =
        "In C, NAME_forward gives the network's outputs, NAME_act the greedy action, and "
        "NAME_draw,\n"
        "of policies that draw, what an actor would draw by the same random numbers. An "
        "ONNX model\n"
        "takes 'obs' and gives 'action' and 'outputs'. docs/export.md tells how to use it "
        "on a\n"
        "microcontroller, and what of a model is exact.\n\n"
        "Algorithms of continuous actions publish policies whose first layer is bf16, or fp32\n"
        "with normalized observations. As C that layer multiplies floats, which a processor\n"
        "without them does slowly: `actorq quantize RUN int8.aq` makes a policy of int8 alone.\n\n"
        "Examples:\n"
        "  actorq export runs/first\n"
        "  actorq export policy.aq --output src/balance.c --header src/balance.h --name "
        "balance\n"
        "  actorq export runs/first --format onnx --precision fp32\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("RUN_OR_POLICY", export_arguments, source)},
};

/* ---- writing -------------------------------------------------------------------------------- */

static int choose_path(const export_arguments *arguments, export_report *report, aq_error *error)
{
    int rc = arguments->output ? aq_text_set(report->path, sizeof(report->path), arguments->output)
                               : aq_text_format(report->path, sizeof(report->path), "%s.%s",
                                                arguments->name, format_words[arguments->format]);
    return rc != 0 ? aq_fail(error, rc, "the path of the output is too long") : 0;
}

/* The seed of the run that the policy is of, if there is one; else "". */
static void find_seed(const char *source, char text[32])
{
    aq_run_record *record = NULL;
    text[0] = '\0';
    if (aq_run_record_read(source, &record, NULL) == 0) {
        (void)snprintf(text, 32, "%" PRIu64, record->seed);
        aq_run_record_free(record);
    }
}

static int put_onnx(const export_arguments *arguments, export_report *report, aq_buffer *out,
                    aq_error *error)
{
    char seed[32];
    find_seed(arguments->source, seed);
    const aq_onnx_note notes[] = {{seed[0] != '\0' ? "actorq.seed" : NULL, seed}, {NULL, NULL}};
    return aq_onnx_export(report->snapshot, arguments->name, notes, out, &report->model, error);
}

/* Nothing is written before all of it is there. */
static int write_files(const export_arguments *arguments, export_report *report, aq_error *error)
{
    aq_buffer file, header;
    aq_buffer_init(&file, AQ_EXPORT_BYTES_MAX);
    aq_buffer_init(&header, AQ_EXPORT_BYTES_MAX);
    int rc = arguments->format == FORMAT_C
                 ? aq_export_c(report->snapshot, arguments->name, &file, &report->figures, error)
                 : put_onnx(arguments, report, &file, error);
    if (rc == 0 && arguments->header != NULL) {
        rc = aq_export_c_header(report->snapshot, arguments->name, &header, error);
    }
    if (rc != 0) {
        rc = aq_fail_context(error, rc, "%s", report->source);
    }
    if (rc == 0) {
        report->bytes = file.size;
        rc = aq_file_write_atomic(report->path, file.data, file.size, error);
    }
    if (rc == 0 && arguments->header != NULL) {
        rc = aq_file_write_atomic(arguments->header, header.data, header.size, error);
    }
    aq_buffer_fini(&header);
    aq_buffer_fini(&file);
    return rc;
}

static int export_policy(const export_arguments *arguments, export_report *report, aq_error *error)
{
    if (arguments->header != NULL && arguments->format != FORMAT_C) {
        return aq_fail(error, AQ_E_INVALID, "--header is of C, and --format is %s",
                       format_words[arguments->format]);
    }
    int rc = choose_path(arguments, report, error);
    if (rc == 0) {
        rc = aq_policy_source_read(arguments->source, arguments->precision, &report->snapshot,
                                   report->source, &report->quantized, error);
    }
    rc = rc != 0 ? rc : aq_output_check(arguments->source, report->path, error);
    rc = rc != 0 ? rc : aq_output_check(arguments->source, arguments->header, error);
    rc = rc != 0 ? rc : aq_output_check_both(report->path, arguments->header, error);
    rc = rc != 0 ? rc : write_files(arguments, report, error);
    if (rc == 0) {
        report->mean = aq_snapshot_mean(report->snapshot);
        aq_output_written(report->path);
        aq_output_written(arguments->header);
    }
    return rc;
}

/* ---- the result ----------------------------------------------------------------------------- */

static json_t *make_json(const export_arguments *arguments, const export_report *report)
{
    const aq_snapshot *snapshot = &report->mean;
    const bool is_c = arguments->format == FORMAT_C;
    char net[256];
    json_t *object = json_pack(
        "{s:o, s:s, s:s, s:o, s:o}", "path", aq_json_text(report->path), "format",
        format_words[arguments->format], "name", arguments->name, "bytes",
        aq_json_count(report->bytes), "weights_bytes",
        aq_json_count(is_c ? report->figures.weights_bytes : report->model.weights_bytes));
    json_t *own =
        is_c ? json_pack("{s:o}", "stack_bytes", aq_json_count(report->figures.stack_bytes))
             : json_pack("{s:o, s:o}", "operators", aq_json_count(report->model.nodes), "opset",
                         aq_json_count((uint64_t)report->model.opset));
    json_t *policy = json_pack(
        "{s:o, s:s, s:s, s:b, s:o, s:s}", "policy", aq_json_text(report->source), "task",
        snapshot->task, "precision", aq_format_name(aq_snapshot_format(snapshot)), "requantized",
        report->quantized, "policy_version", aq_json_count(snapshot->version), "network",
        aq_net_spec_text(&snapshot->spec, net, sizeof(net)));
    const bool is_whole =
        object != NULL && own != NULL && policy != NULL && json_object_update(object, own) == 0 &&
        json_object_update(object, policy) == 0 &&
        (arguments->header == NULL ||
         json_object_set_new(object, "header", aq_json_text(arguments->header)) == 0);
    json_decref(own);
    json_decref(policy);
    if (!is_whole) {
        json_decref(object);
        object = NULL;
    }
    return object;
}

static void print_model(const export_report *report)
{
    aq_figure bytes, weights;
    aq_print_fact(stdout, "model", "%s, %s of it constants; %zu operators, opset %" PRId64,
                  aq_figure_bytes(&bytes, (double)report->bytes),
                  aq_figure_bytes(&weights, (double)report->model.weights_bytes),
                  report->model.nodes, report->model.opset);
    aq_print_fact(stdout, "takes", "obs, %s",
                  report->model.rows > 0 ? "one row at a time" : "any number of rows");
}

/* The layer is where most of the time goes on a processor without floats. */
static void print_first_layer(const export_arguments *arguments, const export_report *report)
{
    uint32_t layers[AQ_NET_LAYERS_MAX];
    char program[PATH_MAX], source[PATH_MAX];
    const aq_snapshot *snapshot = &report->mean;
    if (aq_snapshot_format(snapshot) != AQ_FORMAT_MIXED ||
        aq_layer_formats_choices(&snapshot->spec, layers) < 2) {
        return;
    }
    const uint32_t format = snapshot->layers[layers[0]].format;
    const uint32_t next = snapshot->layers[layers[1]].format;
    const char *others = aq_format_name(aq_format_is_integer(next) ? next : AQ_FORMAT_INT8_CHANNEL);
    if (aq_format_is_integer(format)) {
        return;
    }
    aq_print_fact(stdout, "first layer",
                  "%s: it multiplies floats, which a processor without them does slowly; "
                  "'%s quantize %s %s.aq --format %s%s' makes a policy of %s alone",
                  aq_format_name(format), aq_shell_program(program, sizeof(program)),
                  aq_path_is_folder(arguments->source)
                      ? aq_shell_word(source, sizeof(source), arguments->source)
                      : "RUN",
                  others, others, aq_env_code_option(snapshot->task), others);
}

static void print_text(const export_arguments *arguments, const export_report *report)
{
    aq_figure bytes, weights, stack;
    aq_print_fact(stdout, "text", "%s of C", aq_figure_bytes(&bytes, (double)report->bytes));
    aq_print_fact(stdout, "memory", "%s of constants, %s of values on the stack",
                  aq_figure_bytes(&weights, (double)report->figures.weights_bytes),
                  aq_figure_bytes(&stack, (double)report->figures.stack_bytes));
    if (arguments->header != NULL) {
        aq_print_fact(stdout, "header", "%s", arguments->header);
    }
    print_first_layer(arguments, report);
}

static void print(const export_arguments *arguments, const export_report *report)
{
    const aq_snapshot *snapshot = &report->mean;
    char path[PATH_MAX];
    char net[256], precision[AQ_PRECISION_TEXT_MAX];
    (void)printf("%s: %s, version %" PRIu64 ", %s%s\n",
                 aq_plain_text(path, sizeof(path), report->path), snapshot->task, snapshot->version,
                 aq_policy_source_precision(snapshot, precision),
                 report->quantized ? " as quantized now, which no actor ran" : "");
    aq_print_fact(stdout, "network", "%s", aq_net_spec_text(&snapshot->spec, net, sizeof(net)));
    if (arguments->format == FORMAT_C) {
        print_text(arguments, report);
    } else {
        print_model(report);
    }
}

static const export_arguments defaults = {
    .format = FORMAT_C, .name = "policy", .precision = AQ_PRECISION_AS_STORED};

static int export_or_say(void *given, aq_error *error)
{
    const export_arguments *arguments = given;
    export_report report = {0};
    int rc = export_policy(arguments, &report, error);
    if (rc == 0 && arguments->json) {
        rc = aq_print_json(make_json(arguments, &report), arguments->json, error);
    } else if (rc == 0) {
        print(arguments, &report);
    }
    aq_snapshot_unref(report.snapshot);
    return rc;
}

const aq_command aq_command_export = {
    .name = "export",
    .summary = "write a policy as one freestanding C file, or as ONNX",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = export_or_say,
};

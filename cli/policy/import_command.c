/*
 * actorq import: a policy that other programs trained.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/text/command.h"
#include "cli/text/output_file.h"
#include "cli/text/shell_text.h"
#include "common/base/memory.h"
#include "common/base/plain_text.h"
#include "common/policy/gaussian.h"
#include "common/sys/file.h"
#include "common/wire/wire_policy.h"
#include "envs/env_code.h"
#include "interchange/import/onnx_read.h"
#include "interchange/import/policy_import.h"
#include "interchange/import/state_dict.h"
#include "rollout/env_task.h"

#define FILE_BYTES_MAX ((size_t)1 << 28)

typedef struct import_arguments {
    const char *source;
    const char *task;
    const char *output;
    const char *output_name; /* of an ONNX model; NULL: the one that is likely */
    aq_state_dict_how how;   /* of arrays */
    enum aq_import_end end;
    aq_json_form json;
} import_arguments;

#define WORD(constant, number, word, suffix) word,
static const char *const activation_words[] = {AQ_ACTIVATIONS(WORD) NULL};
#undef WORD
_Static_assert(AQ_ACTIVATION_ELU == AQ_ACTIVATION_NONE + 3, "words are counted from the first");

static int take_end(void *member, const char *value, aq_error *error)
{
    return aq_import_end_from_text(value, member, error);
}

static const aq_option option_rows[] = {
    {"task", 0, "TASK", "the task that it plays; `actorq envs` lists them",
     AQ_TO_TEXT(import_arguments, task)},
    {"output", 'o', "FILE", "the policy file to write (default: policy.aq)",
     AQ_TO_TEXT(import_arguments, output)},
    {"end", 0, "END",
     "what the last layer gives: values or logits of choices, the action before tanh, or actions "
     "(default: values; tanh if the model ends in it)",
     AQ_TO(take_end, import_arguments, end)},
    {"activation", 0, "NAME", "what stands between the layers of arrays: relu, tanh, elu or none",
     AQ_TO_CHOICE(import_arguments, how.activation, AQ_ACTIVATION_NONE, activation_words)},
    {"layers", 0, "NAMES",
     "the modules of the policy among the arrays, in their order, with commas between (default: "
     "all, in the file's order)",
     AQ_TO_TEXT(import_arguments, how.layers)},
    {"output-name", 0, "NAME",
     "the output of an ONNX model that has several (default: the one called 'outputs')",
     AQ_TO_TEXT(import_arguments, output_name)},
    AQ_ALLOW_CODE_OPTION,
    AQ_JSON_OPTION_ROW(import_arguments, json, "the result"),
};

static const aq_options options_page = {
    .program = "actorq import",
    .usage = "FILE --task TASK [options]",
    .summary = "Makes a policy of a network that another program trained: an ONNX model, or arrays "
               "of PyTorch's state_dict in an .npz file. It is in fp32, to be quantized, "
               "evaluated, played and exported like any other.",
    .details =
        "Linear layers, layer norms, relu, tanh and elu are known, one behind the other, "
        "and\n"
        "scales and shifts by constants. docs/import.md tells how to write the .npz file.\n\n"
        "Examples:\n"
        "  actorq import dqn.npz --task gym:CartPole-v1 --activation relu\n"
        "  actorq import ppo.npz --task gym:Pendulum-v1 --activation tanh --end actions \\\n"
        "      --layers mlp_extractor.policy_net,action_net\n"
        "  actorq import td3.onnx --task gym:Pendulum-v1 --output pendulum.aq\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("FILE", import_arguments, source)},
};

/* ---- reading -------------------------------------------------------------------------------- */

static int read_arrays(const import_arguments *arguments, const aq_buffer *bytes,
                       aq_foreign_net *net, aq_error *error)
{
    if (arguments->output_name != NULL) {
        return aq_fail(error, AQ_E_INVALID, "arrays have no outputs: --output-name is for a model");
    }
    aq_npz_file *file = aq_alloc(1, sizeof(*file));
    if (file == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    int rc = aq_npz_read(bytes->data, bytes->size, file, error);
    rc = rc != 0 ? rc : aq_state_dict_read(file, &arguments->how, net, error);
    aq_free(file);
    return rc;
}

static int read_model(const import_arguments *arguments, const aq_buffer *bytes,
                      aq_foreign_net *net, aq_error *error)
{
    if (arguments->how.layers != NULL || arguments->how.activation != 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "a model tells its layers itself; --layers and --activation are for arrays");
    }
    return aq_onnx_read(bytes->data, bytes->size, arguments->output_name, net, error);
}

/* An archive begins with these letters; a model does not. */
static int read_net(const import_arguments *arguments, aq_foreign_net *net, bool *ret_is_archive,
                    aq_error *error)
{
    aq_buffer bytes;
    aq_buffer_init(&bytes, FILE_BYTES_MAX);
    int rc = aq_file_read(arguments->source, &bytes, error);
    if (rc == 0) {
        const bool is_archive = bytes.size >= 2 && memcmp(bytes.data, "PK", 2) == 0;
        rc = is_archive ? read_arrays(arguments, &bytes, net, error)
                        : read_model(arguments, &bytes, net, error);
        if (rc == AQ_E_FOREIGN && !is_archive) {
            rc = aq_npz_is_pickle(bytes.data, bytes.size)
                     ? aq_npz_refuse_pickle(error)
                     : aq_fail(error, rc, "neither an .npz nor an ONNX model");
        }
        rc = rc != 0 ? aq_fail_context(error, rc, "%s", arguments->source) : 0;
        *ret_is_archive = is_archive;
    }
    aq_buffer_fini(&bytes);
    return rc;
}

static int find_task(const import_arguments *arguments, aq_env_task *ret_task, aq_error *error)
{
    if (arguments->task == NULL) {
        return aq_fail(error, AQ_E_INVALID, "the file does not tell its task: --task TASK");
    }
    aq_env_allow_code(arguments->task);
    return aq_env_task_open(arguments->task, ret_task, error);
}

/* How many of the layers are norms. */
static uint32_t count_norms(const aq_net_spec *spec)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        count += spec->layers[i].kind == AQ_LAYER_NORM;
    }
    return count;
}

/* `ret_norms`: those that arrays may have meant otherwise. */
static int import_policy(const import_arguments *arguments, aq_snapshot **ret_snapshot,
                         uint32_t *ret_norms, aq_error *error)
{
    aq_env_task task = {0};
    aq_foreign_net net = {0};
    bool is_archive = false;
    int rc = aq_output_check(arguments->source, arguments->output, error);
    rc = rc != 0 ? rc : find_task(arguments, &task, error);
    rc = rc != 0 ? rc : read_net(arguments, &net, &is_archive, error);
    if (rc == 0) {
        rc = aq_policy_import(&net, task.env->name, &task.env->schema, arguments->end, ret_snapshot,
                              error);
        rc = rc != 0 ? aq_fail_context(error, rc, "%s", arguments->source) : 0;
    }
    rc = rc != 0 ? rc : aq_env_task_check_policy(&task, *ret_snapshot, error);
    rc = rc != 0 ? rc : aq_policy_file_write(arguments->output, *ret_snapshot, error);
    if (rc == 0) {
        *ret_norms = is_archive ? count_norms(&net.spec) : 0;
        aq_output_written(arguments->output);
    }
    aq_foreign_net_fini(&net);
    aq_env_task_fini(&task);
    return rc;
}

/* ---- the result ----------------------------------------------------------------------------- */

/* How many deviations are not what the policy draws with: it holds them between bounds. */
static uint32_t count_held(const aq_snapshot *snapshot)
{
    uint32_t count = 0;
    for (uint32_t i = 0; snapshot->head == AQ_HEAD_GAUSSIAN && i < snapshot->spec.arrays[0].count;
         i++) {
        count += (double)snapshot->arrays[i] < AQ_LOG_DEVIATION_MIN ||
                 (double)snapshot->arrays[i] > AQ_LOG_DEVIATION_MAX;
    }
    return count;
}

static json_t *make_json(const import_arguments *arguments, const aq_snapshot *snapshot,
                         uint32_t norms)
{
    char net[256];
    return json_pack(
        "{s:o, s:o, s:s, s:s, s:s, s:o, s:o, s:o}", "source", aq_json_text(arguments->source),
        "file", aq_json_text(arguments->output), "task", snapshot->task, "network",
        aq_net_spec_text(&snapshot->spec, net, sizeof(net)), "head", aq_head_name(snapshot->head),
        "parameters", aq_json_count(aq_net_spec_parameters(&snapshot->spec)), "held_deviations",
        aq_json_count(count_held(snapshot)), "assumed_norms", aq_json_count(norms));
}

static void print(const import_arguments *arguments, const aq_snapshot *snapshot, uint32_t norms)
{
    char path[PATH_MAX], program[PATH_MAX], net[256];
    (void)printf("%s: a policy for %s, fp32\n",
                 aq_plain_text(path, sizeof(path), arguments->output), snapshot->task);
    aq_print_fact(stdout, "made from", "%s", arguments->source);
    aq_print_fact(stdout, "network", "%s", aq_net_spec_text(&snapshot->spec, net, sizeof(net)));
    if (norms > 0) {
        aq_print_fact(
            stdout, "norms",
            "%u, read as layer norms over all values, epsilon 0.00001: arrays do not tell", norms);
    }
    aq_print_fact(stdout, "acts by", "%s", aq_head_name(snapshot->head));
    const uint32_t held = count_held(snapshot);
    if (held > 0) {
        aq_print_fact(stdout, "draws with",
                      "%u of %u deviations held, as all are from e^%g to e^%g of half a range",
                      held, snapshot->spec.arrays[0].count, AQ_LOG_DEVIATION_MIN,
                      AQ_LOG_DEVIATION_MAX);
    }
    const char *trust = aq_env_code_option(snapshot->task);
    (void)aq_shell_word(path, sizeof(path), arguments->output);
    (void)aq_shell_program(program, sizeof(program));
    aq_print_fact(stdout, "next", "%s eval %s%s; %s quantize %s int8.aq%s", program, path, trust,
                  program, path, trust);
}

static const import_arguments defaults = {.output = "policy.aq"};

static int import_and_say(void *given, aq_error *error)
{
    const import_arguments *arguments = given;
    aq_snapshot *snapshot = NULL;
    uint32_t norms = 0;
    int rc = import_policy(arguments, &snapshot, &norms, error);
    if (rc == 0 && arguments->json) {
        rc = aq_print_json(make_json(arguments, snapshot, norms), arguments->json, error);
    } else if (rc == 0) {
        print(arguments, snapshot, norms);
    }
    aq_snapshot_unref(snapshot);
    return rc;
}

const aq_command aq_command_import = {
    .name = "import",
    .summary = "make a policy of an ONNX model or of PyTorch's arrays",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = import_and_say,
};

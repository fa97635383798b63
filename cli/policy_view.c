/*
 * Policy view: see policy_view.h.
 */
#include "cli/policy_view.h"

#include <inttypes.h>

#include "cli/command.h"
#include "cli/figure_text.h"
#include "cli/layer_figures.h"
#include "cli/plain_text.h"
#include "cli/policy_source.h"

enum { TEXT_BYTES = 256 };

static const char *act_rule_name(uint32_t act_rule)
{
    return act_rule == AQ_ACT_ARGMAX ? "argmax" : "unknown";
}

static void figures_of(const aq_snapshot *snapshot, aq_layer_figures *figures)
{
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        aq_layer_figures_of_snapshot(snapshot, i, &figures[i]);
    }
}

/* null when it was not measured. */
static json_t *error_json(const aq_quant_error *error)
{
    if (error->rows == 0) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "rows", aq_json_count(error->rows),
                     "action_disagreement", aq_json_number((double)error->action_disagreement),
                     "output_rms", aq_json_number((double)error->output_rms), "output_max",
                     aq_json_number((double)error->output_max));
}

json_t *aq_policy_view_json(const aq_snapshot *snapshot, size_t file_bytes)
{
    char run_id[24], schema[TEXT_BYTES], network[TEXT_BYTES];
    aq_layer_figures figures[AQ_NET_LAYERS_MAX];
    figures_of(snapshot, figures);
    (void)snprintf(run_id, sizeof(run_id), "%016" PRIx64, snapshot->run_id);
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "kind", "policy", "run_id", run_id, "task", snapshot->task, "policy_version",
                     aq_json_count(snapshot->version), "learner_step",
                     aq_json_count(snapshot->learner_step), "schema",
                     aq_schema_text(&snapshot->schema, schema, sizeof(schema)), "network",
                     aq_net_spec_text(&snapshot->spec, network, sizeof(network)), "act_rule",
                     act_rule_name(snapshot->act_rule), "precision", aq_precision_name(snapshot),
                     "parameters", aq_json_count(aq_net_spec_parameters(&snapshot->spec)),
                     "tensor_bytes", aq_json_count(aq_snapshot_tensor_bytes(snapshot)),
                     "tensor_bytes_fp32", aq_json_count(aq_snapshot_tensor_bytes_f32(snapshot)),
                     "file_bytes", file_bytes ? aq_json_count(file_bytes) : json_null(),
                     "quant_error", error_json(&snapshot->quant_error), "layers",
                     aq_layer_figures_json(figures, snapshot->spec.layer_count));
}

static void print_error(FILE *out, const aq_quant_error *error)
{
    aq_figure share, rms, largest;
    if (error->rows == 0) {
        aq_print_fact(out, "error", "not measured");
        return;
    }
    aq_print_fact(out, "error",
                  "%s of %" PRIu32
                  " greedy actions differ from fp32, outputs by rms %s, at most %s",
                  aq_figure_share(&share, (double)error->action_disagreement), error->rows,
                  aq_figure_number(&rms, (double)error->output_rms),
                  aq_figure_number(&largest, (double)error->output_max));
}

static void print_size(FILE *out, const aq_snapshot *snapshot, size_t file_bytes)
{
    aq_figure file, tensors, full, times;
    size_t bytes = aq_snapshot_tensor_bytes(snapshot);
    size_t bytes_f32 = aq_snapshot_tensor_bytes_f32(snapshot);
    aq_print_fact(out, "size", "%s; %s of tensors, %s in fp32 (%s times as much)",
                  aq_figure_bytes(&file, (double)file_bytes),
                  aq_figure_bytes(&tensors, (double)bytes),
                  aq_figure_bytes(&full, (double)bytes_f32),
                  aq_figure_number(&times, (double)bytes_f32 / (double)bytes));
}

int aq_policy_view_print(FILE *out, const char *path, const aq_snapshot *snapshot,
                         size_t file_bytes)
{
    char plain[TEXT_BYTES], schema[TEXT_BYTES], network[TEXT_BYTES];
    aq_layer_figures figures[AQ_NET_LAYERS_MAX];
    figures_of(snapshot, figures);
    (void)fprintf(out, "%s: a policy, %s\n", aq_plain_text(plain, sizeof(plain), path),
                  aq_precision_name(snapshot));
    aq_print_fact(out, "task", "%s (%s)", snapshot->task,
                  aq_schema_text(&snapshot->schema, schema, sizeof(schema)));
    aq_print_fact(out, "version", "%" PRIu64 ", of learner step %" PRIu64 ", run %016" PRIx64,
                  snapshot->version, snapshot->learner_step, snapshot->run_id);
    aq_print_fact(out, "network", "%s, %zu parameters, acts by %s",
                  aq_net_spec_text(&snapshot->spec, network, sizeof(network)),
                  aq_net_spec_parameters(&snapshot->spec), act_rule_name(snapshot->act_rule));
    print_size(out, snapshot, file_bytes);
    print_error(out, &snapshot->quant_error);
    (void)fputc('\n', out);
    return aq_layer_figures_print(out, figures, snapshot->spec.layer_count);
}

const char *aq_policy_view_line(const aq_snapshot *snapshot, char *out, size_t size)
{
    aq_figure bytes, full;
    (void)snprintf(out, size,
                   "version %" PRIu64 " of learner step %" PRIu64 ", %s, %s (%s in fp32)",
                   snapshot->version, snapshot->learner_step, aq_precision_name(snapshot),
                   aq_figure_bytes(&bytes, (double)aq_snapshot_tensor_bytes(snapshot)),
                   aq_figure_bytes(&full, (double)aq_snapshot_tensor_bytes_f32(snapshot)));
    return out;
}

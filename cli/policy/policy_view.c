/*
 * Policy view: see policy_view.h.
 */
#include "cli/policy/policy_view.h"

#include <inttypes.h>
#include <stdbool.h>

#include "cli/policy/layer_figures.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "common/base/plain_text.h"

enum { TEXT_BYTES = 256 };

static int figures_of(const aq_snapshot *snapshot, aq_layer_figures *figures)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < snapshot->spec.layer_count; i++) {
        rc = aq_layer_figures_of_snapshot(snapshot, i, &figures[i]);
    }
    return rc;
}

/* Whether its error has a divergence of distributions: see aq_quant_error_measure. */
static bool has_distribution(const aq_snapshot *snapshot)
{
    const aq_net_spec *spec = &snapshot->spec;
    return aq_snapshot_terms(snapshot).head->drawing != NULL ||
           aq_layer_distributions(&spec->layers[spec->layer_count - 1]) != NULL;
}

/* null when it was not measured. */
static json_t *error_json(const aq_snapshot *snapshot)
{
    const aq_quant_error *error = &snapshot->quant_error;
    if (error->rows == 0) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "rows", aq_json_count(error->rows), "cost",
                     aq_json_number((double)error->cost), "output_rms",
                     aq_json_number((double)error->output_rms), "output_max",
                     aq_json_number((double)error->output_max), "kl",
                     has_distribution(snapshot) ? aq_json_number((double)error->kl) : json_null());
}

json_t *aq_policy_view_json(const aq_snapshot *snapshot, size_t file_bytes)
{
    char run_id[24], schema[TEXT_BYTES], network[TEXT_BYTES];
    aq_layer_figures figures[AQ_NET_LAYERS_MAX];
    if (figures_of(snapshot, figures)) {
        return NULL;
    }
    (void)snprintf(run_id, sizeof(run_id), "%016" PRIx64, snapshot->run_id);
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
        "policy", "run_id", run_id, "task", snapshot->task, "policy_version",
        aq_json_count(snapshot->version), "learner_step", aq_json_count(snapshot->learner_step),
        "schema", aq_schema_text(&snapshot->schema, schema, sizeof(schema)), "network",
        aq_net_spec_text(&snapshot->spec, network, sizeof(network)), "act_rule",
        aq_head_name(snapshot->head), "precision", aq_format_name(aq_snapshot_format(snapshot)),
        "parameters", aq_json_count(aq_net_spec_parameters(&snapshot->spec)), "tensor_bytes",
        aq_json_count(aq_snapshot_tensor_bytes(snapshot)), "tensor_bytes_fp32",
        aq_json_count(aq_snapshot_tensor_bytes_f32(snapshot)), "file_bytes",
        file_bytes ? aq_json_count(file_bytes) : json_null(), "quant_error", error_json(snapshot),
        "layers", aq_layer_figures_json(figures, snapshot->spec.layer_count));
}

static void print_error(FILE *out, const aq_snapshot *snapshot)
{
    const aq_quant_error *error = &snapshot->quant_error;
    aq_figure cost, rms, largest;
    if (error->rows == 0) {
        aq_print_fact(out, "error", "not measured");
        return;
    }
    aq_figure_number(&rms, (double)error->output_rms);
    aq_figure_number(&largest, (double)error->output_max);
    aq_figure_share(&cost, (double)error->cost);
    aq_print_fact(out, "error",
                  "costs %s of what is at stake, over %" PRIu32
                  " observations; outputs differ from fp32 by rms %s, at most %s",
                  cost.text, error->rows, rms.text, largest.text);
    if (has_distribution(snapshot)) {
        aq_print_fact(out, "divergence", "%s from fp32's distributions, on average",
                      aq_figure_number(&rms, (double)error->kl));
    }
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

void aq_policy_view_print_facts(FILE *out, const aq_snapshot *snapshot, size_t file_bytes)
{
    char schema[TEXT_BYTES], network[TEXT_BYTES];
    aq_print_fact(out, "task", "%s (%s)", snapshot->task,
                  aq_schema_text(&snapshot->schema, schema, sizeof(schema)));
    aq_print_fact(out, "version", "%" PRIu64 ", of learner step %" PRIu64 ", run %016" PRIx64,
                  snapshot->version, snapshot->learner_step, snapshot->run_id);
    aq_print_fact(out, "network", "%s, %zu parameters, acts by %s",
                  aq_net_spec_text(&snapshot->spec, network, sizeof(network)),
                  aq_net_spec_parameters(&snapshot->spec), aq_head_name(snapshot->head));
    print_size(out, snapshot, file_bytes);
    print_error(out, snapshot);
}

int aq_policy_view_print(FILE *out, const char *path, const aq_snapshot *snapshot,
                         size_t file_bytes)
{
    char plain[TEXT_BYTES];
    aq_layer_figures figures[AQ_NET_LAYERS_MAX];
    int rc = figures_of(snapshot, figures);
    if (rc != 0) {
        return rc;
    }
    (void)fprintf(out, "%s: a policy, %s\n", aq_plain_text(plain, sizeof(plain), path),
                  aq_format_name(aq_snapshot_format(snapshot)));
    aq_policy_view_print_facts(out, snapshot, file_bytes);
    (void)fputc('\n', out);
    return aq_layer_figures_print(out, figures, snapshot->spec.layer_count);
}

const char *aq_policy_view_line(const aq_snapshot *snapshot, char *out, size_t size)
{
    aq_figure bytes, full;
    (void)snprintf(
        out, size, "version %" PRIu64 " of learner step %" PRIu64 ", %s, %s (%s in fp32)",
        snapshot->version, snapshot->learner_step, aq_format_name(aq_snapshot_format(snapshot)),
        aq_figure_bytes(&bytes, (double)aq_snapshot_tensor_bytes(snapshot)),
        aq_figure_bytes(&full, (double)aq_snapshot_tensor_bytes_f32(snapshot)));
    return out;
}

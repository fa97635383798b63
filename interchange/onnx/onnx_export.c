/*
 * ONNX export: layer by layer, then the head, then what the file says of itself.
 */
#include "interchange/onnx/onnx_export.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/base/utf8.h"
#include "interchange/onnx/onnx_heads.h"
#include "interchange/onnx/onnx_layers.h"

static int check(const aq_snapshot *snapshot, aq_error *error)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < snapshot->spec.layer_count; i++) {
        rc = aq_onnx_layer_check(snapshot, i, error);
    }
    return rc != 0 ? rc : aq_onnx_head_check(snapshot, error);
}

/* 1 where a layer quantizes by the range of what comes, which is one row's only if it is alone. */
static int64_t rows_of(const aq_snapshot *snapshot)
{
    bool is_dynamic = false;
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        is_dynamic = is_dynamic || aq_onnx_layer_is_dynamic(&snapshot->layers[i]);
    }
    return is_dynamic ? 1 : 0;
}

static void put_layers(aq_onnx_graph *graph, const aq_snapshot *snapshot)
{
    const aq_net_spec *spec = &snapshot->spec;
    const char *values[AQ_NET_VALUES_MAX] = {"obs"};
    aq_onnx_takes(graph, &(aq_onnx_end){"obs",
                                        snapshot->schema.obs.dtype == AQ_DTYPE_U8
                                            ? "the observation, its bytes divided by 255"
                                            : "the observation",
                                        AQ_ONNX_FLOAT, aq_net_spec_inputs(spec)});
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_sources sources = aq_net_sources(spec, i);
        aq_onnx_layer layer = {.graph = graph, .snapshot = snapshot, .index = i};
        for (uint32_t k = 0; k < sources.count; k++) {
            layer.x[k] = values[sources.values[k]];
        }
        values[1 + i] = aq_onnx_put_layer(&layer, i + 1 == spec->layer_count ? "outputs" : NULL);
    }
}

static void put_facts(aq_onnx_graph *graph, const aq_snapshot *snapshot, const aq_onnx_note *notes)
{
    char text[256];
    aq_onnx_fact(graph, "actorq.task", "%s", snapshot->task);
    aq_onnx_fact(graph, "actorq.version", "%s", AQ_VERSION);
    aq_onnx_fact(graph, "actorq.run", "%016" PRIx64, snapshot->run_id);
    aq_onnx_fact(graph, "actorq.policy_version", "%" PRIu64, snapshot->version);
    aq_onnx_fact(graph, "actorq.learner_step", "%" PRIu64, snapshot->learner_step);
    aq_onnx_fact(graph, "actorq.spaces", "%s",
                 aq_schema_text(&snapshot->schema, text, sizeof(text)));
    aq_onnx_fact(graph, "actorq.network", "%s",
                 aq_net_spec_text(&snapshot->spec, text, sizeof(text)));
    aq_onnx_fact(graph, "actorq.head", "%s", aq_head_name(snapshot->head));
    aq_onnx_fact(graph, "actorq.precision", "%s", aq_format_name(aq_snapshot_format(snapshot)));
    for (; notes->key != NULL; notes++) {
        aq_onnx_fact(graph, notes->key, "%s", notes->value);
    }
}

int aq_onnx_export(const aq_snapshot *snapshot, const char *name, const aq_onnx_note *notes,
                   aq_buffer *out, aq_onnx_figures *ret_figures, aq_error *error)
{
    char says[AQ_TASK_NAME_MAX + 64];
    if (name[0] == '\0' || !aq_utf8_is_plain(name)) {
        return aq_fail(error, AQ_E_INVALID,
                       "export: the name is empty, holds a control character or is not UTF-8");
    }
    int rc = aq_snapshot_validate(snapshot, error);
    if (rc != 0) {
        return rc;
    }
    const aq_snapshot mean = aq_snapshot_mean(snapshot);
    snapshot = &mean;
    rc = check(snapshot, error);
    if (rc != 0) {
        return rc;
    }
    (void)snprintf(says, sizeof(says), "A policy for %.*s, version %" PRIu64, AQ_TASK_NAME_MAX - 1,
                   snapshot->task, snapshot->version);
    const aq_onnx_about about = {
        .name = name, .says = says, .version = (int64_t)(snapshot->version & INT64_MAX)};
    aq_onnx_graph *graph = aq_onnx_graph_create(rows_of(snapshot));
    if (graph == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "export: %s", aq_error_text(AQ_E_NOMEM));
    }
    put_layers(graph, snapshot);
    aq_onnx_put_head(graph, snapshot, "outputs");
    put_facts(graph, snapshot, notes);
    rc = aq_onnx_pack(graph, &about, out, ret_figures);
    aq_onnx_graph_destroy(graph);
    return rc != 0 ? aq_fail(error, rc, "export: %s", aq_error_text(rc)) : 0;
}

/*
 * Policy source: see policy_source.h.
 */
#include "cli/policy_source.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/sys/file.h"
#include "common/wire/wire_policy.h"
#include "quantizer/quantize.h"

int aq_precision_from_text(const char *text, enum aq_precision *ret_precision, aq_error *error)
{
    if (strcmp(text, "int8") == 0) {
        *ret_precision = AQ_PRECISION_INT8;
    } else if (strcmp(text, "fp32") == 0) {
        *ret_precision = AQ_PRECISION_FP32;
    } else {
        return aq_fail(error, AQ_E_INVALID, "'%s' is neither int8 nor fp32", text);
    }
    return 0;
}

/* The format of all layers, or 0 when they differ. */
static uint32_t common_format(const aq_snapshot *snapshot)
{
    uint32_t format = snapshot->layers[0].format;
    for (uint32_t i = 1; i < snapshot->spec.layer_count; i++) {
        if (snapshot->layers[i].format != format) {
            return 0;
        }
    }
    return format;
}

const char *aq_precision_name(const aq_snapshot *snapshot)
{
    uint32_t format = common_format(snapshot);
    return format ? aq_format_name(format) : "mixed";
}

/* ---- where it is ---------------------------------------------------------------------------- */

static int find_file(const char *run_or_policy, enum aq_precision precision, char *ret_path,
                     aq_error *error)
{
    struct stat status;
    bool is_folder = stat(run_or_policy, &status) == 0 && S_ISDIR(status.st_mode);
    const char *name = precision == AQ_PRECISION_FP32 ? "policy.fp32.aq" : "policy.aq";
    int rc = is_folder ? aq_text_format(ret_path, AQ_POLICY_PATH_MAX, "%s/%s", run_or_policy, name)
                       : aq_text_set(ret_path, AQ_POLICY_PATH_MAX, run_or_policy);
    if (rc) {
        return aq_fail(error, rc, "%s: the path is too long", run_or_policy);
    }
    if (is_folder && !aq_path_exists(ret_path)) {
        return aq_fail(error, AQ_E_NOT_FOUND,
                       "%s has no %s: it is no run folder, or its run has published no policy yet",
                       run_or_policy, name);
    }
    return 0;
}

/* ---- in which precision --------------------------------------------------------------------- */

static int quantize(const aq_snapshot *snapshot, aq_snapshot **ret_snapshot, aq_error *error)
{
    const aq_quantize_meta meta = {
        .run_id = snapshot->run_id,
        .version = snapshot->version,
        .learner_step = snapshot->learner_step,
        .task = snapshot->task,
        .schema = &snapshot->schema,
        .act_rule = snapshot->act_rule,
    };
    aq_params params;
    int rc = aq_params_init(&snapshot->spec, &params);
    if (rc) {
        return aq_fail(error, rc, "no memory for the policy's parameters");
    }
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        const aq_snapshot_layer *layer = &snapshot->layers[i];
        AQ_ASSERT(layer->format == AQ_FORMAT_F32);
        memcpy(params.weight[i], layer->weights, layer->weights_bytes);
        memcpy(params.bias[i], layer->bias,
               aq_layer_matrix(&snapshot->spec.layers[i]).rows * sizeof(*layer->bias));
    }
    rc =
        aq_quantize(&snapshot->spec, &params, &(aq_quantize_plan){.format = AQ_FORMAT_INT8_CHANNEL},
                    &meta, ret_snapshot, error);
    aq_params_fini(&params);
    return rc;
}

/* Takes the reference that `stored` is. */
static int convert(const char *path, aq_snapshot *stored, enum aq_precision precision,
                   aq_snapshot **ret_snapshot, aq_error *error)
{
    uint32_t wanted = precision == AQ_PRECISION_INT8 ? AQ_FORMAT_INT8_CHANNEL : AQ_FORMAT_F32;
    uint32_t format = common_format(stored);
    if (precision == AQ_PRECISION_AS_STORED || format == wanted) {
        *ret_snapshot = stored;
        return 0;
    }
    int rc;
    if (wanted == AQ_FORMAT_INT8_CHANNEL && format == AQ_FORMAT_F32) {
        rc = quantize(stored, ret_snapshot, error);
        rc = rc ? aq_fail_context(error, rc, "%s", path) : 0;
    } else {
        rc = aq_fail(error, AQ_E_UNSUPPORTED,
                     "%s holds %s weights, from which %s ones cannot be had; the run folder keeps "
                     "the same policy in fp32, as policy.fp32.aq",
                     path, aq_precision_name(stored), aq_format_name(wanted));
    }
    aq_snapshot_unref(stored);
    return rc;
}

int aq_policy_source_read(const char *run_or_policy, enum aq_precision precision,
                          aq_snapshot **ret_snapshot, char *ret_path, aq_error *error)
{
    aq_snapshot *stored;
    int rc = find_file(run_or_policy, precision, ret_path, error);
    if (!rc) {
        rc = aq_policy_file_read(ret_path, &stored, error);
    }
    return rc ? rc : convert(ret_path, stored, precision, ret_snapshot, error);
}

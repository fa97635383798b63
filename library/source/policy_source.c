/*
 * Policy source: see policy_source.h.
 */
#include "library/source/policy_source.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/choice.h"
#include "common/base/parse.h"
#include "common/config/layer_plan.h"
#include "common/config/run_config.h"
#include "common/net/rpc/frame.h"
#include "common/nn/obs_normalizer.h"
#include "common/nn/params.h"
#include "common/nn/table_policy.h"
#include "common/policy/layer_formats.h"
#include "common/sys/file.h"
#include "common/wire/wire_checkpoint.h"
#include "common/wire/wire_policy.h"
#include "quantizer/quantize/quantize.h"

int aq_precision_take(void *precision, const char *name, aq_error *error)
{
    return aq_format_parse(name, precision, error);
}

/* ---- where it is ---------------------------------------------------------------------------- */

static int find_policy(const char *folder, char *ret_path, aq_error *error)
{
    int rc = aq_path_in(ret_path, PATH_MAX, folder, "policy.aq", error);
    if (rc != 0) {
        return rc;
    }
    if (!aq_path_exists(ret_path)) {
        return aq_fail(error, AQ_E_NOT_FOUND,
                       "%s has no policy.aq: it is no run folder, or its run has written none "
                       "yet, as it does with each checkpoint",
                       folder);
    }
    return 0;
}

/* The first layer goes out in bf16 or in fp32 by itself, whatever a run asks for, and the last one
 * of a policy that draws in fp32. */
uint32_t aq_policy_source_main_format(const aq_snapshot *snapshot)
{
    uint32_t layers[AQ_NET_LAYERS_MAX];
    size_t weights[AQ_FORMAT_COUNT + 1] = {0};
    uint32_t most = AQ_FORMAT_MIXED;
    uint32_t count = aq_layer_formats_choices(&snapshot->spec, layers);
    if (count > 2 && snapshot->layers[layers[count - 1]].format == AQ_FORMAT_F32) {
        count--;
    }
    for (uint32_t i = count > 1 ? 1 : 0; i < count; i++) {
        const uint32_t format = snapshot->layers[layers[i]].format;
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&snapshot->spec.layers[layers[i]]);
        weights[format] += (size_t)matrix.rows * matrix.columns;
        most = weights[format] > weights[most] ? format : most;
    }
    return most;
}

/* Whether it is what somebody means who asks for that precision. A mixed policy is what its run
 * plays in its main format, unless that is fp32, which is another policy. */
static bool is_in(const aq_snapshot *snapshot, uint32_t precision)
{
    const uint32_t format = aq_snapshot_format(snapshot);
    return precision == AQ_PRECISION_AS_STORED || format == precision ||
           (format == AQ_FORMAT_MIXED && precision != AQ_FORMAT_F32 &&
            aq_policy_source_main_format(snapshot) == precision);
}

const char *aq_policy_source_precision(const aq_snapshot *snapshot, char out[AQ_PRECISION_TEXT_MAX])
{
    uint32_t layers[AQ_NET_LAYERS_MAX];
    const uint32_t format = aq_snapshot_format(snapshot);
    const uint32_t most = aq_policy_source_main_format(snapshot);
    const uint32_t count = aq_layer_formats_choices(&snapshot->spec, layers);
    (void)snprintf(out, AQ_PRECISION_TEXT_MAX, "%s", aq_format_name(format));
    if (format != AQ_FORMAT_MIXED) {
        return out;
    }
    aq_text_append(out, AQ_PRECISION_TEXT_MAX, ": %s", aq_format_name(most));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t own = snapshot->layers[layers[i]].format;
        char layer[32];
        (void)snprintf(layer, sizeof(layer), "layer %" PRIu32, i);
        if (own != most) {
            aq_text_append(out, AQ_PRECISION_TEXT_MAX, ", %s %s",
                           i == 0           ? "first layer"
                           : i + 1 == count ? "last layer"
                                            : layer,
                           aq_format_name(own));
        }
    }
    return out;
}

/* The file as it was broadcast, where it is in the precision; else the one in fp32, which a learner
 * that dies before it has written both leaves out. */
static int read_folder(const char *folder, uint32_t precision, aq_snapshot **ret_snapshot,
                       char *ret_path, aq_error *error)
{
    char exact[PATH_MAX];
    int rc = aq_path_in(exact, sizeof(exact), folder, "policy.fp32.aq", error);
    const bool has_exact = rc == 0 && aq_path_exists(exact);
    if (rc == 0 && (precision != AQ_FORMAT_F32 || !has_exact)) {
        aq_snapshot *snapshot = NULL;
        rc = find_policy(folder, ret_path, error);
        rc = rc != 0 ? rc : aq_policy_file_read(ret_path, &snapshot, error);
        if (rc == 0 && is_in(snapshot, precision)) {
            *ret_snapshot = snapshot;
            return 0;
        }
        aq_snapshot_unref(snapshot);
    }
    if (rc == 0 && !has_exact) {
        return aq_fail(error, AQ_E_NOT_FOUND,
                       "%s has its policy as it was broadcast, and not in fp32, as a learner died "
                       "before it had written that, or it was removed: take a checkpoint, which "
                       "has it unless it was trained quantized",
                       folder);
    }
    if (rc != 0) {
        return rc;
    }
    memcpy(ret_path, exact, sizeof(exact));
    return aq_policy_file_read(ret_path, ret_snapshot, error);
}

/* ---- checkpoints ---------------------------------------------------------------------------- */

int aq_policy_source_check(const char *path, const uint8_t *head, uint64_t file_bytes,
                           aq_error *error)
{
    if (file_bytes < AQ_FRAME_HEADER_BYTES ||
        (!aq_frame_begins(head, AQ_FRAME_POLICY) && !aq_frame_begins(head, AQ_FRAME_CHECKPOINT))) {
        return aq_fail(error, AQ_E_FOREIGN, "%s is neither a policy (.aq) nor a checkpoint (.aqc)",
                       path);
    }
    return file_bytes < aq_frame_size(head)
               ? aq_fail(error, AQ_E_CORRUPT, "%s was cut short: %" PRIu64 " of %zu bytes", path,
                         file_bytes, aq_frame_size(head))
               : 0;
}

/* Which of them the file is, by the beginning of its frame. */
static int look_at(const char *path, bool *ret_is_checkpoint, aq_error *error)
{
    uint8_t head[AQ_FRAME_HEADER_BYTES] = {0};
    struct stat status = {0};
    FILE *file = fopen(path, "rb");
    const bool is_read = file != NULL && fstat(fileno(file), &status) == 0;
    const size_t count = is_read ? fread(head, 1, sizeof(head), file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    *ret_is_checkpoint = aq_frame_begins(head, AQ_FRAME_CHECKPOINT);
    return !is_read || (count < sizeof(head) && (uint64_t)status.st_size >= sizeof(head))
               ? 0 /* who reads all of it says why it can't be read */
               : aq_policy_source_check(path, head, (uint64_t)status.st_size, error);
}

/* Of a table what its run published: its values would lose their differences in fewer bits. */
static void rate_table(const aq_checkpoint *checkpoint, const aq_net_spec *spec, aq_params *params)
{
    const int algorithm = aq_choice_find(aq_algorithm_names, checkpoint->algorithm);
    if (algorithm >= 0 && aq_algorithm_has((enum aq_algorithm)algorithm, AQ_LEARNS_A_TABLE)) {
        const aq_layer_matrix_shape table = aq_layer_matrix(&spec->layers[0]);
        aq_table_policy(table.rows, table.columns, params->weight[0], params->weight[0]);
    }
}

/* Of a run that normalized observations: its first layer takes them as they are, as of all versions
 * that it published. */
static int fold_observations(const aq_checkpoint *checkpoint, aq_params *params, aq_error *error)
{
    const aq_named_array *kept = aq_named_arrays_find(&checkpoint->arrays, "statistics");
    const uint32_t width = aq_net_spec_inputs(&checkpoint->spec);
    aq_obs_normalizer normalizer;
    if (kept == NULL) {
        return 0;
    }
    if (kept->type != AQ_ARRAY_F64 || kept->count != 1 + 2 * (size_t)width ||
        !aq_net_is_affine_in_input(&checkpoint->spec)) {
        return aq_fail(error, AQ_E_CORRUPT, "its statistics are not of its observations");
    }
    int rc = aq_obs_normalizer_init(&normalizer, width);
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for the statistics of observations");
    }
    memcpy(normalizer.statistics, kept->values, aq_array_bytes(kept));
    aq_obs_normalizer_restored(&normalizer);
    aq_obs_normalizer_fold(&normalizer, &checkpoint->spec, params);
    aq_obs_normalizer_fini(&normalizer);
    return 0;
}

/* What trains quantized acts by what its levels stand for, and is in the run's format, as its
 * versions were; all else in fp32. Settings that this build can't read say nothing. */
static int plan_of(const aq_checkpoint *checkpoint, const aq_net_spec *spec,
                   aq_quantize_plan *ret_plan, aq_error *error)
{
    aq_run_config config;
    *ret_plan = (aq_quantize_plan){.format = AQ_FORMAT_F32};
    aq_settings_init(aq_run_config_table(), &config);
    if (aq_settings_read_yaml(aq_run_config_table(), "config", checkpoint->config,
                              strlen(checkpoint->config), &config, NULL) != 0 ||
        config.learner.qat_bits == 0 || checkpoint->learner_step < config.learner.qat_delay ||
        config.quantizer.layer_formats[0] != '\0') {
        return 0;
    }
    ret_plan->format = aq_run_config_format(&config);
    ret_plan->bits = (uint32_t)config.learner.qat_bits;
    return aq_layer_plan(&config, spec, ret_plan->layer_formats, error);
}

/* What was trained. How its outputs become actions only a published version says. */
static int snapshot_of(aq_checkpoint *checkpoint, aq_snapshot **ret_snapshot, aq_error *error)
{
    const float *parameters;
    const aq_net_spec spec = aq_checkpoint_policy(checkpoint, &parameters);
    aq_quantize_plan plan;
    if (checkpoint->best_policy == NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "a checkpoint from before the run published its first policy");
    }
    const aq_quantize_meta meta = {
        .run_id = checkpoint->run_id,
        .version = checkpoint->policy_version,
        .learner_step = checkpoint->learner_step,
        .task = checkpoint->task,
        .schema = &checkpoint->schema,
        .head = checkpoint->best_policy->head,
    };
    aq_params params;
    int rc = aq_params_init(&spec, &params);
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for the policy's parameters");
    }
    memcpy(params.block, parameters, params.count * sizeof(*params.block));
    rate_table(checkpoint, &spec, &params);
    rc = fold_observations(checkpoint, &params, error);
    if (rc == 0) {
        rc = plan_of(checkpoint, &spec, &plan, error);
    }
    if (rc == 0) {
        rc = aq_quantize(&spec, &params, &plan, &meta, ret_snapshot, error);
    }
    aq_params_fini(&params);
    return rc;
}

static int read_checkpoint(const char *path, aq_snapshot **ret_snapshot, aq_error *error)
{
    aq_buffer bytes;
    aq_checkpoint checkpoint;
    aq_buffer_init(&bytes, AQ_CHECKPOINT_BYTES_MAX);
    int rc = aq_file_read(path, &bytes, error);
    if (rc == 0) {
        rc = aq_wire_checkpoint_unpack(bytes.data, bytes.size, &checkpoint, error);
        if (rc == 0) {
            rc = snapshot_of(&checkpoint, ret_snapshot, error);
            aq_checkpoint_fini(&checkpoint);
        }
        rc = rc != 0 ? aq_fail_context(error, rc, "%s", path) : 0;
    }
    aq_buffer_fini(&bytes);
    return rc;
}

static int read_file(const char *path, aq_snapshot **ret_snapshot, char *ret_path, aq_error *error)
{
    int rc = aq_text_set(ret_path, PATH_MAX, path);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: the path is too long", path);
    }
    bool is_checkpoint = false;
    rc = look_at(path, &is_checkpoint, error);
    return rc != 0         ? rc
           : is_checkpoint ? read_checkpoint(path, ret_snapshot, error)
                           : aq_policy_file_read(path, ret_snapshot, error);
}

/* ---- in which precision --------------------------------------------------------------------- */

/* Takes the reference that `stored` is. */
static int convert(const char *path, aq_snapshot *stored, uint32_t precision,
                   aq_snapshot **ret_snapshot, bool *ret_quantized, aq_error *error)
{
    const bool quantizes = !is_in(stored, precision);
    if (ret_quantized != NULL) {
        *ret_quantized = quantizes;
    }
    if (!quantizes) {
        *ret_snapshot = stored;
        return 0;
    }
    int rc;
    if (aq_snapshot_format(stored) == AQ_FORMAT_F32) {
        const aq_quantize_plan plan = {.format = precision};
        rc = aq_quantize_policy(stored, &plan, ret_snapshot, error);
        rc = rc != 0 ? aq_fail_context(error, rc, "%s", path) : 0;
    } else {
        rc = aq_fail(error, AQ_E_UNSUPPORTED,
                     "%s holds %s weights, from which %s ones cannot be had; a run folder keeps "
                     "its best policy in fp32, too, as policy.fp32.aq",
                     path, aq_format_name(aq_snapshot_format(stored)), aq_format_name(precision));
    }
    aq_snapshot_unref(stored);
    return rc;
}

int aq_policy_source_read(const char *run_or_policy, uint32_t precision, aq_snapshot **ret_snapshot,
                          char *ret_path, bool *ret_quantized, aq_error *error)
{
    aq_snapshot *stored;
    int rc = aq_path_is_folder(run_or_policy)
                 ? read_folder(run_or_policy, precision, &stored, ret_path, error)
                 : read_file(run_or_policy, &stored, ret_path, error);
    return rc != 0 ? rc : convert(ret_path, stored, precision, ret_snapshot, ret_quantized, error);
}

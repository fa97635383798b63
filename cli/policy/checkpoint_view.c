/*
 * Checkpoint view: see checkpoint_view.h.
 */
#include "cli/policy/checkpoint_view.h"

#include <inttypes.h>
#include <math.h>

#include "cli/policy/config_view.h"
#include "cli/policy/layer_figures.h"
#include "cli/policy/policy_view.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"

enum { TEXT_BYTES = 256 };

static void figures_of(const aq_checkpoint *checkpoint, aq_layer_figures *figures)
{
    const float *parameters;
    const aq_net_spec spec = aq_checkpoint_policy(checkpoint, &parameters);
    for (uint32_t i = 0; i < spec.layer_count; i++) {
        aq_layer_figures_of_block(&spec, parameters, i, &figures[i]);
    }
}

/* 0 for an algorithm that keeps none. */
static uint64_t optimizer_steps(const aq_checkpoint *checkpoint)
{
    const aq_named_array *steps = aq_named_arrays_find(&checkpoint->arrays, "adam_step");
    const bool has_one = steps != NULL && steps->type == AQ_ARRAY_U64 && steps->count == 1;
    return has_one ? *(const uint64_t *)steps->values : 0;
}

static json_t *shards_json(const aq_checkpoint *checkpoint)
{
    json_t *shards = json_array();
    for (uint32_t i = 0; i < checkpoint->shard_count; i++) {
        char store[24];
        (void)snprintf(store, sizeof(store), "%016" PRIx64, checkpoint->shards[i].store);
        json_t *shard = json_pack("{s:s, s:o}", "store", store, "inserted",
                                  aq_json_count(checkpoint->shards[i].inserted));
        aq_json_add(&shards, shard);
    }
    return shards;
}

/* null for a configuration that this build does not understand. */
static json_t *config_json(const aq_checkpoint *checkpoint)
{
    aq_run_config config;
    if (aq_config_view_parse(checkpoint->config, &config, NULL) != 0) {
        return json_null();
    }
    return aq_config_view_json(&config);
}

json_t *aq_checkpoint_view_json(const aq_checkpoint *checkpoint, size_t file_bytes)
{
    char run_id[24], schema[TEXT_BYTES], network[TEXT_BYTES];
    aq_layer_figures figures[AQ_NET_LAYERS_MAX];
    figures_of(checkpoint, figures);
    (void)snprintf(run_id, sizeof(run_id), "%016" PRIx64, checkpoint->run_id);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, "
        "s:o, s:o, s:o, s:o, s:o, s:o}",
        "kind", "checkpoint", "run_id", run_id, "task", checkpoint->task, "algorithm",
        checkpoint->algorithm, "schema",
        aq_schema_text(&checkpoint->schema, schema, sizeof(schema)), "network",
        aq_net_spec_text(&checkpoint->spec, network, sizeof(network)), "learner_step",
        aq_json_count(checkpoint->learner_step), "env_steps", aq_json_count(checkpoint->env_steps),
        "policy_version", aq_json_count(checkpoint->policy_version), "policy_versions",
        aq_json_count(checkpoint->policies.versions), "broadcast_bytes",
        aq_json_count(checkpoint->policies.bytes), "broadcast_bytes_fp32",
        aq_json_count(checkpoint->policies.bytes_fp32), "adam_step",
        aq_json_count(optimizer_steps(checkpoint)), "wall_s", aq_json_number(checkpoint->wall_s),
        "parameters", aq_json_count(aq_net_spec_parameters(&checkpoint->spec)), "best_return",
        aq_json_number(checkpoint->best_return), "best_confirmed", checkpoint->best_confirmed,
        "best_policy",
        checkpoint->best_policy ? aq_policy_view_json(checkpoint->best_policy, 0) : json_null(),
        "shards", shards_json(checkpoint), "layers",
        aq_layer_figures_json(figures, checkpoint->spec.layer_count), "config",
        config_json(checkpoint), "file_bytes", aq_json_count(file_bytes), "best_episodes",
        aq_json_count(checkpoint->best_episodes));
}

/* "parameters, target, adam_m, adam_v, adam_step" */
static const char *names_of(const aq_named_arrays *arrays, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < arrays->count; i++) {
        aq_text_append(text, size, "%s%s", i > 0 ? ", " : "", arrays->arrays[i].name);
    }
    return text;
}

static void print_facts(FILE *out, const aq_checkpoint *checkpoint, size_t file_bytes)
{
    aq_figure a, b, c;
    char schema[TEXT_BYTES], network[TEXT_BYTES], names[TEXT_BYTES];
    aq_print_fact(out, "task", "%s (%s)", checkpoint->task,
                  aq_schema_text(&checkpoint->schema, schema, sizeof(schema)));
    aq_print_fact(out, "run", "%016" PRIx64 ", %s so far", checkpoint->run_id,
                  aq_figure_duration(&a, checkpoint->wall_s));
    aq_print_fact(out, "network", "%s, %zu parameters, by %s",
                  aq_net_spec_text(&checkpoint->spec, network, sizeof(network)),
                  aq_net_spec_parameters(&checkpoint->spec), checkpoint->algorithm);
    aq_print_fact(out, "progress",
                  "learner step %" PRIu64 ", %s environment steps of %" PRIu32 " replay shard%s",
                  checkpoint->learner_step, aq_figure_count(&a, (double)checkpoint->env_steps),
                  checkpoint->shard_count, checkpoint->shard_count == 1 ? "" : "s");
    aq_print_fact(out, "policy", "version %" PRIu64 ", %" PRIu64 " published in %s (%s in fp32)",
                  checkpoint->policy_version, checkpoint->policies.versions,
                  aq_figure_bytes(&b, (double)checkpoint->policies.bytes),
                  aq_figure_bytes(&c, (double)checkpoint->policies.bytes_fp32));
    aq_print_fact(out, "size", "%s; %s", aq_figure_bytes(&a, (double)file_bytes),
                  names_of(&checkpoint->arrays, names, sizeof(names)));
}

static void print_best(FILE *out, const aq_checkpoint *checkpoint)
{
    char line[TEXT_BYTES];
    if (checkpoint->best_policy && isfinite(checkpoint->best_return)) {
        const aq_best_figure best = {
            .mean = checkpoint->best_return,
            .std = checkpoint->best_std,
            .version = checkpoint->best_policy->version,
            .episodes = checkpoint->best_episodes,
            .is_fresh = checkpoint->best_confirmed,
        };
        aq_print_fact(out, "best return", "%s", aq_figure_best(&best, line, sizeof(line)));
    }
    if (checkpoint->best_policy) {
        aq_print_fact(out, "best policy", "%s",
                      aq_policy_view_line(checkpoint->best_policy, line, sizeof(line)));
    }
}

int aq_checkpoint_view_print(FILE *out, const char *path, const aq_checkpoint *checkpoint,
                             size_t file_bytes)
{
    char plain[TEXT_BYTES];
    aq_run_config config;
    aq_layer_figures figures[AQ_NET_LAYERS_MAX];
    figures_of(checkpoint, figures);
    (void)fprintf(out, "%s: a checkpoint\n", aq_plain_text(plain, sizeof(plain), path));
    print_facts(out, checkpoint, file_bytes);
    print_best(out, checkpoint);
    if (aq_config_view_parse(checkpoint->config, &config, NULL) == 0) {
        aq_config_view_print(out, &config);
    }
    (void)fputc('\n', out);
    return aq_layer_figures_print(out, figures, checkpoint->spec.layer_count);
}

const char *aq_checkpoint_view_line(const aq_checkpoint *checkpoint, char *out, size_t size)
{
    aq_figure steps;
    (void)snprintf(out, size,
                   "learner step %" PRIu64 ", %s environment steps, policy version %" PRIu64,
                   checkpoint->learner_step, aq_figure_count(&steps, (double)checkpoint->env_steps),
                   checkpoint->policy_version);
    return out;
}

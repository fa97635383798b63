/*
 * Run plan: see run_plan.h.
 */
#include "learner/run/run_plan.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "common/config/gradient_rows.h"
#include "common/config/pacing.h"
#include "common/config/replay_rules.h"
#include "common/config/run_rules.h"
#include "common/config/run_tables.h"
#include "common/experience/column_catalog.h"
#include "common/policy/torso.h"
#include "common/wire/wire_experience.h"
#include "common/wire/wire_sample.h"
#include "envs/env_open.h"

/* Gradients that one Sample call brings: each is followed as it comes. */
enum { GRADIENTS_PER_REQUEST = 1 };

/* Seeds of the system are cut to what every JSON reader keeps whole. */
#define SEED_MAX ((UINT64_C(1) << 53) - 1)

/* The full name, what is seen and done in it, and its own threshold. */
static int take_task(const aq_run_config *config, aq_run_plan *plan, aq_error *error)
{
    aq_env *env;
    int rc = aq_env_open_to_act(config->task, &env, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "task");
    }
    rc = aq_text_set(plan->config.task, sizeof(plan->config.task), env->name);
    if (rc == 0) {
        rc = aq_text_set(plan->settings.task, sizeof(plan->settings.task), env->name);
    }
    if (rc != 0) {
        (void)aq_fail(error, rc, "task: the name '%s' is too long", env->name);
    }
    plan->settings.schema = env->schema;
    plan->environment_threshold = env->reward_threshold;
    aq_env_unref(env);
    return rc;
}

static void fill_settings(const aq_run_config *config, aq_run_plan *plan)
{
    aq_run_settings *settings = &plan->settings;
    settings->schema_hash = aq_schema_hash(&settings->schema);
    settings->seed = config->seed;
    settings->evaluation_threshold = plan->threshold;
    settings->versions_max = aq_pacing_versions_max(config);
    aq_run_settings_take(settings, config);
}

/* The tables are spread over the shards, and chunks serve the longest of their items. */
static int fill_tables(const aq_run_config *config, aq_run_plan *plan, aq_error *error)
{
    aq_run_settings *settings = &plan->settings;
    aq_run_tables tables;
    int rc = aq_run_tables_make(config, &tables, error);
    if (rc != 0) {
        return rc;
    }
    settings->table_count = tables.count;
    for (uint32_t i = 0; i < tables.count; i++) {
        aq_table_spec *spec = &settings->tables[i];
        const uint32_t span = aq_table_spec_span(&tables.specs[i]);
        *spec = tables.specs[i];
        spec->capacity /= config->replay.shards;
        spec->min_size = aq_run_config_shard_share(config, spec->min_size);
        if (spec->min_size > spec->capacity) { /* by rounding */
            spec->min_size = spec->capacity;
        }
        spec->capacity_bytes = aq_run_config_shard_share(config, spec->capacity_bytes);
        settings->n_step = span > settings->n_step ? span : settings->n_step;
    }
    plan->table = settings->tables[tables.learner];
    plan->sequence_length = plan->table.sequence_length;
    return 0;
}

/* What the algorithm wants of its actors. */
static void fill_recorded(aq_run_plan *plan)
{
    const char *const *names = plan->algorithm_class->needs.columns;
    aq_run_settings *settings = &plan->settings;
    for (; names != NULL && *names != NULL; names++) {
        AQ_ASSERT(settings->recorded_count < AQ_COLUMNS_RECORDED_MAX);
        aq_column *column = &settings->recorded[settings->recorded_count];
        int rc = aq_column_find(*names, &settings->schema, column);
        AQ_ASSERT(rc == 0);
        if (strcmp(*names, AQ_STATE_COLUMN) == 0) {
            column->bytes = aq_torso_state(plan->config.learner.torso) * (uint32_t)sizeof(float);
        }
        settings->recorded_count += column->bytes > 0;
    }
}

/* Of a queue of sequences a group is so many as make its steps, which need be no whole batches. */
static int check_groups(const aq_run_plan *plan, aq_error *error)
{
    const bool takes_batches = plan->algorithm_class->needs.update == AQ_UPDATES_BY_BATCH;
    if (takes_batches && !plan->config.actor.gradients &&
        aq_pacing_group_steps(&plan->config) > 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s learns from learner.batch_size sequences at a time, and a queue gives "
                       "sequences by their steps; replay.selector=uniform works",
                       plan->algorithm_class->name);
    }
    return 0;
}

/* A chunk goes in one message, so messages are as large as the longest takes. */
static int fit_messages(aq_run_plan *plan, aq_error *error)
{
    const aq_chunk longest = {.view.length = plan->layout.length_max}, *const chunk = &longest;
    const size_t bytes = aq_wire_experience_bytes_max(&plan->layout, &chunk, 1);
    const uint64_t segment = plan->config.replay.segment_bytes;
    const uint64_t most = segment < AQ_MESSAGE_BYTES_MAX ? segment : AQ_MESSAGE_BYTES_MAX;
    if (bytes > most) {
        return aq_fail(error, AQ_E_TOO_BIG,
                       "a chunk of %" PRIu32 " rows takes %zu bytes, more than a message and "
                       "replay.segment_bytes may, %" PRIu64 "; a lower replay.chunk_length or, of "
                       "gradients, a smaller network takes less",
                       plan->layout.length_max, bytes, most);
    }
    if (plan->config.net.message_bytes < bytes) {
        plan->config.net.message_bytes = bytes;
        plan->settings.config.net.message_bytes = bytes;
    }
    return 0;
}

/* A group is asked for by its steps, and gets as many rows as make them: one for each step at most,
 * where every episode ends at once. A row has room for a whole sequence, so large observations may
 * not leave room in a reply for so many; then a group of such episodes has fewer steps. */
static int fit_replies(aq_run_plan *plan, aq_error *error)
{
    const aq_run_config *config = &plan->config;
    const bool is_group = config->actor.gradients || aq_pacing_group_steps(config) > 0;
    uint32_t rows =
        config->actor.gradients ? GRADIENTS_PER_REQUEST : (uint32_t)aq_pacing_group_rows(config);
    for (uint32_t i = 0; i < plan->settings.table_count; i++) {
        const uint32_t length = plan->settings.tables[i].sequence_length;
        const size_t empty = aq_wire_sample_bytes(&plan->layout, length, 0);
        const size_t row = aq_wire_sample_bytes(&plan->layout, length, 1) - empty;
        const size_t most = (AQ_WIRE_SAMPLE_BYTES_MAX - empty) / row;
        if (most < (is_group ? 1 : rows)) {
            return aq_fail(error, AQ_E_TOO_BIG,
                           "a request for %" PRIu32 " rows of table %s, of %zu bytes each, has a "
                           "reply of more than %zu bytes; a lower %s takes less",
                           rows, plan->settings.tables[i].name, row, AQ_WIRE_SAMPLE_BYTES_MAX,
                           length > 0 ? "replay.sequence_length or learner.batch_size"
                                      : "learner.batch_size or learner.batches_per_request");
        }
        rows = most < rows ? (uint32_t)most : rows;
    }
    plan->settings.sample_rows = rows;
    return 0;
}

/* Steps that a shard must hold before anybody draws, and whenever the learner does. */
static uint64_t steps_needed(const aq_run_plan *plan, const aq_table_spec *spec)
{
    const bool is_read = strcmp(spec->name, plan->table.name) == 0;
    const uint64_t request = is_read ? aq_replay_rules_request_steps(&plan->config, spec) : 0;
    return request > spec->min_size ? request : spec->min_size;
}

/* Bytes are compared once it is known how large a step is. It takes most where each chunk is closed
 * after one new step; and a full table may lack a whole chunk. */
static int check_bytes(const aq_run_plan *plan, aq_error *error)
{
    const uint64_t chunk = aq_layout_bytes(&plan->layout, plan->layout.length_max);
    const uint64_t step = aq_layout_bytes(&plan->layout, plan->layout.n_step);
    for (uint32_t i = 0; i < plan->settings.table_count; i++) {
        const aq_table_spec *spec = &plan->settings.tables[i];
        const uint64_t steps = steps_needed(plan, spec);
        const uint64_t least = chunk + (steps * step > chunk ? steps * step : chunk);
        if (spec->capacity_bytes > 0 && spec->capacity_bytes < least) {
            return aq_fail(error, AQ_E_INVALID,
                           "replay: table %s: capacity_bytes leaves each shard %" PRIu64
                           " bytes, but the %" PRIu64
                           " steps that min_size or a request needs may take %" PRIu64
                           ", with a chunk more; capacity_bytes=%" PRIu64 " works",
                           spec->name, spec->capacity_bytes, steps, least,
                           least * plan->config.replay.shards);
        }
    }
    return 0;
}

static int take_threshold(const aq_run_config *config, aq_run_plan *plan, aq_error *error)
{
    int rc = aq_run_config_threshold(config, plan->environment_threshold, &plan->threshold);
    return rc != 0 ? aq_fail(error, rc, "evaluator.threshold: '%s' is not a number",
                             config->evaluator.threshold)
                   : 0;
}

int aq_run_plan_make(const aq_run_config *config, aq_run_plan *ret_plan, aq_error *error)
{
    int rc = aq_run_rules_check(config, error);
    if (rc != 0) {
        return rc;
    }
    aq_run_plan plan = {.config = *config};
    rc = take_task(config, &plan, error);
    if (rc != 0) {
        return rc;
    }
    if (config->seed == 0) {
        plan.config.seed = 1 + aq_rng_system_seed() % SEED_MAX;
    }
    aq_run_config_choose_algorithm(&plan.config, &plan.settings.schema);
    /* Bytes are of one size as they are: every network sees them divided by 255. */
    plan.config.learner.normalize_obs =
        plan.config.learner.normalize_obs && plan.settings.schema.obs.dtype == AQ_DTYPE_F32;
    rc = aq_run_rules_check_task(&plan.config, &plan.settings.schema, error);
    if (rc != 0) {
        return rc;
    }
    rc = take_threshold(config, &plan, error);
    if (rc != 0) {
        return rc;
    }
    plan.algorithm_class = aq_algorithm_at(plan.config.learner.algorithm);
    fill_settings(&plan.config, &plan);
    fill_recorded(&plan);
    plan.head = aq_algorithm_acts_by(plan.algorithm_class, &plan.config, &plan.settings.schema);
    rc = fill_tables(config, &plan, error);
    if (rc == 0) {
        rc = check_groups(&plan, error);
    }
    if (rc == 0) {
        rc = aq_run_settings_layout(&plan.settings, &plan.layout, error);
    }
    if (rc == 0) {
        rc = check_bytes(&plan, error);
    }
    if (rc == 0) {
        rc = fit_messages(&plan, error);
    }
    if (rc == 0) {
        rc = fit_replies(&plan, error);
    }
    if (rc != 0) {
        return rc;
    }
    rc = aq_run_settings_validate(&plan.settings, error);
    if (rc != 0) {
        return rc;
    }
    *ret_plan = plan;
    return 0;
}

int aq_run_plan_take_gradients(aq_run_plan *plan, size_t parameters, aq_error *error)
{
    aq_run_settings *settings = &plan->settings;
    settings->gradient_values = (uint32_t)parameters;
    settings->tables[0] = aq_gradient_rows_table(&plan->config);
    settings->table_count = 1;
    settings->n_step = 1;
    plan->table = settings->tables[0];
    int rc = aq_run_settings_layout(settings, &plan->layout, error);
    rc = rc == 0 ? fit_messages(plan, error) : rc;
    rc = rc == 0 ? fit_replies(plan, error) : rc;
    return rc == 0 ? aq_run_settings_validate(settings, error) : rc;
}

int aq_run_plan_change(const aq_run_plan *plan, const aq_run_config *config, aq_run_plan *ret_plan,
                       aq_error *error)
{
    aq_run_plan changed = *plan;
    int rc = aq_run_rules_check(config, error);
    if (rc == 0) {
        rc = take_threshold(config, &changed, error);
    }
    if (rc != 0) {
        return rc;
    }
    changed.config = *config;
    fill_settings(config, &changed);
    rc = fit_replies(&changed, error);
    rc = rc == 0 ? aq_run_settings_validate(&changed.settings, error) : rc;
    if (rc == 0) {
        *ret_plan = changed;
    }
    return rc;
}

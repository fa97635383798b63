/*
 * Run settings: see run_settings.h. No setting has a name here: rows of the configuration say who
 * sees them, and which may change.
 */
#include "common/config/run_settings.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/config/gradient_rows.h"
#include "common/config/run_rules.h"
#include "common/config/run_tables.h"
#include "common/experience/batch.h"

/* Each by itself, no name twice, and the span that all of them need. */
static int check_tables(const aq_run_settings *settings, aq_error *error)
{
    uint32_t span = 0;
    if (settings->table_count < 1 || settings->table_count > AQ_TABLES_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%" PRIu32 " tables; 1 to %d are possible",
                       settings->table_count, AQ_TABLES_MAX);
    }
    for (uint32_t i = 0; i < settings->table_count; i++) {
        const aq_table_spec *spec = &settings->tables[i];
        int rc = aq_table_spec_validate(spec, error);
        if (rc != 0) {
            return rc;
        }
        if (spec->samples_per_insert > 0.0 && spec->tolerance == 0.0) {
            return aq_fail(error, AQ_E_INVALID, "table %s: tolerance is 0 in a run that goes on",
                           spec->name);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(settings->tables[k].name, spec->name) == 0) {
                return aq_fail(error, AQ_E_INVALID, "two tables are called %s", spec->name);
            }
        }
        const uint32_t own = aq_table_spec_span(spec);
        span = own > span ? own : span;
    }
    if (settings->n_step != span) {
        return aq_fail(error, AQ_E_INVALID,
                       "chunks are made for items of %" PRIu32 " transitions, but the longest of "
                       "the tables spans %" PRIu32,
                       settings->n_step, span);
    }
    return 0;
}

/* That chunks of steps are made for. */
static int take_span(const aq_run_settings *settings, uint32_t *ret_span, aq_error *error)
{
    aq_table_spec steps;
    *ret_span = settings->n_step;
    if (settings->gradient_values == 0) {
        return 0;
    }
    int rc = aq_run_tables_of_actor(&settings->config, &steps, error);
    *ret_span = rc == 0 ? aq_table_spec_span(&steps) : 0;
    return rc;
}

int aq_run_settings_steps_layout(const aq_run_settings *settings, aq_layout *ret_layout,
                                 aq_error *error)
{
    aq_layout layout = {.hash = 0};
    uint32_t span;
    int rc = take_span(settings, &span, error);
    if (rc == 0) {
        rc = aq_layout_init(&settings->schema, span, (uint32_t)settings->config.replay.chunk_length,
                            &layout, error);
    }
    if (rc == 0) {
        rc = aq_layout_record(&layout, settings->recorded, settings->recorded_count, error);
    }
    if (rc == 0) {
        *ret_layout = layout;
    }
    return rc;
}

int aq_run_settings_layout(const aq_run_settings *settings, aq_layout *ret_layout, aq_error *error)
{
    return settings->gradient_values > 0
               ? aq_gradient_layout(&settings->config, settings->gradient_values, ret_layout, error)
               : aq_run_settings_steps_layout(settings, ret_layout, error);
}

uint64_t aq_run_settings_lanes(const aq_run_settings *settings)
{
    return settings->gradient_values > 0 ? 1 : settings->config.actor.envs;
}

uint64_t aq_run_settings_chunk_length(const aq_run_settings *settings)
{
    return settings->gradient_values > 0 ? 1 : settings->config.replay.chunk_length;
}

static int check_relations(const aq_run_settings *settings, aq_error *error)
{
    const uint64_t chunk_length = settings->config.replay.chunk_length;
    if (chunk_length < settings->n_step) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.chunk_length %" PRIu64 " is less than the %" PRIu32
                       " transitions that an item may span",
                       chunk_length, settings->n_step);
    }
    if (settings->sample_rows < 1 || settings->sample_rows > AQ_BATCH_ROWS_MAX) {
        return aq_fail(error, AQ_E_INVALID,
                       "a sample request of %" PRIu32 " rows; 1 to %" PRIu32 " are possible",
                       settings->sample_rows, AQ_BATCH_ROWS_MAX);
    }
    if (settings->gradient_values > 0 && !settings->config.actor.gradients) {
        return aq_fail(error, AQ_E_INVALID, "gradients are sent, but actor.gradients is false");
    }
    if (isinf(settings->evaluation_threshold)) {
        return aq_fail(error, AQ_E_INVALID, "evaluator.threshold is infinite");
    }
    return 0;
}

static int check_task(const aq_run_settings *settings, aq_error *error)
{
    if (settings->task[0] == '\0' || memchr(settings->task, '\0', sizeof(settings->task)) == NULL) {
        return aq_fail(error, AQ_E_INVALID, "task is empty or longer than %d characters",
                       AQ_TASK_NAME_MAX - 1);
    }
    int rc = aq_schema_validate(&settings->schema, error);
    if (rc == 0 && settings->schema_hash != aq_schema_hash(&settings->schema)) {
        rc = aq_fail(error, AQ_E_SCHEMA,
                     "the schema's hash is %016" PRIx64 ", not %016" PRIx64 " as was said",
                     aq_schema_hash(&settings->schema), settings->schema_hash);
    }
    return rc;
}

int aq_run_settings_validate(const aq_run_settings *settings, aq_error *error)
{
    int rc = check_task(settings, error);
    if (rc == 0) {
        rc = check_tables(settings, error);
    }
    if (rc == 0) {
        rc = aq_run_rules_check_seen(&settings->config, error);
    }
    if (rc == 0) {
        rc = check_relations(settings, error);
    }
    if (rc == 0) {
        aq_layout layout;
        rc = aq_run_settings_layout(settings, &layout, error);
        rc = rc == 0 ? aq_run_settings_steps_layout(settings, &layout, error) : rc;
    }
    return rc;
}

bool aq_run_settings_tell(const aq_run_settings *settings, const aq_setting *row)
{
    return row->seen_by != 0 || settings->gradient_values > 0;
}

static void copy_seen(const aq_run_config *from, bool live_alone, aq_run_config *to)
{
    const aq_settings_table *table = aq_run_config_table();
    for (size_t i = 0; i < table->count; i++) {
        const aq_setting *row = &table->rows[i];
        if ((row->seen_by != 0 || from->actor.gradients) && (row->is_live || !live_alone)) {
            aq_setting_copy(row, from, to);
        }
    }
}

void aq_run_settings_take(aq_run_settings *settings, const aq_run_config *config)
{
    copy_seen(config, false, &settings->config);
}

void aq_run_settings_take_live(aq_run_settings *settings, const aq_run_settings *now)
{
    copy_seen(&now->config, true, &settings->config);
    settings->evaluation_threshold = now->evaluation_threshold;
}

bool aq_run_settings_agree(const aq_run_settings *a, const aq_run_settings *b, uint32_t who)
{
    const aq_settings_table *table = aq_run_config_table();
    bool agree = strcmp(a->task, b->task) == 0 && a->schema_hash == b->schema_hash &&
                 a->n_step == b->n_step && a->versions_max == b->versions_max &&
                 a->gradient_values == b->gradient_values &&
                 a->recorded_count == b->recorded_count &&
                 memcmp(a->recorded, b->recorded, a->recorded_count * sizeof(a->recorded[0])) == 0;
    for (size_t i = 0; agree && i < table->count; i++) {
        const aq_setting *row = &table->rows[i];
        const bool is_seen =
            (row->seen_by & who) != 0 || (who == AQ_SEEN_BY_ACTORS && a->gradient_values > 0);
        agree = !is_seen || row->is_live || aq_setting_is_same(row, &a->config, &b->config);
    }
    return agree;
}

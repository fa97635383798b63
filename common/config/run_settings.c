/*
 * The check of a peer's run settings. Bounds are not written down again: each number is held to the
 * row of the configuration that it comes from.
 */
#include "common/config/run_settings.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/config/config_bounds.h"
#include "common/experience/batch.h"
#include "common/sys/log.h"

#define NUMBER(key, type, member)                                                                  \
    {                                                                                              \
        key, AQ_NUMBER_##type, offsetof(aq_run_settings, member)                                   \
    }

static const aq_bounded_number numbers[] = {
    NUMBER("replay.chunk_length", U32, chunk_length),
    NUMBER("net.message_bytes", U32, message_bytes),
    NUMBER("net.rpc_timeout_ms", U32, rpc_timeout_ms),
    NUMBER("net.heartbeat_ms", U32, heartbeat_ms),
    NUMBER("net.reconnect_min_ms", U32, reconnect_min_ms),
    NUMBER("net.reconnect_max_ms", U32, reconnect_max_ms),
    NUMBER("actor.envs", U32, actor_envs),
    NUMBER("actor.count", U32, actor_count),
    NUMBER("actor.epsilon_base", F64, epsilon_base),
    NUMBER("actor.epsilon_alpha", F64, epsilon_alpha),
    NUMBER("actor.noise", F64, noise),
    NUMBER("actor.flush_ms", U32, flush_ms),
    NUMBER("evaluator.screen_episodes", U32, screen_episodes),
    NUMBER("evaluator.episodes", U32, evaluation_episodes),
    NUMBER("evaluator.share", F64, evaluator_share),
    NUMBER("replay.segment_bytes", U64, storage.segment_bytes),
    NUMBER("replay.fsync_ms", U32, storage.fsync_ms),
    NUMBER("replay.memory_bytes", U64, storage.memory_bytes),
    NUMBER("replay.snapshot_ms", U32, storage.snapshot_ms),
};

static int check_numbers(const aq_run_settings *settings, aq_error *error)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        rc = aq_bounded_number_check(&numbers[i], NULL, settings, error);
    }
    return rc;
}

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

static int check_storage(const aq_storage_settings *storage, aq_error *error)
{
    if (storage->memory_bytes > 0 && !storage->durable) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.memory_bytes %" PRIu64 " needs files to which the other steps can "
                       "go: replay.storage must be segments",
                       storage->memory_bytes);
    }
    if (storage->memory_bytes > 0 && storage->compressed) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.memory_bytes %" PRIu64 " needs records that can be read in place: "
                       "replay.compression must be false",
                       storage->memory_bytes);
    }
    return 0;
}

static int check_relations(const aq_run_settings *settings, aq_error *error)
{
    if (settings->chunk_length < settings->n_step) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.chunk_length %" PRIu32 " is less than the %" PRIu32
                       " transitions that an item may span",
                       settings->chunk_length, settings->n_step);
    }
    if (settings->reconnect_max_ms < settings->reconnect_min_ms) {
        return aq_fail(error, AQ_E_INVALID,
                       "net.reconnect_max_ms %" PRIu32
                       " is less than net.reconnect_min_ms %" PRIu32,
                       settings->reconnect_max_ms, settings->reconnect_min_ms);
    }
    if (settings->sample_rows < 1 || settings->sample_rows > AQ_BATCH_ROWS_MAX) {
        return aq_fail(error, AQ_E_INVALID,
                       "a sample request of %" PRIu32 " rows; 1 to %" PRIu32 " are possible",
                       settings->sample_rows, AQ_BATCH_ROWS_MAX);
    }
    if (settings->noise_ladder > AQ_NOISE_UNIFORM) {
        return aq_fail(error, AQ_E_INVALID, "actor.noise_ladder %" PRIu32 " is none that is known",
                       settings->noise_ladder);
    }
    if (settings->log_level > AQ_LOG_OFF + 1u) {
        return aq_fail(error, AQ_E_INVALID, "log.level %" PRIu32 " is none that is known",
                       settings->log_level);
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
        rc = check_numbers(settings, error);
    }
    if (rc == 0) {
        rc = check_tables(settings, error);
    }
    if (rc == 0) {
        rc = check_storage(&settings->storage, error);
    }
    if (rc == 0) {
        rc = check_relations(settings, error);
    }
    return rc;
}

void aq_run_settings_take_live(aq_run_settings *settings, const aq_run_settings *now)
{
    settings->epsilon_base = now->epsilon_base;
    settings->epsilon_alpha = now->epsilon_alpha;
    settings->noise = now->noise;
    settings->noise_ladder = now->noise_ladder;
    settings->screen_episodes = now->screen_episodes;
    settings->evaluation_episodes = now->evaluation_episodes;
    settings->evaluation_threshold = now->evaluation_threshold;
    settings->evaluator_share = now->evaluator_share;
    settings->evaluator_fp32 = now->evaluator_fp32;
    settings->log_level = now->log_level;
}

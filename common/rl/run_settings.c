/*
 * The check of a peer's run settings. Bounds are not written down again: each number is held to the
 * row of the configuration that it comes from.
 */
#include "common/rl/run_settings.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/rl/batch.h"
#include "common/rl/run_config.h"

enum number_type { NUMBER_U32, NUMBER_U64, NUMBER_F64 };

typedef struct number_row {
    const char *key; /* in the configuration's table */
    enum number_type type;
    size_t offset;
} number_row;

#define NUMBER(key, type, member)                                                                  \
    {                                                                                              \
        key, NUMBER_##type, offsetof(aq_run_settings, member)                                      \
    }

static const number_row numbers[] = {
    NUMBER("learner.n_step", U32, n_step),
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
    NUMBER("replay.capacity", U64, replay_capacity),
    NUMBER("replay.min_size", U64, replay_min_size),
    NUMBER("replay.samples_per_insert", F64, samples_per_insert),
    NUMBER("replay.tolerance", F64, tolerance),
};

static const aq_setting *find_setting(const char *key)
{
    const aq_settings_table *table = aq_run_config_table();
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].key, key) == 0) {
            return &table->rows[i];
        }
    }
    return NULL;
}

/* As a double, which is exact below 2^53 and, for what is larger, still out of bounds. */
static double number_of(const aq_run_settings *settings, const number_row *row)
{
    const uint8_t *at = (const uint8_t *)settings + row->offset;
    uint32_t u32;
    uint64_t u64;
    double f64 = 0.0;
    switch (row->type) {
    case NUMBER_U32:
        memcpy(&u32, at, sizeof(u32));
        f64 = u32;
        break;
    case NUMBER_U64:
        memcpy(&u64, at, sizeof(u64));
        f64 = (double)u64;
        break;
    case NUMBER_F64:
        memcpy(&f64, at, sizeof(f64));
        break;
    }
    return f64;
}

static int check_numbers(const aq_run_settings *settings, aq_error *error)
{
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const aq_setting *setting = find_setting(numbers[i].key);
        AQ_ASSERT(setting != NULL);
        double value = number_of(settings, &numbers[i]);
        if (!(value >= setting->min && value <= setting->max)) { /* NaN is out of bounds too */
            return aq_fail(error, AQ_E_INVALID, "%s is %.17g; %.17g to %.17g are possible",
                           setting->key, value, setting->min, setting->max);
        }
    }
    return 0;
}

static int check_relations(const aq_run_settings *settings, aq_error *error)
{
    if (settings->chunk_length < settings->n_step) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.chunk_length %" PRIu32 " is less than learner.n_step %" PRIu32,
                       settings->chunk_length, settings->n_step);
    }
    if (settings->replay_capacity < settings->replay_min_size) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.capacity %" PRIu64 " is less than replay.min_size %" PRIu64,
                       settings->replay_capacity, settings->replay_min_size);
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
        rc = check_relations(settings, error);
    }
    return rc;
}

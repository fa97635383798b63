/*
 * Settings and policies of the actor's tests.
 */
#include "tests/unit/actor/core_kit.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "envs/env_open.h"

static void cartpole_schema(aq_schema *ret_schema)
{
    aq_env *env;
    int rc = aq_env_open("gym:CartPole-v1", &env, NULL);
    AQ_ASSERT(rc == 0);
    *ret_schema = env->schema;
    aq_env_unref(env);
}

aq_run_settings kit_settings(void)
{
    aq_run_settings settings = {
        .seed = 1,
        .n_step = 3,
        .chunk_length = 8,
        .message_bytes = 65536,
        .rpc_timeout_ms = KIT_TIMEOUT_MS,
        .heartbeat_ms = 100,
        .reconnect_min_ms = 10,
        .reconnect_max_ms = 100,
        .actor_envs = KIT_ENVS,
        .actor_count = 2,
        .epsilon_base = 0.0,
        .epsilon_alpha = 7.0,
        .flush_ms = KIT_FLUSH_MS,
        .screen_episodes = 3,
        .evaluation_episodes = 6,
        .evaluation_threshold = (double)NAN,
        .evaluator_share = 1.0,
        .tables = {{.name = "main",
                    .capacity = 10000,
                    .n_step = 3,
                    .min_size = 100,
                    .samples_per_insert = 8.0,
                    .tolerance = 1000.0}},
        .table_count = 1,
        .storage = {.segment_bytes = 1 << 20, .snapshot_ms = 1000},
        .sample_rows = 64,
    };
    int rc = aq_text_set(settings.task, sizeof(settings.task), "gym:CartPole-v1");
    AQ_ASSERT(rc == 0);
    cartpole_schema(&settings.schema);
    settings.schema_hash = aq_schema_hash(&settings.schema);
    rc = aq_run_settings_validate(&settings, NULL);
    AQ_ASSERT(rc == 0);
    return settings;
}

aq_snapshot *kit_policy(uint64_t run_id, uint64_t version, int32_t choice)
{
    return kit_policy_in(run_id, version, choice, AQ_FORMAT_F32);
}

aq_snapshot *kit_policy_in(uint64_t run_id, uint64_t version, int32_t choice, uint32_t format)
{
    aq_snapshot *snapshot = NULL;
    aq_snapshot_layer_data layer;
    aq_net_spec spec;
    int rc = aq_net_spec_init_mlp(4, NULL, 0, 2, AQ_ACTIVATION_RELU, &spec, NULL);
    AQ_ASSERT(rc == 0);
    rc = aq_snapshot_create(&spec, &format, &snapshot);
    AQ_ASSERT(rc == 0);
    snapshot->run_id = run_id;
    snapshot->version = version;
    snapshot->act_rule = AQ_ACT_ARGMAX;
    rc = aq_text_set(snapshot->task, sizeof(snapshot->task), "gym:CartPole-v1");
    AQ_ASSERT(rc == 0);
    cartpole_schema(&snapshot->schema);
    aq_snapshot_layer_edit(snapshot, 0, &layer);
    layer.bias[choice] = 1.0f;
    return snapshot;
}

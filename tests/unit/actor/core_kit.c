/*
 * Settings and policies of the actor's tests.
 */
#include "tests/unit/actor/core_kit.h"

#include "common/base/parse.h"
#include "tests/support/must.h"
#include "tests/support/run_settings_kit.h"

aq_run_settings kit_settings(void)
{
    aq_run_settings settings = run_settings_kit();
    aq_run_config *config = &settings.config;
    settings.seed = 1;
    config->replay.chunk_length = 8;
    config->net.message_bytes = 65536;
    config->net.rpc_timeout_ms = KIT_TIMEOUT_MS;
    config->net.heartbeat_ms = 100;
    config->net.reconnect_min_ms = 10;
    config->net.reconnect_max_ms = 100;
    config->actor.envs = KIT_ENVS;
    config->actor.epsilon_base = 0.0;
    config->actor.flush_ms = KIT_FLUSH_MS;
    config->evaluator.screen_episodes = 3;
    config->evaluator.episodes = 6;
    config->evaluator.share = 1.0;
    must(aq_run_settings_validate(&settings, NULL));
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
    must(aq_net_spec_init_mlp(4, NULL, 0, 2, AQ_ACTIVATION_RELU, &spec, NULL));
    must(aq_snapshot_create(&spec, &format, NULL, &snapshot));
    snapshot->run_id = run_id;
    snapshot->version = version;
    snapshot->head = AQ_HEAD_ARGMAX;
    must(aq_text_set(snapshot->task, sizeof(snapshot->task), "gym:CartPole-v1"));
    snapshot->schema = run_settings_kit().schema;
    aq_snapshot_layer_edit(snapshot, 0, &layer);
    layer.bias[choice] = 1.0f;
    return snapshot;
}

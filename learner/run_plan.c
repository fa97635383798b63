/*
 * Run plan: see run_plan.h.
 */
#include "learner/run_plan.h"

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/nearest.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "envs/env.h"

/* Seeds of the system are cut to what every JSON reader keeps whole. */
#define SEED_MAX ((UINT64_C(1) << 53) - 1)

static const aq_env_class *find_env(const char *task, aq_error *error)
{
    const aq_env_class *env = aq_env_find(task);
    if (env) {
        return env;
    }
    aq_nearest nearest;
    aq_nearest_init(&nearest, task);
    for (size_t i = 0; i < aq_env_count(); i++) {
        aq_nearest_offer(&nearest, aq_env_at(i)->name);
    }
    const char *guess = aq_nearest_name(&nearest);
    if (guess) {
        (void)aq_fail(error, AQ_E_NOT_FOUND, "task: '%s' is not known; did you mean '%s'?", task,
                      guess);
    } else {
        (void)aq_fail(error, AQ_E_NOT_FOUND,
                      "task: '%s' is not known; 'actorq envs' lists those that are", task);
    }
    return NULL;
}

static int describe(const aq_env_class *env, aq_schema *ret_schema, aq_error *error)
{
    void *params = aq_alloc(1, env->params_bytes);
    if (!params) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    env->init_params(params);
    env->schema(params, ret_schema);
    aq_free(params);
    return aq_schema_validate(ret_schema, error);
}

static void fill_settings(const aq_run_config *config, aq_run_plan *plan)
{
    aq_run_settings *settings = &plan->settings;
    uint64_t shards = config->replay.shards;
    settings->schema_hash = aq_schema_hash(&settings->schema);
    settings->seed = config->seed;
    settings->n_step = (uint32_t)config->learner.n_step;
    settings->chunk_length = (uint32_t)config->replay.chunk_length;
    settings->message_bytes = (uint32_t)config->net.message_bytes;
    settings->rpc_timeout_ms = (uint32_t)config->net.rpc_timeout_ms;
    settings->heartbeat_ms = (uint32_t)config->net.heartbeat_ms;
    settings->reconnect_min_ms = (uint32_t)config->net.reconnect_min_ms;
    settings->reconnect_max_ms = (uint32_t)config->net.reconnect_max_ms;
    settings->actor_envs = (uint32_t)config->actor.envs;
    settings->actor_count = (uint32_t)config->actor.count;
    settings->epsilon_base = config->actor.epsilon_base;
    settings->epsilon_alpha = config->actor.epsilon_alpha;
    settings->flush_ms = (uint32_t)config->actor.flush_ms;
    settings->screen_episodes = (uint32_t)config->evaluator.screen_episodes;
    settings->evaluation_episodes = (uint32_t)config->evaluator.episodes;
    settings->evaluation_threshold = plan->threshold;
    /* The table is spread over the shards. */
    settings->replay_capacity = config->replay.capacity / shards;
    settings->replay_min_size = (config->replay.min_size + shards - 1) / shards;
    if (settings->replay_min_size > settings->replay_capacity) { /* by rounding */
        settings->replay_min_size = settings->replay_capacity;
    }
    settings->samples_per_insert = config->replay.samples_per_insert;
    settings->tolerance = config->replay.tolerance;
    settings->sample_rows =
        (uint32_t)(config->learner.batch_size * config->learner.batches_per_request);
}

int aq_run_plan_make(const aq_run_config *config, aq_run_plan *ret_plan, aq_error *error)
{
    int rc = aq_run_config_validate(config, error);
    if (rc) {
        return rc;
    }
    aq_run_plan plan = {.config = *config};
    const aq_env_class *env = find_env(config->task, error);
    if (!env) {
        return AQ_E_NOT_FOUND;
    }
    rc = aq_text_set(plan.config.task, sizeof(plan.config.task), env->name);
    if (!rc) {
        rc = aq_text_set(plan.settings.task, sizeof(plan.settings.task), env->name);
    }
    if (rc) {
        return aq_fail(error, rc, "task: the name '%s' is too long", env->name);
    }
    if (config->seed == 0) {
        plan.config.seed = 1 + aq_rng_system_seed() % SEED_MAX;
    }
    rc = aq_run_config_threshold(config, env->reward_threshold, &plan.threshold);
    if (rc) {
        return aq_fail(error, rc, "evaluator.threshold: '%s' is not a number",
                       config->evaluator.threshold);
    }
    rc = describe(env, &plan.settings.schema, error);
    if (rc) {
        return aq_fail_context(error, rc, "%s", env->name);
    }
    rc = aq_chunk_layout_init(&plan.settings.schema, (uint32_t)config->learner.n_step,
                              (uint32_t)config->replay.chunk_length, &plan.layout, error);
    if (rc) {
        return rc;
    }
    AQ_ASSERT(config->learner.algorithm < aq_algorithm_count());
    plan.algorithm_class = aq_algorithm_at(config->learner.algorithm);
    fill_settings(&plan.config, &plan);
    rc = aq_run_settings_validate(&plan.settings, error);
    if (rc) {
        return rc;
    }
    *ret_plan = plan;
    return 0;
}

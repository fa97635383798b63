/*
 * Run plan: see run_plan.h.
 */
#include "learner/run_plan.h"

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "envs/env_open.h"

/* Seeds of the system are cut to what every JSON reader keeps whole. */
#define SEED_MAX ((UINT64_C(1) << 53) - 1)

/* The full name, what is seen and done in it, and its own threshold. */
static int take_task(const char *name, aq_run_plan *plan, double *ret_threshold, aq_error *error)
{
    aq_env *env;
    int rc = aq_env_open(name, &env, error);
    if (rc) {
        return aq_fail_context(error, rc, "task");
    }
    rc = aq_text_set(plan->config.task, sizeof(plan->config.task), env->name);
    if (!rc) {
        rc = aq_text_set(plan->settings.task, sizeof(plan->settings.task), env->name);
    }
    if (rc) {
        (void)aq_fail(error, rc, "task: the name '%s' is too long", env->name);
    }
    plan->settings.schema = env->schema;
    *ret_threshold = env->reward_threshold;
    aq_env_unref(env);
    return rc;
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
    settings->noise = config->actor.noise;
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
    double threshold = 0.0;
    rc = take_task(config->task, &plan, &threshold, error);
    if (rc) {
        return rc;
    }
    if (config->seed == 0) {
        plan.config.seed = 1 + aq_rng_system_seed() % SEED_MAX;
    }
    rc = aq_run_config_threshold(config, threshold, &plan.threshold);
    if (rc) {
        return aq_fail(error, rc, "evaluator.threshold: '%s' is not a number",
                       config->evaluator.threshold);
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

/*
 * Machines are slow here, so that a minute of the cluster costs a fraction of a second.
 */
#include "tests/sim/sim_scenario.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/rng.h"
#include "common/config/run_rules.h"
#include "tests/sim/sim_world.h"
#include "tests/support/chance.h"

enum {
    SCENARIO_STREAM = 0x7363656e,
    QUANTIZER_STREAM = 0x7175616e,
    STORAGE_STREAM = 0x73746f72,
    PACING_STREAM = 0x70616365,
    GRADIENT_STREAM = 0x67726164,
    LIAR_STREAM = 0x6c696172,
    RANKS_STREAM = 0x72616e6b
};

static void draw_learner(aq_rng *rng, aq_run_config *config)
{
    static const char *const hidden[] = {"", "8", "16", "8,8"};
    (void)snprintf(config->learner.hidden, sizeof(config->learner.hidden), "%s",
                   hidden[aq_rng_below(rng, 4)]);
    config->learner.batch_size = sim_draw_number(rng, 4, 24);
    config->learner.batches_per_request = sim_draw_number(rng, 1, 6);
    config->learner.prefetch = sim_draw_number(rng, 1, 4);
    config->learner.n_step = sim_draw_number(rng, 1, 5);
    config->learner.checkpoint_period_s = aq_rng_range(rng, 0.2, 3.0);
    config->learner.target_period = sim_draw_number(rng, 10, 100);
    (void)aq_rng_next(rng); /* where the format was drawn: seeds keep their meaning */
    config->quantizer.publish_period = sim_draw_number(rng, 2, 40);
    config->quantizer.error_rows = sim_draw_number(rng, 1, 32);
}

/* From a stream of its own: the rest of a seed's scenario is older than these. */
static void draw_quantizer(uint64_t seed, aq_run_config *config)
{
    static const char *const layers[] = {"", "", "-1:fp32", "0:bf16,-1:int8"};
    aq_rng rng = rng_of(seed, QUANTIZER_STREAM);
    config->quantizer.format = (uint32_t)aq_rng_below(&rng, AQ_FORMAT_COUNT);
    config->quantizer.activations = (uint32_t)aq_rng_below(&rng, 2);
    config->quantizer.full_period = sim_draw_number(&rng, 1, 40);
    config->quantizer.error_budget = aq_rng_range(&rng, 0.0, 1.0);
    (void)snprintf(config->quantizer.layer_formats, sizeof(config->quantizer.layer_formats), "%s",
                   layers[aq_rng_below(&rng, 4)]);
}

static void draw_replay(aq_rng *rng, aq_run_config *config)
{
    config->replay.chunk_length = sim_draw_number(rng, config->learner.n_step, 24);
    config->replay.min_size = sim_draw_number(rng, config->learner.batch_size, 300);
    config->replay.capacity =
        sim_draw_number(rng, config->replay.min_size + 400, config->replay.min_size + 2400);
    config->replay.samples_per_insert = aq_rng_range(rng, 1.0, 16.0);
    config->actor.count = sim_draw_number(rng, 1, 4);
    config->actor.envs = sim_draw_number(rng, 1, 4);
    config->actor.flush_ms = sim_draw_number(rng, 1, 60);
}

/* Likewise. After the tolerance, which other tables do not change. */
static void draw_storage(uint64_t seed, sim_scenario *scenario)
{
    aq_run_config *config = &scenario->config;
    aq_rng rng = rng_of(seed, STORAGE_STREAM);
    scenario->durable = sim_chance(&rng, 0.75);
    config->replay.storage = scenario->durable ? 0 : 1;
    config->replay.snapshot_ms = sim_draw_number(&rng, 10, 3000);
    const bool is_tight = sim_chance(&rng, 0.5);
    const uint64_t memory_bytes = sim_draw_number(&rng, 1000, 50000);
    config->replay.memory_bytes = scenario->durable && is_tight ? memory_bytes : 0;
    if (sim_chance(&rng, 0.4)) {
        config->replay.selector = AQ_SELECTOR_PRIORITIZED;
        config->replay.priority_exponent = aq_rng_range(&rng, 0.2, 1.5);
    }
    if (sim_chance(&rng, 0.4)) {
        (void)snprintf(config->replay.tables, sizeof(config->replay.tables),
                       "recent: selector=lifo capacity=%" PRIu64 " n_step=1",
                       sim_draw_number(&rng, 300, 2000));
    }
}

/* Likewise. Members are trusted with what they count and measure: neither may end the run. */
static void draw_liar(uint64_t seed, sim_scenario *scenario)
{
    aq_rng rng = rng_of(seed, LIAR_STREAM);
    scenario->has_liar = sim_chance(&rng, 0.5);
    if (scenario->has_liar) {
        scenario->config.limits.env_steps = UINT64_MAX;
        (void)snprintf(scenario->config.evaluator.threshold,
                       sizeof(scenario->config.evaluator.threshold), "1e300");
    }
}

static void draw_net(aq_rng *rng, aq_run_config *config)
{
    config->net.message_bytes = sim_draw_number(rng, 4096, 16384);
    config->net.heartbeat_ms = sim_draw_number(rng, 50, 500);
    config->net.member_timeout_ms = config->net.heartbeat_ms * sim_draw_number(rng, 3, 8) + 500;
    config->net.reconnect_min_ms = sim_draw_number(rng, 5, 50);
    config->net.reconnect_max_ms = sim_draw_number(rng, 100, 1500);
    config->net.rpc_timeout_ms = sim_draw_number(rng, 200, 2000);
}

/* The least tolerance that is accepted, or up to three times as much: where both sides are most
 * likely to wait for each other. */
static void draw_tolerance(aq_rng *rng, aq_run_config *config)
{
    aq_error error;
    double tolerance = 1.0;
    do {
        tolerance += 1.0;
        config->replay.tolerance = tolerance;
    } while (aq_run_rules_check(config, &error) != 0 && tolerance < 1e6);
    AQ_ASSERT(tolerance < 1e6);
    if (sim_chance(rng, 0.5)) {
        config->replay.tolerance = tolerance * aq_rng_range(rng, 1.0, 3.0);
    }
}

void sim_scenario_draw(uint64_t seed, sim_scenario *ret_scenario)
{
    sim_scenario scenario = {.seed = seed};
    aq_run_config *config = &scenario.config;
    aq_rng rng = rng_of(seed, SCENARIO_STREAM);
    aq_settings_init(aq_run_config_table(), config);
    config->seed = seed % 1000000 + 1;
    scenario.shards = sim_chance(&rng, 0.6) ? 1 : (uint32_t)sim_draw_number(&rng, 2, 3);
    config->replay.shards = scenario.shards;
    draw_learner(&rng, config);
    draw_quantizer(seed, config);
    draw_replay(&rng, config);
    draw_net(&rng, config);
    draw_tolerance(&rng, config);
    draw_storage(seed, &scenario);
    config->limits.env_steps = 1000000000;
    config->evaluator.screen_episodes = 2;
    config->evaluator.episodes = 4;
    (void)snprintf(config->evaluator.threshold, sizeof(config->evaluator.threshold), "1000");
    draw_liar(seed, &scenario);
    scenario.actors = (uint32_t)sim_draw_number(&rng, 1, 5);
    scenario.evaluators = sim_chance(&rng, 0.3);
    scenario.actor_step_ns = sim_draw_ns(&rng, AQ_NS_PER_MS, 10 * AQ_NS_PER_MS);
    scenario.evaluator_step_ns = 4 * AQ_NS_PER_MS;
    scenario.train_batch_ns = sim_draw_ns(&rng, AQ_NS_PER_MS, 15 * AQ_NS_PER_MS);
    scenario.publish_ns = sim_draw_ns(&rng, AQ_NS_PER_MS / 2, 30 * AQ_NS_PER_MS);
    scenario.storm_ns = sim_draw_ns(&rng, 8 * AQ_NS_PER_S, 40 * AQ_NS_PER_S);
    scenario.disorder = sim_chance(&rng, 0.3);
    *ret_scenario = scenario;
}

void sim_scenario_paced(uint64_t seed, sim_scenario *ret_scenario)
{
    aq_rng rng = rng_of(seed, PACING_STREAM);
    sim_scenario_draw(seed, ret_scenario);
    aq_run_config *config = &ret_scenario->config;
    (void)snprintf(config->learner.lag_max, sizeof(config->learner.lag_max), "%" PRIu64,
                   sim_draw_number(&rng, 0, 3));
    config->learner.n_step = 1;
    config->quantizer.publish_period = config->learner.batches_per_request;
    config->replay.selector = AQ_SELECTOR_QUEUE;
    config->replay.samples_per_insert = 0;
    config->replay.capacity = 20000;
    config->replay.memory_bytes = 0;
    config->replay.tables[0] = '\0';
}

void sim_scenario_ranks(uint64_t seed, sim_scenario *ret_scenario)
{
    aq_rng rng = rng_of(seed, RANKS_STREAM);
    if (sim_chance(&rng, 0.5)) {
        sim_scenario_paced(seed, ret_scenario);
    } else {
        sim_scenario_draw(seed, ret_scenario);
    }
    ret_scenario->ranks = (uint32_t)sim_draw_number(&rng, 1, SIM_RANKS_MAX - 1);
    ret_scenario->config.learner.gradient_format = (uint32_t)aq_rng_below(&rng, 3);
    ret_scenario->config.net.rank_timeout_ms = sim_draw_number(&rng, 1000, 5000);
}

void sim_scenario_gradients(uint64_t seed, sim_scenario *ret_scenario)
{
    aq_rng rng = rng_of(seed, GRADIENT_STREAM);
    sim_scenario_paced(seed, ret_scenario);
    aq_run_config *config = &ret_scenario->config;
    config->actor.gradients = true;
    /* Members are told the limit, which so has its bounds: counts of a liar would come to it. */
    config->limits.env_steps = 1000000000;
    ret_scenario->has_liar = false;
    config->learner.batch_size = config->actor.envs * sim_draw_number(&rng, 1, 6);
    config->learner.n_step = sim_draw_number(&rng, 1, 5);
    config->replay.chunk_length += config->learner.n_step; /* which fits, then */
    config->learner.gradient_format = (uint32_t)aq_rng_below(&rng, 3);
    config->learner.lag_damping = sim_chance(&rng, 0.5);
    (void)snprintf(config->learner.lag_max, sizeof(config->learner.lag_max), "%s",
                   sim_chance(&rng, 0.5) ? "none" : "20");
}

void sim_scenario_learning(uint64_t seed, sim_scenario *ret_scenario)
{
    sim_scenario scenario = {.seed = seed};
    aq_run_config *config = &scenario.config;
    aq_settings_init(aq_run_config_table(), config);
    config->seed = seed % 1000000 + 1;
    config->learner.batches_per_request = 4;
    config->replay.min_size = 500;
    config->replay.capacity = 20000;
    config->replay.samples_per_insert = 16;
    config->replay.tolerance = 600;
    config->quantizer.publish_period = 50;
    config->evaluator.screen_episodes = 5;
    config->evaluator.episodes = 20;
    config->limits.env_steps = 40000;
    scenario.durable = true;
    scenario.shards = 1;
    scenario.actors = 2;
    scenario.evaluators = 1;
    scenario.actor_step_ns = AQ_NS_PER_MS;
    scenario.evaluator_step_ns = AQ_NS_PER_MS;
    scenario.train_batch_ns = AQ_NS_PER_MS;
    scenario.publish_ns = AQ_NS_PER_MS;
    scenario.quiet_ns = 600 * AQ_NS_PER_S;
    *ret_scenario = scenario;
}

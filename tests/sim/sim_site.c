/*
 * Addresses are known before anybody listens there.
 */
#include "tests/sim/sim_site.h"

#include <stdio.h>

#include "common/base/assert.h"
#include "common/sys/cpu.h"
#include "learner/algorithms/agent.h"
#include "learner/nn/blas.h"
#include "tests/support/must.h"

void sim_shard_urls(uint32_t index, char *ret_rpc_url, char *ret_push_url, size_t size)
{
    (void)snprintf(ret_rpc_url, size, "tcp://10.0.0.%u:5560", SIM_HOST_SHARD + index + 1);
    (void)snprintf(ret_push_url, size, "tcp://10.0.0.%u:5561", SIM_HOST_SHARD + index + 1);
}

const char *const sim_liar_urls[SIM_LIAR_URLS] = {"tcp://10.0.0.12:1001", "tcp://10.0.0.12:1002",
                                                  "tcp://10.0.0.12:1003"};

/* What it may name as either, and what it draws for an address besides. */
static void place_liar(sim_site *site)
{
    char rpc_url[AQ_URL_MAX], push_url[AQ_URL_MAX];
    sim_rpc_place(&site->rpc, "ipc:///tmp/a", SIM_HOST_LIAR);
    sim_push_place(&site->push, "ipc:///tmp/a", SIM_HOST_LIAR);
    for (size_t i = 0; i < SIM_LIAR_URLS; i++) {
        sim_rpc_place(&site->rpc, sim_liar_urls[i], SIM_HOST_LIAR);
        sim_push_place(&site->push, sim_liar_urls[i], SIM_HOST_LIAR);
    }
    sim_shard_urls(0, rpc_url, push_url, sizeof(rpc_url));
    sim_push_place(&site->push, rpc_url, SIM_HOST_SHARD);
}

/* As a learner does before it has a folder. */
static void take_gradients(aq_run_plan *plan)
{
    aq_agent *agent;
    aq_error error = {0};
    if (!plan->config.actor.gradients) {
        return;
    }
    const aq_algorithm_setup setup = {.config = &plan->config,
                                      .schema = &plan->settings.schema,
                                      .sequence_length = plan->sequence_length,
                                      .seed = plan->config.seed};
    must(aq_agent_create(plan->algorithm_class, &setup, &agent, &error));
    must(aq_run_plan_take_gradients(plan, aq_agent_gradient_values(agent), &error));
    aq_agent_destroy(agent);
}

void sim_site_init(sim_site *site, const sim_scenario *scenario)
{
    aq_error error = {0};
    *site = (sim_site){.scenario = *scenario, .cpu_flags = aq_cpu_flags()};
    aq_blas_set_threads(1);
    sim_world_init(&site->world, scenario->seed);
    sim_network_init(&site->network, &site->world);
    sim_rpc_init(&site->rpc, &site->network);
    sim_push_init(&site->push, &site->network);
    sim_broadcast_init(&site->broadcast, &site->network, SIM_HOST_LEARNER);
    int rc = aq_run_plan_make(&scenario->config, &site->plan, &error);
    if (rc != 0) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)scenario->seed, error.text);
    }
    AQ_ASSERT(rc == 0);
    take_gradients(&site->plan);
    site->run_id = sim_draw_incarnation(&site->world);
    /* Where a liar says that it has a shard an actor has another lane, which may inherit. */
    sim_ledger_init(&site->ledger, &site->world, site->run_id, &site->plan.settings,
                    &site->plan.layout, scenario->shards == 1 && !scenario->has_liar);
    sim_rpc_place(&site->rpc, SIM_LEARNER_URL, SIM_HOST_LEARNER);
    for (uint32_t i = 0; i < scenario->shards; i++) {
        char rpc_url[AQ_URL_MAX], push_url[AQ_URL_MAX];
        sim_shard_urls(i, rpc_url, push_url, sizeof(rpc_url));
        sim_rpc_place(&site->rpc, rpc_url, SIM_HOST_SHARD + i);
        sim_push_place(&site->push, push_url, SIM_HOST_SHARD + i);
    }
    place_liar(site);
}

void sim_site_fini(sim_site *site)
{
    sim_ledger_fini(&site->ledger);
    sim_broadcast_fini(&site->broadcast);
    sim_push_fini(&site->push);
    sim_rpc_fini(&site->rpc);
    sim_network_fini(&site->network);
    sim_world_fini(&site->world);
}

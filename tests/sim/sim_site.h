/*
 * Site: where a simulated cluster stands: its world, its networks, the ledger, and the run that it
 * is for. Shared by all who are simulated; none of them looks into the ledger.
 */
#ifndef AQ_TESTS_SIM_SIM_SITE_H
#define AQ_TESTS_SIM_SIM_SITE_H

#include "learner/run/run_plan.h"
#include "tests/sim/sim_broadcast.h"
#include "tests/sim/sim_ledger.h"
#include "tests/sim/sim_network.h"
#include "tests/sim/sim_push.h"
#include "tests/sim/sim_rpc.h"
#include "tests/sim/sim_scenario.h"

enum {
    SIM_HOST_LEARNER = 0,
    SIM_HOST_SHARD = 1,
    SIM_HOST_ACTOR = SIM_HOST_SHARD + SIM_SHARDS_MAX,
    SIM_HOST_EVALUATOR = SIM_HOST_ACTOR + SIM_ACTORS_MAX,
    SIM_HOST_LIAR = SIM_HOST_EVALUATOR + SIM_EVALUATORS_MAX,
};

_Static_assert(SIM_HOST_LIAR + 1 <= SIM_HOSTS_MAX, "a host for everybody");

#define SIM_LEARNER_URL "tcp://10.0.0.1:5550"
#define SIM_POLICY_URL  "tcp://10.0.0.1:5551"

/* How many of whose faults there were. */
typedef struct sim_tally {
    uint32_t learner_kills, shard_kills, shard_stops, actor_kills, full_disks;
    uint32_t lost_ranks;
} sim_tally;

typedef struct sim_site {
    sim_world world;
    sim_network network;
    sim_rpc rpc;
    sim_push push;
    sim_broadcast broadcast;
    sim_ledger ledger;
    sim_scenario scenario;
    aq_run_plan plan;
    uint64_t run_id;
    uint32_t cpu_flags;
    sim_tally tally;
} sim_site;

void sim_site_init(sim_site *site, const sim_scenario *scenario);
void sim_site_fini(sim_site *site);

/* Where a liar says that it has shards. Nobody listens there. */
enum { SIM_LIAR_URLS = 3 };
extern const char *const sim_liar_urls[SIM_LIAR_URLS];

/* Where shard `index` listens, into url[size]. */
void sim_shard_urls(uint32_t index, char *ret_rpc_url, char *ret_push_url, size_t size);

#endif

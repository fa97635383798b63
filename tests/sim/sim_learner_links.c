/*
 * The shards that the learner's ranks draw from, as its roster has them.
 */
#include "common/base/assert.h"
#include "tests/sim/sim_learner.h"
#include "tests/support/must.h"

static sim_link *find_link(sim_rank *rank, uint64_t incarnation)
{
    for (size_t i = 0; i < SIM_LINKS_MAX; i++) {
        if (rank->links[i].incarnation == incarnation) {
            return &rank->links[i];
        }
    }
    return NULL;
}

void sim_learner_drop_link(sim_rank *rank, sim_link *link)
{
    aq_prefetch_remove_shard(rank->prefetch, link->incarnation);
    sim_client_close(link->client);
    *link = (sim_link){0};
}

static void dial(sim_rank *rank, const aq_member_record *record)
{
    sim_site *site = rank->learner->site;
    sim_link *link = find_link(rank, 0);
    AQ_ASSERT(link != NULL);
    sim_client *client = sim_client_open(
        &site->rpc, SIM_HOST_LEARNER, record->rpc_url,
        aq_prefetch_calls_max((uint32_t)site->scenario.config.learner.prefetch), NULL, NULL);
    must(aq_prefetch_add_shard(rank->prefetch, record->incarnation, record->rpc_url,
                               sim_client_channel(client)));
    *link = (sim_link){.incarnation = record->incarnation, .client = client, .wanted = true};
}

static void follow(sim_rank *rank)
{
    const aq_coordinator *coordinator = rank->learner->coordinator;
    for (size_t i = 0; i < SIM_LINKS_MAX; i++) {
        rank->links[i].wanted = false;
    }
    for (size_t i = 0; i < aq_coordinator_member_count(coordinator); i++) {
        const aq_member_record *record = aq_coordinator_member_at(coordinator, i);
        sim_link *known = find_link(rank, record->incarnation);
        if (record->role == AQ_ROLE_REPLAY && known != NULL) {
            known->wanted = true;
        } else if (record->role == AQ_ROLE_REPLAY) {
            dial(rank, record);
        }
    }
    for (size_t i = 0; i < SIM_LINKS_MAX; i++) {
        if (rank->links[i].incarnation != 0 && !rank->links[i].wanted) {
            sim_learner_drop_link(rank, &rank->links[i]);
        }
    }
}

void sim_learner_follow(sim_learner *learner)
{
    uint64_t change = aq_coordinator_shards_changed(learner->coordinator);
    if (change == learner->links_seen) {
        return;
    }
    learner->links_seen = change;
    for (uint32_t i = 0; i <= learner->site->scenario.ranks; i++) {
        follow(&learner->ranks[i]);
    }
}

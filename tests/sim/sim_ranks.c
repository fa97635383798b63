/*
 * The ranks of a simulated learner. Each is a thread while they meet and train, as a call to
 * another rank waits for it; the world stands still meanwhile, and what comes of it is the same
 * whatever the threads do first.
 */

#include "common/base/assert.h"
#include "tests/sim/sim_learner.h"
#include "tests/support/must.h"
#include "tests/support/rank_crew.h"

static uint32_t count_of(const sim_learner *learner)
{
    return 1 + learner->site->scenario.ranks;
}

/* ---- life ----------------------------------------------------------------------------------- */

static void link_up(sim_rank *rank, uint32_t number)
{
    const aq_run_config *config = &rank->learner->site->plan.config;
    rank->link = (aq_rank_link){.rank = number, .count = count_of(rank->learner)};
    must(aq_gradient_exchange_create(
        &rank->link, (enum aq_gradient_format)config->learner.gradient_format, &rank->exchange));
    must(aq_rank_meeting_create(&rank->link, &rank->meeting));
}

void sim_ranks_create(sim_learner *learner)
{
    const aq_run_plan *plan = &learner->site->plan;
    aq_error error = {0};
    for (uint32_t i = 0; i < count_of(learner); i++) {
        sim_rank *rank = &learner->ranks[i];
        *rank = (sim_rank){.learner = learner};
        if (count_of(learner) > 1) {
            link_up(rank, i);
        }
        const aq_algorithm_setup setup = {
            .config = &plan->config,
            .schema = &plan->settings.schema,
            .sequence_length = plan->sequence_length,
            .seed = plan->config.seed,
            .exchange = rank->exchange,
        };
        must(aq_agent_create(plan->algorithm_class, &setup, &rank->agent, &error));
    }
}

void sim_ranks_spread(sim_learner *learner)
{
    aq_named_arrays kept;
    aq_error error = {0};
    aq_agent_arrays(learner->ranks[0].agent, &kept);
    for (uint32_t i = 1; i < count_of(learner); i++) {
        must(aq_agent_restore(learner->ranks[i].agent, &kept, &error));
    }
}

void sim_ranks_begin(sim_learner *learner)
{
    for (uint32_t i = 0; i < count_of(learner); i++) {
        sim_rank *rank = &learner->ranks[i];
        aq_rank_turn_init(&rank->turn, rank->meeting, rank->trainer, rank->agent);
    }
}

void sim_ranks_destroy(sim_learner *learner)
{
    for (uint32_t i = 0; i < count_of(learner); i++) {
        sim_rank *rank = &learner->ranks[i];
        aq_agent_destroy(rank->agent);
        aq_gradient_exchange_destroy(rank->exchange);
        aq_rank_meeting_destroy(rank->meeting);
    }
}

/* ---- a turn --------------------------------------------------------------------------------- */

/* On a thread of the rank's. Only the first one's offers reach the rest of the world. */
static void act(void *user, aq_rank_link *link)
{
    sim_learner *learner = user;
    sim_rank *rank = &learner->ranks[link->rank];
    const bool is_first = link->rank == 0;
    aq_batch *group = rank->group_count > 0 ? rank->groups[0] : NULL;
    const aq_turn_wish wish = {.group = group,
                               .newest_version = is_first ? learner->newest_version : 0,
                               .coming_versions = is_first ? learner->coming_versions : 0};
    aq_error error = {0};
    rank->link = *link;
    rank->rc = aq_rank_turn_take(&rank->turn, &wish, &rank->outcome, &error);
    if (rank->rc != 0) {
        return;
    }
    const aq_rank_orders *orders = &rank->outcome.orders;
    rank->promised =
        orders->newest_version > 0 ? orders->newest_version + orders->coming_versions : 0;
    if (rank->outcome.is_ready || rank->outcome.is_outdated) {
        aq_trainer_core_train(rank->trainer, group, orders->newest_version);
    }
}

static uint64_t hash_of(const sim_rank *rank)
{
    aq_named_arrays arrays;
    aq_agent_arrays(rank->agent, &arrays);
    return aq_named_arrays_hash(&arrays);
}

static void check_same(sim_learner *learner)
{
    sim_world *world = &learner->site->world;
    for (uint32_t i = 0; i < count_of(learner); i++) {
        const sim_rank *rank = &learner->ranks[i];
        if (rank->rc != 0 || hash_of(rank) != hash_of(&learner->ranks[0])) {
            sim_broken(world, SIM_RANKS, "rank %u differs from rank 0 after step %llu (%d)", i,
                       (unsigned long long)sim_learner_step(learner), rank->rc);
        }
    }
}

/* What has to hold of a group that was trained on, and who has a group no more. */
static void take_groups(sim_learner *learner)
{
    for (uint32_t i = 0; i < count_of(learner); i++) {
        sim_rank *rank = &learner->ranks[i];
        const aq_rank_outcome *outcome = &rank->outcome;
        if (outcome->is_ready) {
            sim_learner_check_lag(learner, rank->groups[0], outcome->orders.newest_version);
        }
        if (outcome->is_ready || outcome->is_outdated) {
            sim_learner_group_done(rank);
        }
    }
}

/* From the call on at which a rank is lost none gets an answer any more, in this turn or in the
 * next, which is their last one. */
static void lose(sim_learner *learner)
{
    crew_run(count_of(learner), learner->lost_at, act, learner);
    learner->lost_at = 1;
    crew_run(count_of(learner), learner->lost_at, act, learner);
    for (uint32_t i = 0; i < count_of(learner); i++) {
        AQ_ASSERT(learner->ranks[i].rc == AQ_E_PEER);
    }
}

void sim_ranks_turn(sim_learner *learner)
{
    learner->met_ns = sim_now_ns(&learner->site->world);
    if (learner->lost_at > 0) {
        lose(learner);
        return;
    }
    crew_run(count_of(learner), 0, act, learner);
    if (learner->site->scenario.plant == SIM_PLANT_RANK && sim_learner_step(learner) > 50) {
        aq_named_arrays arrays;
        aq_agent_arrays(learner->ranks[1].agent, &arrays);
        ((float *)arrays.arrays[0].values)[0] += 1e-3f;
    }
    check_same(learner);
    take_groups(learner);
}

/* ---- a rank is lost ------------------------------------------------------------------------- */

static void on_start_again(void *user, uint64_t life)
{
    sim_learner *learner = user;
    (void)life;
    if (!learner->site->network.hosts[SIM_HOST_LEARNER].up) {
        sim_learner_start(learner);
    }
}

/* The others have found out: the first one writes a checkpoint, all end, and the launcher starts
 * them again. */
static void on_lost(void *user, uint64_t life)
{
    sim_learner *learner = user;
    sim_site *site = learner->site;
    sim_world *world = &site->world;
    if (!learner->runs || learner->life != life || learner->ended ||
        sim_host_postpones(&site->network, SIM_HOST_LEARNER, on_lost, learner, life)) {
        return;
    }
    sim_trace(world, "ranks end", sim_learner_step(learner), 0);
    sim_learner_training_finish(learner);
    sim_learner_kill(learner);
    sim_agenda_at(world->agenda, sim_now_ns(world) + AQ_NS_PER_S, on_start_again, learner, 0);
}

void sim_learner_lose_rank(sim_learner *learner, unsigned lost_at)
{
    sim_site *site = learner->site;
    const int64_t timeout_ms = (int64_t)site->plan.config.net.rank_timeout_ms;
    if (learner->lost_at == 0 && learner->runs && !learner->ended) {
        learner->lost_at = lost_at;
        sim_agenda_at(site->world.agenda, sim_now_ns(&site->world) + timeout_ms * AQ_NS_PER_MS,
                      on_lost, learner, learner->life);
    }
}

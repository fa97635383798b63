/*
 * The trainer's and the stage's threads as events: a group takes its time, a policy takes its time,
 * and a crash may come between any two of them.
 */
#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/config/annealing.h"
#include "common/config/pacing.h"
#include "common/wire/wire_policy.h"
#include "learner/algorithms/agent_ranks.h"
#include "tests/sim/sim_learner.h"
#include "tests/support/must.h"

enum { VERSIONS_RESERVED = 16 };

/* Ranks meet at least so often, as trainers do. */
#define IDLE_NS (50 * AQ_NS_PER_MS)

/* From one thread to another. */
#define MAILBOX_NS (50 * AQ_NS_PER_US)

/* Whether the event is not for this life, or not for now. */
static bool is_not_now(sim_learner *learner, sim_event_fn run, uint64_t life)
{
    return !learner->runs || learner->life != life ||
           sim_host_postpones(&learner->site->network, SIM_HOST_LEARNER, run, learner, life);
}

static void ask(sim_learner *learner, int64_t pause_ns, sim_event_fn run)
{
    sim_world *world = &learner->site->world;
    sim_agenda_at(world->agenda, sim_now_ns(world) + pause_ns, run, learner, learner->life);
}

/* ---- the stage ------------------------------------------------------------------------------ */

static int stage_next_version(void *user, uint64_t *ret_version, aq_error *error)
{
    sim_learner *learner = user;
    (void)error;
    if (learner->next_version == learner->reserved_end) {
        learner->next_version =
            sim_learner_reserve(learner, learner->next_version - 1, VERSIONS_RESERVED);
        learner->reserved_end = learner->next_version + VERSIONS_RESERVED;
    }
    *ret_version = learner->next_version++;
    return 0;
}

/* The loop puts it on the shelf a moment after it was sent. */
static void on_report(void *user, uint64_t life)
{
    sim_learner *learner = user;
    if (is_not_now(learner, on_report, life)) {
        return;
    }
    learner->newest_version = learner->reports[0].snapshot->version;
    learner->coming_versions--;
    aq_policy_shelf_put(learner->shelf, &learner->reports[0]);
    learner->report_count--;
    memmove(&learner->reports[0], &learner->reports[1],
            learner->report_count * sizeof(learner->reports[0]));
}

static void broadcast(sim_learner *learner, const aq_publication *publication)
{
    const aq_buffer *frame = aq_publication_broadcast(publication);
    aq_buffer planted;
    aq_buffer_init(&planted, SIZE_MAX);
    if (learner->site->scenario.plant == SIM_PLANT_POLICY) {
        publication->snapshot->learner_step++;
        must(aq_wire_policy_pack(publication->snapshot, &planted));
        publication->snapshot->learner_step--;
        frame = &planted;
    }
    sim_broadcast_send(&learner->site->broadcast, frame->data, frame->size);
    aq_buffer_fini(&planted);
}

static void stage_publish(void *user, aq_publication *publication)
{
    sim_learner *learner = user;
    AQ_ASSERT(learner->report_count < SIM_REPORTS_MAX);
    sim_ledger_published(&learner->site->ledger, publication->snapshot);
    broadcast(learner, publication);
    learner->reports[learner->report_count++] = *publication;
    ask(learner, MAILBOX_NS, on_report);
}

static void stage_checkpoint(void *user, const aq_named_arrays *arrays, uint64_t step)
{
    sim_learner_write(user, arrays, step);
}

static void stage_trouble(void *user, const aq_error *error)
{
    sim_learner *learner = user;
    sim_broken(&learner->site->world, SIM_PROGRESS, "a policy is not published: %s", error->text);
}

static void on_stage(void *user, uint64_t life)
{
    sim_learner *learner = user;
    if (is_not_now(learner, on_stage, life)) {
        return;
    }
    learner->staging = aq_quantizer_stage_run_one(learner->stage);
    if (learner->staging) {
        ask(learner, learner->site->scenario.publish_ns, on_stage);
    }
}

static void wake_stage(sim_learner *learner)
{
    if (!learner->staging) {
        learner->staging = true;
        ask(learner, learner->site->scenario.publish_ns, on_stage);
    }
}

/* ---- the trainer ---------------------------------------------------------------------------- */

/* Of a rank that is not the first: what that one will offer. */
static bool on_promise(void *user, const aq_params *params, uint64_t step, const float *obs,
                       size_t rows)
{
    sim_rank *rank = user;
    (void)params;
    (void)step;
    (void)obs;
    (void)rows;
    rank->promised += rank->promised > 0;
    return true;
}

static bool on_policy_due(void *user, const aq_params *params, uint64_t step, const float *obs,
                          size_t rows)
{
    sim_learner *learner = ((sim_rank *)user)->learner;
    if (!aq_quantizer_stage_offer_policy(learner->stage, params, step, obs, rows)) {
        return false;
    }
    learner->coming_versions++;
    wake_stage(learner);
    return true;
}

static void offer_checkpoint(sim_learner *learner)
{
    const aq_named_arrays *place =
        learner->checkpoint_wanted ? aq_quantizer_stage_checkpoint_place(learner->stage) : NULL;
    if (place == NULL) {
        return;
    }
    must(aq_agent_keep(learner->ranks[0].agent, place));
    if (aq_quantizer_stage_offer_checkpoint(learner->stage, sim_learner_step(learner), true)) {
        learner->checkpoint_wanted = false;
        wake_stage(learner);
    }
}

static int64_t group_ns(const sim_learner *learner)
{
    const sim_scenario *scenario = &learner->site->scenario;
    return scenario->train_batch_ns * (int64_t)scenario->config.learner.batches_per_request;
}

void sim_learner_check_lag(const sim_learner *learner, const aq_batch *group, uint64_t newest)
{
    const uint64_t versions_max = learner->site->plan.settings.versions_max;
    for (uint32_t i = 0; versions_max > 0 && i < group->rows; i++) {
        if (group->version[i] == 0 || group->version[i] + versions_max <= newest) {
            sim_broken(&learner->site->world, SIM_LAG,
                       "a step of version %" PRIu32 " is learned from when version %" PRIu64
                       " is out; %" PRIu64 " versions count",
                       group->version[i], newest, versions_max);
            return;
        }
    }
}

/* The version that the first rank takes for the newest that is out. */
static uint64_t newest_known(const sim_learner *learner)
{
    const bool is_planted = learner->site->scenario.plant == SIM_PLANT_LAG;
    return is_planted && learner->newest_version > 0 ? 1 : learner->newest_version;
}

/* The first rank goes by what is out, the others by what it promised. */
static void feed(sim_rank *rank)
{
    const sim_learner *learner = rank->learner;
    const bool is_first = rank == learner->ranks;
    aq_prefetch_tell_versions(rank->prefetch, is_first ? newest_known(learner) : rank->promised,
                              is_first ? learner->coming_versions : 0);
    aq_prefetch_tick(rank->prefetch, sim_now_ns(&learner->site->world));
}

static void feed_all(sim_learner *learner)
{
    for (uint32_t i = 0; i <= learner->site->scenario.ranks; i++) {
        feed(&learner->ranks[i]);
    }
}

void sim_learner_group_done(sim_rank *rank)
{
    aq_batch *group = rank->groups[0];
    rank->group_count--;
    memmove(&rank->groups[0], &rank->groups[1], rank->group_count * sizeof(rank->groups[0]));
    aq_prefetch_give_back(rank->prefetch, group);
}

static void train_alone(sim_learner *learner)
{
    sim_rank *own = &learner->ranks[0];
    const uint64_t trained = sim_learner_step(learner);
    aq_trainer_core_train(own->trainer, own->groups[0], newest_known(learner));
    if (sim_learner_step(learner) > trained) {
        sim_learner_check_lag(learner, own->groups[0], learner->newest_version);
    }
    sim_learner_group_done(own);
}

/* Each rank that is asked for a group has one. */
static bool can_train(const sim_learner *learner)
{
    for (uint32_t i = 0; i <= learner->site->scenario.ranks; i++) {
        if (learner->ranks[i].group_count == 0) {
            return false;
        }
    }
    return true;
}

static void on_trained(void *user, uint64_t life)
{
    sim_learner *learner = user;
    if (is_not_now(learner, on_trained, life)) {
        return;
    }
    learner->training = false;
    if (learner->site->scenario.ranks > 0) {
        sim_ranks_turn(learner);
    } else if (learner->ranks[0].group_count > 0) {
        train_alone(learner);
    }
    offer_checkpoint(learner);
    if (!learner->ended) {
        feed_all(learner);
    }
    if (can_train(learner)) {
        learner->training = true;
        ask(learner, group_ns(learner), on_trained);
    }
}

/* ---- the prefetcher ------------------------------------------------------------------------- */

static void on_ready(void *user, aq_batch *group)
{
    sim_rank *rank = user;
    sim_learner *learner = rank->learner;
    if (learner->ended || !learner->runs) {
        aq_prefetch_give_back(rank->prefetch, group);
        return;
    }
    AQ_ASSERT(rank->group_count < SIM_GROUPS_MAX);
    rank->groups[rank->group_count++] = group;
    if (!learner->training && can_train(learner)) {
        learner->training = true;
        ask(learner, group_ns(learner), on_trained);
    }
}

static void on_progress(void *user, uint64_t shard_incarnation, uint64_t inserted)
{
    sim_rank *rank = user;
    if (rank == rank->learner->ranks) {
        aq_coordinator_progress(rank->learner->coordinator, shard_incarnation, inserted);
    }
}

static void on_trouble(void *user, const char *shard, const char *reason)
{
    (void)user;
    (void)shard;
    (void)reason;
}

static int64_t rank_now_ns(void *user)
{
    const sim_rank *rank = user;
    return sim_now_ns(&rank->learner->site->world);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void create_prefetch(sim_rank *rank)
{
    const sim_site *site = rank->learner->site;
    const aq_run_config *config = &site->plan.config;
    const uint32_t gradients =
        site->plan.settings.gradient_values > 0 ? site->plan.settings.sample_rows : 0;
    const aq_prefetch_config prefetch = {
        .run_id = site->run_id,
        .table = site->plan.table,
        .importance_exponent = aq_importance_exponent_max(config),
        .batch_rows = gradients > 0 ? gradients : (uint32_t)config->learner.batch_size,
        .batch_count = gradients > 0 ? 1 : (uint32_t)config->learner.batches_per_request,
        .steps = gradients,
        .versions_max = site->plan.settings.versions_max,
        .in_flight = (uint32_t)config->learner.prefetch,
        .discount = (float)config->learner.discount,
        .wait_ms = (uint32_t)config->net.rpc_timeout_ms / 2,
        .timeout_ms = (uint32_t)config->net.rpc_timeout_ms,
    };
    const aq_prefetch_owner owner = {
        .user = rank,
        .ready = on_ready,
        .progress = on_progress,
        .trouble = on_trouble,
        .now_ns = rank_now_ns,
    };
    must(aq_prefetch_create(&prefetch, &site->plan.layout, &owner, &rank->prefetch));
}

static void create_stage(sim_learner *learner)
{
    const sim_site *site = learner->site;
    aq_named_arrays arrays;
    aq_publication_config publication;
    aq_agent_arrays(learner->ranks[0].agent, &arrays);
    must(aq_publication_plan(&site->plan.config, aq_agent_spec(learner->ranks[0].agent),
                             site->cpu_flags, &publication, NULL));
    const aq_stage_config stage = {
        .publication = publication,
        .meta = {.run_id = site->run_id,
                 .task = site->plan.settings.task,
                 .schema = &site->plan.settings.schema,
                 .head = site->plan.head},
        .spec = aq_agent_spec(learner->ranks[0].agent),
        .arrays = &arrays,
    };
    const aq_stage_owner owner = {
        .user = learner,
        .next_version = stage_next_version,
        .publish = stage_publish,
        .write_checkpoint = stage_checkpoint,
        .trouble = stage_trouble,
    };
    must(aq_quantizer_stage_create(&stage, &owner, &learner->stage));
}

void sim_learner_training_create(sim_learner *learner)
{
    const sim_site *site = learner->site;
    const aq_run_config *settings = &site->plan.config;
    sim_rank *own = &learner->ranks[0];
    learner->links_seen = 0;
    learner->report_count = 0;
    learner->newest_version = 0;
    learner->coming_versions = 0;
    learner->training = false;
    learner->staging = false;
    learner->checkpoint_wanted = false;
    learner->lost_at = 0;
    create_stage(learner);
    for (uint32_t i = 0; i <= site->scenario.ranks; i++) {
        sim_rank *rank = &learner->ranks[i];
        const aq_trainer_core_config config = {
            .publish_period = site->plan.config.quantizer.publish_period,
            .first_step = learner->first_step,
            .versions_max = aq_pacing_lag(settings),
            .gradients = aq_gradient_rules_of(settings, site->plan.settings.gradient_values),
            .error_rows = (uint32_t)site->plan.config.quantizer.error_rows,
            .exchange = rank->exchange,
        };
        create_prefetch(rank);
        must(aq_trainer_core_create(&config, rank->agent, rank == own ? on_policy_due : on_promise,
                                    rank, &rank->trainer));
    }
    sim_ranks_begin(learner);
    aq_trainer_core_offer_first(own->trainer);
}

void sim_learner_training_tick(sim_learner *learner, int64_t now_ns)
{
    const sim_scenario *scenario = &learner->site->scenario;
    sim_learner_follow(learner);
    if (scenario->plant != SIM_PLANT_DEADLOCK || now_ns < scenario->storm_ns) {
        feed_all(learner);
    }
    if (scenario->ranks > 0 && !learner->training && now_ns - learner->met_ns >= IDLE_NS) {
        learner->training = true;
        ask(learner, 0, on_trained);
    }
    if (!learner->training) {
        offer_checkpoint(learner);
    }
}

void sim_learner_training_finish(sim_learner *learner)
{
    for (uint32_t i = 0; i <= learner->site->scenario.ranks; i++) {
        while (learner->ranks[i].group_count > 0) {
            sim_learner_group_done(&learner->ranks[i]);
        }
    }
    while (aq_quantizer_stage_run_one(learner->stage)) {
    }
    learner->checkpoint_wanted = true;
    offer_checkpoint(learner);
    while (aq_quantizer_stage_run_one(learner->stage)) {
    }
}

void sim_learner_training_destroy(sim_learner *learner)
{
    for (uint32_t r = 0; r <= learner->site->scenario.ranks; r++) {
        sim_rank *rank = &learner->ranks[r];
        for (size_t i = 0; i < SIM_LINKS_MAX; i++) {
            if (rank->links[i].incarnation != 0) {
                sim_learner_drop_link(rank, &rank->links[i]);
            }
        }
        aq_trainer_core_destroy(rank->trainer);
        aq_prefetch_destroy(rank->prefetch);
        rank->trainer = NULL;
        rank->group_count = 0;
    }
    while (learner->report_count > 0) {
        aq_publication_fini(&learner->reports[--learner->report_count]);
    }
    aq_quantizer_stage_destroy(learner->stage);
}

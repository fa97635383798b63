/*
 * The trainer's and the stage's threads as events: a group takes its time, a policy takes its time,
 * and a crash may come between any two of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/config/pacing.h"
#include "common/wire/wire_policy.h"
#include "learner/publish/publication_plan.h"
#include "tests/sim/sim_learner.h"
#include "tests/support/must.h"

enum { VERSIONS_RESERVED = 16 };

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

static bool on_policy_due(void *user, const aq_params *params, uint64_t step, const float *obs,
                          size_t rows)
{
    sim_learner *learner = user;
    if (!aq_quantizer_stage_offer_policy(learner->stage, params, step, obs, rows)) {
        return false;
    }
    learner->coming_versions++;
    wake_stage(learner);
    return true;
}

static void offer_checkpoint(sim_learner *learner)
{
    aq_named_arrays arrays;
    aq_agent_arrays(learner->agent, &arrays);
    if (learner->checkpoint_wanted &&
        aq_quantizer_stage_offer_checkpoint(learner->stage, &arrays,
                                            aq_trainer_core_step(learner->trainer))) {
        learner->checkpoint_wanted = false;
        wake_stage(learner);
    }
}

static int64_t group_ns(const sim_learner *learner)
{
    const sim_scenario *scenario = &learner->site->scenario;
    return scenario->train_batch_ns * (int64_t)scenario->config.learner.batches_per_request;
}

/* However late the group is trained on, none of its steps may be too old. */
static void check_lag(const sim_learner *learner, const aq_batch *group)
{
    const uint64_t versions_max = learner->site->plan.settings.versions_max;
    for (uint32_t i = 0; versions_max > 0 && i < group->rows; i++) {
        if (group->version[i] == 0 || group->version[i] + versions_max <= learner->newest_version) {
            sim_broken(&learner->site->world, SIM_LAG,
                       "a step of version %" PRIu32 " is learned from when version %" PRIu64
                       " is out; %" PRIu64 " versions count",
                       group->version[i], learner->newest_version, versions_max);
            return;
        }
    }
}

static void feed(sim_learner *learner)
{
    aq_prefetch_tell_versions(learner->prefetch, learner->newest_version, learner->coming_versions);
    aq_prefetch_tick(learner->prefetch, sim_now_ns(&learner->site->world));
}

static void on_trained(void *user, uint64_t life)
{
    sim_learner *learner = user;
    if (is_not_now(learner, on_trained, life)) {
        return;
    }
    learner->training = false;
    if (learner->group_count == 0) {
        return;
    }
    aq_batch *group = learner->groups[0];
    learner->group_count--;
    memmove(&learner->groups[0], &learner->groups[1],
            learner->group_count * sizeof(learner->groups[0]));
    const uint64_t trained = aq_trainer_core_step(learner->trainer);
    aq_trainer_core_train(learner->trainer, group, learner->newest_version);
    if (aq_trainer_core_step(learner->trainer) > trained) {
        check_lag(learner, group);
    }
    aq_prefetch_give_back(learner->prefetch, group);
    offer_checkpoint(learner);
    if (!learner->ended) {
        feed(learner);
    }
    if (learner->group_count > 0) {
        learner->training = true;
        ask(learner, group_ns(learner), on_trained);
    }
}

/* ---- the prefetcher ------------------------------------------------------------------------- */

static void on_ready(void *user, aq_batch *group)
{
    sim_learner *learner = user;
    if (learner->ended || !learner->runs) {
        aq_prefetch_give_back(learner->prefetch, group);
        return;
    }
    AQ_ASSERT(learner->group_count < SIM_GROUPS_MAX);
    learner->groups[learner->group_count++] = group;
    if (!learner->training) {
        learner->training = true;
        ask(learner, group_ns(learner), on_trained);
    }
}

static void on_progress(void *user, uint64_t shard_incarnation, uint64_t inserted)
{
    sim_learner *learner = user;
    aq_coordinator_progress(learner->coordinator, shard_incarnation, inserted);
}

static void on_trouble(void *user, const char *shard, const char *reason)
{
    (void)user;
    (void)shard;
    (void)reason;
}

static sim_link *find_link(sim_learner *learner, uint64_t incarnation)
{
    for (size_t i = 0; i < SIM_LINKS_MAX; i++) {
        if (learner->links[i].incarnation == incarnation) {
            return &learner->links[i];
        }
    }
    return NULL;
}

static void drop_link(sim_learner *learner, sim_link *link)
{
    aq_prefetch_remove_shard(learner->prefetch, link->incarnation);
    sim_client_close(link->client);
    *link = (sim_link){0};
}

static void dial(sim_learner *learner, const aq_member_record *record)
{
    sim_link *link = find_link(learner, 0);
    AQ_ASSERT(link != NULL);
    sim_client *client = sim_client_open(
        &learner->site->rpc, SIM_HOST_LEARNER, record->rpc_url,
        aq_prefetch_calls_max((uint32_t)learner->site->scenario.config.learner.prefetch), NULL,
        NULL);
    must(aq_prefetch_add_shard(learner->prefetch, record->incarnation, record->rpc_url,
                               sim_client_channel(client)));
    *link = (sim_link){.incarnation = record->incarnation, .client = client, .wanted = true};
}

void sim_learner_follow(sim_learner *learner)
{
    uint64_t change = aq_coordinator_shards_changed(learner->coordinator);
    if (change == learner->links_seen) {
        return;
    }
    learner->links_seen = change;
    for (size_t i = 0; i < SIM_LINKS_MAX; i++) {
        learner->links[i].wanted = false;
    }
    for (size_t i = 0; i < aq_coordinator_member_count(learner->coordinator); i++) {
        const aq_member_record *record = aq_coordinator_member_at(learner->coordinator, i);
        sim_link *known = find_link(learner, record->incarnation);
        if (record->role == AQ_ROLE_REPLAY && known != NULL) {
            known->wanted = true;
        } else if (record->role == AQ_ROLE_REPLAY) {
            dial(learner, record);
        }
    }
    for (size_t i = 0; i < SIM_LINKS_MAX; i++) {
        if (learner->links[i].incarnation != 0 && !learner->links[i].wanted) {
            drop_link(learner, &learner->links[i]);
        }
    }
}

/* ---- life ----------------------------------------------------------------------------------- */

static void create_prefetch(sim_learner *learner)
{
    const sim_site *site = learner->site;
    const aq_run_config *config = &site->plan.config;
    const uint32_t gradients =
        site->plan.settings.gradient_values > 0 ? site->plan.settings.sample_rows : 0;
    const aq_prefetch_config prefetch = {
        .run_id = site->run_id,
        .table = site->plan.table,
        .importance_exponent = config->learner.importance_exponent,
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
        .user = learner,
        .ready = on_ready,
        .progress = on_progress,
        .trouble = on_trouble,
    };
    must(aq_prefetch_create(&prefetch, &site->plan.layout, &owner, &learner->prefetch));
}

static void create_stage(sim_learner *learner)
{
    const sim_site *site = learner->site;
    aq_named_arrays arrays;
    aq_publication_config publication;
    aq_agent_arrays(learner->agent, &arrays);
    must(aq_publication_plan(&site->plan.config, aq_agent_spec(learner->agent), site->cpu_flags,
                             &publication, NULL));
    const aq_stage_config stage = {
        .publication = publication,
        .meta = {.run_id = site->run_id,
                 .task = site->plan.settings.task,
                 .schema = &site->plan.settings.schema,
                 .head = site->plan.head},
        .spec = aq_agent_spec(learner->agent),
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
    const aq_trainer_core_config config = {
        .publish_period = site->plan.config.quantizer.publish_period,
        .first_step = learner->first_step,
        .versions_max = aq_pacing_lag(settings),
        .gradients = {.values = site->plan.settings.gradient_values,
                      .format = (enum aq_gradient_format)settings->learner.gradient_format,
                      .steps = aq_gradient_steps_of_row(settings),
                      .is_damped = settings->learner.lag_damping},
        .obs_is_f32 = site->plan.layout.columns[AQ_COLUMN_OBS].dtype == AQ_DTYPE_F32,
    };
    create_prefetch(learner);
    create_stage(learner);
    must(
        aq_trainer_core_create(&config, learner->agent, on_policy_due, learner, &learner->trainer));
    learner->links_seen = 0;
    learner->group_count = 0;
    learner->report_count = 0;
    learner->newest_version = 0;
    learner->coming_versions = 0;
    learner->training = false;
    learner->staging = false;
    learner->checkpoint_wanted = false;
    aq_trainer_core_offer_first(learner->trainer);
}

void sim_learner_training_tick(sim_learner *learner, int64_t now_ns)
{
    sim_learner_follow(learner);
    if (learner->site->scenario.plant != SIM_PLANT_DEADLOCK ||
        now_ns < learner->site->scenario.storm_ns) {
        feed(learner);
    }
    if (!learner->training) {
        offer_checkpoint(learner);
    }
}

void sim_learner_training_finish(sim_learner *learner)
{
    while (learner->group_count > 0) {
        aq_prefetch_give_back(learner->prefetch, learner->groups[--learner->group_count]);
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
    for (size_t i = 0; i < SIM_LINKS_MAX; i++) {
        if (learner->links[i].incarnation != 0) {
            drop_link(learner, &learner->links[i]);
        }
    }
    while (learner->report_count > 0) {
        aq_publication_fini(&learner->reports[--learner->report_count]);
    }
    aq_trainer_core_destroy(learner->trainer);
    aq_quantizer_stage_destroy(learner->stage);
    aq_prefetch_destroy(learner->prefetch);
}

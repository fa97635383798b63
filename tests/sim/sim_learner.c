/*
 * Assembly and lifecycle, and the loop's tick.
 */
#include "tests/sim/sim_learner.h"

#include <math.h>

#include "common/base/assert.h"
#include "tests/support/must.h"

enum { TICK_MS = 5, CALLS_MAX = 256, HEARTBEATS_OF_FAREWELL = 3 };

#define CHECKPOINT_BYTES_MAX ((size_t)16 << 20)
#define REPLY_BYTES_MAX      ((size_t)1 << 20)
#define REPEATS_BYTES_MAX    ((size_t)64 << 10)

void sim_learner_init(sim_learner *learner, sim_site *site)
{
    *learner = (sim_learner){.site = site, .first_return = (double)NAN, .best_return = -INFINITY};
    learner->disk.versions_unused = 1;
    aq_buffer_init(&learner->disk.checkpoint, CHECKPOINT_BYTES_MAX);
}

void sim_learner_fini(sim_learner *learner)
{
    AQ_ASSERT(!learner->runs);
    aq_buffer_fini(&learner->disk.checkpoint);
}

uint64_t sim_learner_step(const sim_learner *learner)
{
    return learner->runs ? aq_trainer_core_step(learner->ranks[0].trainer) : 0;
}

/* ---- what members do ------------------------------------------------------------------------ */

static int64_t event_now_ns(void *user)
{
    const sim_learner *learner = user;
    return sim_now_ns(&learner->site->world);
}

static void event_joined(void *user, const aq_member_record *record, bool again)
{
    sim_learner *learner = user;
    (void)again;
    sim_trace(&learner->site->world, "member joined", record->member, record->slot);
    sim_learner_follow(learner);
}

static void event_left(void *user, const aq_member_record *record, const char *reason)
{
    sim_learner *learner = user;
    (void)reason;
    sim_trace(&learner->site->world, "member left", record->member, record->slot);
}

static void event_evaluated(void *user, const aq_evaluation_result *result, bool best)
{
    sim_learner *learner = user;
    const aq_publication *evaluated = aq_policy_shelf_find(learner->shelf, result->version);
    sim_trace(&learner->site->world, "evaluated", result->version, result->episodes);
    if (learner->evaluations == 0) {
        learner->first_return = result->return_mean;
    }
    learner->evaluations++;
    learner->best_return = fmax(learner->best_return, result->return_mean);
    if (best && evaluated != NULL) {
        aq_snapshot_unref(learner->best);
        learner->best = aq_snapshot_ref(evaluated->snapshot);
    }
    if (best) {
        learner->best_result = *aq_coordinator_best(learner->coordinator);
    }
}

static void event_stop_asked(void *user, const char *peer, const char *reason)
{
    (void)user;
    (void)peer;
    (void)reason;
}

static void event_checkpoint_asked(void *user)
{
    sim_learner *learner = user;
    aq_learner_service_checkpointed(learner->service, NULL, 0, "nobody asks for that here");
}

static void event_status(void *user, Actorq__V1__StatusReply *reply,
                         Actorq__V1__LearnerStatus *status)
{
    (void)user;
    (void)reply;
    (void)status;
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void train_on(sim_learner *learner, int64_t now_ns)
{
    const aq_run_config *config = &learner->site->plan.config;
    sim_learner_training_tick(learner, now_ns);
    if (now_ns >= learner->checkpoint_due_ns) {
        learner->checkpoint_due_ns =
            now_ns + (int64_t)(config->learner.checkpoint_period_s * (double)AQ_NS_PER_S);
        learner->checkpoint_wanted = sim_learner_step(learner) != learner->checkpoint_step;
    }
    if (aq_coordinator_tick(learner->coordinator, now_ns) != AQ_RUN_RUNNING) {
        learner->ended = true;
        learner->ended_ns = now_ns;
        sim_learner_training_finish(learner);
    }
}

/* The run's, without those that a liar says its stores have. */
static uint64_t honest_steps(const sim_learner *learner)
{
    aq_shard_count counts[AQ_SHARDS_MAX];
    uint64_t steps;
    size_t count = aq_coordinator_shard_counts(learner->coordinator, counts, &steps);
    for (size_t i = 0; i < count; i++) {
        steps += sim_was_drawn(&learner->site->world, counts[i].store) ? counts[i].inserted : 0;
    }
    return steps;
}

static void on_tick(void *user, uint64_t life)
{
    sim_learner *learner = user;
    sim_site *site = learner->site;
    int64_t now_ns = sim_now_ns(&site->world);
    aq_member_record lost;
    if (!learner->runs || learner->life != life ||
        sim_host_postpones(&site->network, SIM_HOST_LEARNER, on_tick, learner, life)) {
        return;
    }
    while (aq_coordinator_expire(learner->coordinator, now_ns, &lost)) {
        aq_learner_service_forget(learner->service, &lost);
        sim_trace(&site->world, "member lost", lost.member, lost.slot);
    }
    if (!learner->ended) {
        train_on(learner, now_ns);
    }
    learner->steps_done = sim_learner_step(learner);
    sim_ledger_counted(&site->ledger, learner->life, honest_steps(learner));
    int64_t farewell_ns =
        (int64_t)site->plan.config.net.heartbeat_ms * HEARTBEATS_OF_FAREWELL * AQ_NS_PER_MS;
    if (learner->ended && (aq_coordinator_member_count(learner->coordinator) == 0 ||
                           now_ns - learner->ended_ns > farewell_ns)) {
        sim_learner_kill(learner); /* in order */
        return;
    }
    sim_agenda_at(site->world.agenda, now_ns + TICK_MS * AQ_NS_PER_MS, on_tick, learner, life);
}

/* ---- life ----------------------------------------------------------------------------------- */

static void create_cores(sim_learner *learner)
{
    const aq_run_plan *plan = &learner->site->plan;
    const aq_run_config *config = &plan->config;
    const aq_coordinator_config coordinator = {
        .member_timeout_ns = (int64_t)config->net.member_timeout_ms * AQ_NS_PER_MS,
        .env_steps_limit = config->limits.env_steps,
        .wall_limit_s = config->limits.wall_s,
        .threshold = plan->threshold,
    };
    must(aq_coordinator_create(&coordinator, sim_now_ns(&learner->site->world),
                               &learner->coordinator));
    must(aq_policy_shelf_create(&learner->shelf));
    sim_ranks_create(learner);
}

static void create_service(sim_learner *learner)
{
    const aq_run_plan *plan = &learner->site->plan;
    const aq_learner_identity identity = {
        .run_id = learner->site->run_id,
        .settings = &plan->settings,
        .policy_url = SIM_POLICY_URL,
        .algorithm = plan->algorithm_class->name,
        .precision = aq_format_name(aq_run_config_format(&plan->config)),
    };
    const aq_learner_service_owner owner = {
        .user = learner,
        .now_ns = event_now_ns,
        .joined = event_joined,
        .left = event_left,
        .evaluated = event_evaluated,
        .stop_asked = event_stop_asked,
        .checkpoint_asked = event_checkpoint_asked,
        .status = event_status,
    };
    must(aq_learner_service_create(&identity, learner->coordinator, learner->shelf, &owner,
                                   &learner->service));
    must(aq_rpc_dispatcher_create(CALLS_MAX, REPLY_BYTES_MAX, REPEATS_BYTES_MAX,
                                  &learner->dispatcher));
    must(aq_learner_service_offer(learner->service, learner->dispatcher));
}

void sim_learner_start(sim_learner *learner)
{
    sim_site *site = learner->site;
    AQ_ASSERT(!learner->runs);
    sim_host_start(&site->network, SIM_HOST_LEARNER);
    learner->runs = true;
    learner->life = site->network.hosts[SIM_HOST_LEARNER].life;
    learner->ended = false;
    learner->checkpoint_due_ns = 0;
    create_cores(learner);
    sim_learner_restore(learner);
    sim_ranks_spread(learner);
    create_service(learner);
    sim_rpc_listen(&site->rpc, SIM_LEARNER_URL, learner->dispatcher, NULL);
    sim_broadcast_open(&site->broadcast);
    sim_learner_training_create(learner);
    sim_agenda_at(site->world.agenda, 0, on_tick, learner, learner->life);
}

void sim_learner_kill(sim_learner *learner)
{
    sim_site *site = learner->site;
    AQ_ASSERT(learner->runs);
    sim_host_stop(&site->network, SIM_HOST_LEARNER);
    learner->runs = false;
    sim_rpc_close(&site->rpc, SIM_LEARNER_URL);
    sim_broadcast_close(&site->broadcast);
    sim_learner_training_destroy(learner);
    aq_rpc_dispatcher_destroy(learner->dispatcher);
    aq_learner_service_destroy(learner->service);
    aq_policy_shelf_destroy(learner->shelf);
    aq_coordinator_destroy(learner->coordinator);
    sim_ranks_destroy(learner);
    aq_snapshot_unref(learner->best);
    learner->best = NULL;
    learner->best_result = (aq_evaluation_result){0};
}

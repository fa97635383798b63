/*
 * The phases of a run, and what has to be true at the end of each.
 */
#include "tests/sim/sim_cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/sys/log.h"
#include "tests/support/must.h"

/* In the cluster's time. What is waited for is bounded by the longest wait of anybody: eight times
 * the call time-out, after which messages without an acknowledgement go again, and the longest
 * back-off. */
#define STARTS_NS       (300 * AQ_NS_PER_MS)
#define WAITS_NS_MAX    (40 * AQ_NS_PER_S)
#define LOOK_NS         (50 * AQ_NS_PER_MS)
#define DRAIN_NS_MAX    (8 * AQ_NS_PER_S)
#define COUNTS_NS_MAX   (10 * AQ_NS_PER_S)
#define FAREWELL_NS_MAX (20 * AQ_NS_PER_S)

enum { STEPS_THAT_MOVE = 5 };

/* ---- hosts ---------------------------------------------------------------------------------- */

bool sim_host_runs(const sim_cluster *cluster, uint32_t host)
{
    return cluster->site.network.hosts[host].up;
}

void sim_host_begin(sim_cluster *cluster, uint32_t host)
{
    if (host == SIM_HOST_LEARNER) {
        sim_learner_start(&cluster->learner);
    } else if (host < SIM_HOST_ACTOR) {
        sim_replay_start(&cluster->shards[host - SIM_HOST_SHARD]);
    } else if (host < SIM_HOST_EVALUATOR) {
        sim_actor_start(&cluster->actors[host - SIM_HOST_ACTOR]);
    } else {
        sim_evaluator_start(&cluster->evaluators[host - SIM_HOST_EVALUATOR]);
    }
}

void sim_host_kill(sim_cluster *cluster, uint32_t host)
{
    if (host == SIM_HOST_LEARNER) {
        sim_learner_kill(&cluster->learner);
    } else if (host < SIM_HOST_ACTOR) {
        sim_replay_kill(&cluster->shards[host - SIM_HOST_SHARD]);
    } else if (host < SIM_HOST_EVALUATOR) {
        sim_actor_kill(&cluster->actors[host - SIM_HOST_ACTOR]);
    } else {
        sim_evaluator_kill(&cluster->evaluators[host - SIM_HOST_EVALUATOR]);
    }
}

static void on_start(void *user, uint64_t host)
{
    sim_cluster *cluster = user;
    if (!sim_host_runs(cluster, (uint32_t)host)) {
        sim_host_begin(cluster, (uint32_t)host);
    }
}

static void want(sim_cluster *cluster, uint32_t first_host, uint32_t count)
{
    sim_world *world = &cluster->site.world;
    for (uint32_t i = 0; i < count; i++) {
        cluster->wanted |= UINT64_C(1) << (first_host + i);
        sim_agenda_at(world->agenda, sim_draw_ns(&world->rng, 0, STARTS_NS), on_start, cluster,
                      first_host + i);
    }
}

static void create(sim_cluster *cluster, const sim_scenario *scenario)
{
    sim_site_init(&cluster->site, scenario);
    sim_learner_init(&cluster->learner, &cluster->site);
    for (uint32_t i = 0; i < scenario->shards; i++) {
        sim_replay_init(&cluster->shards[i], &cluster->site, i);
    }
    for (uint32_t i = 0; i < scenario->actors; i++) {
        sim_actor_init(&cluster->actors[i], &cluster->site, i);
    }
    for (uint32_t i = 0; i < scenario->evaluators; i++) {
        sim_evaluator_init(&cluster->evaluators[i], &cluster->site, i);
    }
    const sim_honest honest = {.shards = cluster->shards, .actors = cluster->actors};
    sim_liar_init(&cluster->liar, &cluster->site, &honest);
    if (scenario->has_liar) {
        sim_liar_start(&cluster->liar);
    }
    want(cluster, SIM_HOST_LEARNER, 1);
    want(cluster, SIM_HOST_SHARD, scenario->shards);
    want(cluster, SIM_HOST_ACTOR, scenario->actors);
    want(cluster, SIM_HOST_EVALUATOR, scenario->evaluators);
}

static void destroy(sim_cluster *cluster)
{
    sim_liar_stop(&cluster->liar);
    for (uint32_t host = 0; host < SIM_HOSTS_MAX; host++) {
        if (sim_host_runs(cluster, host)) {
            sim_host_kill(cluster, host);
        }
    }
    for (uint32_t i = 0; i < cluster->site.scenario.shards; i++) {
        sim_replay_fini(&cluster->shards[i]);
    }
    sim_learner_fini(&cluster->learner);
    sim_site_fini(&cluster->site);
}

/* ---- time passes ---------------------------------------------------------------------------- */

typedef bool (*goal_fn)(sim_cluster *cluster);

/* Until the goal is reached, or `until_ns`. False when something broke. */
static bool pass(sim_cluster *cluster, int64_t until_ns, goal_fn goal)
{
    const sim_world *world = &cluster->site.world;
    while (world->broken == SIM_ALL_HOLD && sim_now_ns(world) < until_ns) {
        int64_t look_ns = sim_now_ns(world) + LOOK_NS;
        look_ns = look_ns < until_ns ? look_ns : until_ns;
        while (world->broken == SIM_ALL_HOLD && sim_agenda_step(world->agenda, look_ns)) {
        }
        if (goal != NULL && goal(cluster)) {
            break;
        }
    }
    return world->broken == SIM_ALL_HOLD;
}

/* ---- recovery ------------------------------------------------------------------------------- */

/* Where everybody stood when the faults ended. */
typedef struct sim_marks {
    uint64_t learner_step;
    uint64_t version;
    uint64_t env_steps[SIM_ACTORS_MAX];
    uint64_t acknowledged[SIM_ACTORS_MAX];
} sim_marks;

/* Of what it sends: steps, or gradients. */
static uint64_t steps_of(const sim_actor *actor)
{
    const aq_actor_core *core =
        actor->session != NULL ? aq_actor_session_core(actor->session) : NULL;
    if (core == NULL) {
        return 0;
    }
    const aq_actor_counters counters = aq_actor_core_counters(core);
    return actor->site->plan.settings.gradient_values > 0 ? counters.gradients : counters.env_steps;
}

static uint64_t acknowledged_of(const sim_actor *actor)
{
    const aq_actor_core *core =
        actor->session != NULL ? aq_actor_session_core(actor->session) : NULL;
    return core != NULL ? aq_actor_core_counters(core).acknowledged_steps : 0;
}

static void take_marks(const sim_cluster *cluster, sim_marks *ret_marks)
{
    *ret_marks = (sim_marks){.learner_step = sim_learner_step(&cluster->learner),
                             .version = sim_ledger_newest(&cluster->site.ledger)};
    for (uint32_t i = 0; i < cluster->site.scenario.actors; i++) {
        ret_marks->env_steps[i] = steps_of(&cluster->actors[i]);
        ret_marks->acknowledged[i] = acknowledged_of(&cluster->actors[i]);
    }
}

static uint64_t incarnation_on(const sim_cluster *cluster, uint32_t host)
{
    if (host < SIM_HOST_ACTOR) {
        return cluster->shards[host - SIM_HOST_SHARD].identity.incarnation;
    }
    if (host < SIM_HOST_EVALUATOR) {
        return cluster->actors[host - SIM_HOST_ACTOR].incarnation;
    }
    return cluster->evaluators[host - SIM_HOST_EVALUATOR].incarnation;
}

static bool is_member(const sim_cluster *cluster, uint64_t incarnation)
{
    const aq_coordinator *coordinator = cluster->learner.coordinator;
    for (size_t i = 0; i < aq_coordinator_member_count(coordinator); i++) {
        if (aq_coordinator_member_at(coordinator, i)->incarnation == incarnation) {
            return true;
        }
    }
    return false;
}

/* False, in words, when somebody who runs is not in the run, as the learner knows it. */
static bool all_are_members(const sim_cluster *cluster, char *words, size_t size)
{
    if (!cluster->learner.runs) { /* a rank was lost late */
        (void)snprintf(words, size, "there is no learner");
        return false;
    }
    for (uint32_t host = SIM_HOST_SHARD; host < SIM_HOST_LIAR; host++) {
        if (sim_host_runs(cluster, host) && !is_member(cluster, incarnation_on(cluster, host))) {
            (void)snprintf(words, size, "host %u is not a member", host);
            return false;
        }
    }
    return true;
}

/* False, in words, when somebody has not moved since. */
static bool all_move(const sim_cluster *cluster, const sim_marks *marks, char *words, size_t size)
{
    if (!sim_inherits_lies(&cluster->site.scenario) && !sim_push_is_whole(&cluster->site.push)) {
        (void)snprintf(words, size, "a connection is dead, and its actor does not know");
        return false;
    }
    if (sim_learner_step(&cluster->learner) < marks->learner_step + STEPS_THAT_MOVE) {
        (void)snprintf(words, size, "the learner stands at step %" PRIu64,
                       sim_learner_step(&cluster->learner));
        return false;
    }
    for (uint32_t i = 0; i < cluster->site.scenario.actors; i++) {
        const sim_actor *actor = &cluster->actors[i];
        if (!sim_ear_has(&actor->ear, marks->version)) {
            (void)snprintf(words, size, "actor %u has not got version %" PRIu64, i, marks->version);
            return false;
        }
        if (!sim_actor_takes_part(actor) || steps_of(actor) <= marks->env_steps[i] ||
            acknowledged_of(actor) <= marks->acknowledged[i]) {
            (void)snprintf(
                words, size,
                "actor %u of %u stands at %" PRIu64 " steps, %" PRIu64 " messages acknowledged, %s",
                i, cluster->site.scenario.actors, steps_of(actor), acknowledged_of(actor),
                sim_actor_takes_part(actor) ? "in the run" : "not in the run");
            return false;
        }
    }
    return true;
}

/* What every shard waits for, after `words`. */
static void tell_waits(const sim_cluster *cluster, char *words, size_t size)
{
    for (uint32_t i = 0; i < cluster->site.scenario.shards; i++) {
        const sim_replay *shard = &cluster->shards[i];
        size_t length = strlen(words);
        aq_replay_stats stats;
        if (shard->runs) {
            aq_replay_service_statistics(shard->service, &stats);
            (void)snprintf(words + length, size - length,
                           "; shard %u: %" PRIu64 " steps in, %" PRIu64 " rows out, %s", i,
                           stats.message.inserted, stats.message.sampled, stats.message.waiting);
        }
    }
}

/* An actor that was on its way out when the faults ended is followed by a new one. */
static void replace_leavers(sim_cluster *cluster, sim_marks *marks)
{
    for (uint32_t i = 0; i < cluster->site.scenario.actors; i++) {
        if (cluster->actors[i].session == NULL) {
            sim_actor_start(&cluster->actors[i]);
            marks->env_steps[i] = 0;
            marks->acknowledged[i] = 0;
        }
    }
}

/* When actors that were given up came back, they are ahead of the learner by more than the
 * tolerance, and wait until it has made up for that at its own pace. */
static int64_t recovery_ns_max(const sim_scenario *scenario)
{
    const aq_run_config *config = &scenario->config;
    double step_ns = (double)scenario->train_batch_ns * config->replay.samples_per_insert /
                     (double)config->learner.batch_size;
    double steps = 3.0 * config->replay.tolerance * scenario->shards;
    return WAITS_NS_MAX + (int64_t)(steps * step_ns);
}

static bool recover(sim_cluster *cluster, int64_t *ret_recovery_ns)
{
    sim_world *world = &cluster->site.world;
    int64_t began_ns = sim_now_ns(world);
    char words[400];
    sim_marks marks;
    take_marks(cluster, &marks);
    while (!all_are_members(cluster, words, sizeof(words)) ||
           !all_move(cluster, &marks, words, sizeof(words))) {
        if (sim_now_ns(world) - began_ns > recovery_ns_max(&cluster->site.scenario)) {
            tell_waits(cluster, words, sizeof(words));
            sim_broken(world, SIM_PROGRESS, "%" PRId64 " s after the last fault %s",
                       (sim_now_ns(world) - began_ns) / AQ_NS_PER_S, words);
        }
        if (!pass(cluster, sim_now_ns(world) + LOOK_NS, NULL)) {
            return false;
        }
        replace_leavers(cluster, &marks);
    }
    *ret_recovery_ns = sim_now_ns(world) - began_ns;
    return true;
}

/* ---- drain ---------------------------------------------------------------------------------- */

static bool actors_are_gone(sim_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->site.scenario.actors; i++) {
        if (cluster->actors[i].session != NULL) {
            return false;
        }
    }
    return true;
}

static bool drain(sim_cluster *cluster)
{
    sim_world *world = &cluster->site.world;
    const sim_scenario *scenario = &cluster->site.scenario;
    uint64_t steps[SIM_ACTORS_MAX];
    bool stops[SIM_ACTORS_MAX];
    for (uint32_t i = 0; i < scenario->actors; i++) {
        stops[i] = cluster->actors[i].session != NULL;
        steps[i] = steps_of(&cluster->actors[i]);
        if (stops[i]) {
            sim_actor_stop(&cluster->actors[i]);
        }
    }
    if (!pass(cluster, sim_now_ns(world) + DRAIN_NS_MAX, actors_are_gone)) {
        return false;
    }
    if (!actors_are_gone(cluster)) {
        sim_broken(world, SIM_PROGRESS, "actors that were told to stop are still there");
        return false;
    }
    for (uint32_t i = 0; i < scenario->actors; i++) {
        if (stops[i]) {
            sim_check_actor(cluster, &cluster->actors[i], steps[i]);
        }
    }
    if (pass(cluster, sim_now_ns(world) + COUNTS_NS_MAX, sim_counts_are_told)) {
        sim_check_counts(cluster);
    }
    return world->broken == SIM_ALL_HOLD;
}

/* ---- farewell ------------------------------------------------------------------------------- */

/* Somebody who still runs, or SIM_HOSTS_MAX. */
static uint32_t who_is_left(const sim_cluster *cluster)
{
    uint32_t host = 0;
    while (host < SIM_HOSTS_MAX && !sim_host_runs(cluster, host)) {
        host++;
    }
    return host;
}

static bool everybody_is_gone(sim_cluster *cluster)
{
    return who_is_left(cluster) == SIM_HOSTS_MAX;
}

static bool everybody_is_member(sim_cluster *cluster)
{
    char words[100];
    return !cluster->learner.runs || all_are_members(cluster, words, sizeof(words));
}

/* Who is not a member when the run ends never hears of it, and waits for a learner to come. So
 * first, calls that were lost in the storm come to their end. */
static void say_farewell(sim_cluster *cluster)
{
    sim_world *world = &cluster->site.world;
    const aq_run_config *config = &cluster->site.scenario.config;
    sim_liar_stop(&cluster->liar);
    int64_t lost_ns = (int64_t)(config->net.rpc_timeout_ms + config->net.reconnect_max_ms +
                                config->net.heartbeat_ms) *
                      AQ_NS_PER_MS;
    (void)pass(cluster, sim_now_ns(world) + lost_ns, NULL);
    (void)pass(cluster, sim_now_ns(world) + COUNTS_NS_MAX, everybody_is_member);
    if (cluster->learner.runs) {
        aq_coordinator_stop(cluster->learner.coordinator);
    }
    if (pass(cluster, sim_now_ns(world) + FAREWELL_NS_MAX, everybody_is_gone) &&
        !everybody_is_gone(cluster)) {
        sim_broken(world, SIM_PROGRESS, "the run has ended, and host %u has not heard of it",
                   who_is_left(cluster));
    }
}

/* ---- the whole of it ------------------------------------------------------------------------ */

static void fill_outcome(const sim_cluster *cluster, sim_outcome *outcome)
{
    const sim_world *world = &cluster->site.world;
    outcome->broken = world->broken;
    outcome->broken_ns = world->broken_ns;
    memcpy(outcome->words, world->words, sizeof(outcome->words));
    outcome->trace = world->trace;
    outcome->end_ns = sim_now_ns(world);
    outcome->events = sim_agenda_count(world->agenda);
    outcome->env_steps = sim_ledger_inserted(&cluster->site.ledger);
    outcome->learner_steps = cluster->learner.steps_done;
    outcome->messages_lost = cluster->site.network.lost;
    outcome->messages_doubled = cluster->site.network.doubled;
    outcome->lies = cluster->liar.answered;
    outcome->policy_gaps = cluster->site.ledger.policy_gaps;
    outcome->stored_twice = cluster->site.ledger.twice;
    outcome->breaks = cluster->site.push.breaks;
    outcome->timeouts = cluster->site.rpc.timeouts;
    outcome->evaluations = cluster->learner.evaluations;
    outcome->first_return = cluster->learner.first_return;
    outcome->best_return = cluster->learner.best_return;
    for (uint32_t i = 0; i < cluster->site.scenario.shards; i++) {
        outcome->records += cluster->shards[i].platter.count;
        outcome->records_lost += cluster->shards[i].platter.lost;
        outcome->segments_dropped += cluster->shards[i].platter.drops;
    }
    outcome->tally = cluster->site.tally;
}

static bool run_is_over(sim_cluster *cluster)
{
    return cluster->learner.life > 0 && (!cluster->learner.runs || cluster->learner.ended);
}

void sim_run(const sim_scenario *scenario, sim_outcome *ret_outcome)
{
    sim_cluster *cluster = must_alloc(1, sizeof(*cluster));
    sim_outcome outcome = {0};
    aq_log_set_level(AQ_LOG_OFF);
    create(cluster, scenario);
    if (scenario->storm_ns > 0) {
        sim_faults_begin(cluster);
        bool holds = pass(cluster, cluster->storm_end_ns, NULL);
        sim_faults_end(cluster);
        if (holds && recover(cluster, &outcome.recovery_ns) && drain(cluster)) {
            say_farewell(cluster);
        }
    } else if (pass(cluster, scenario->quiet_ns, run_is_over)) {
        say_farewell(cluster);
    }
    fill_outcome(cluster, &outcome);
    destroy(cluster);
    aq_free(cluster);
    *ret_outcome = outcome;
}

/*
 * Faults come one after another in a rhythm that is drawn, each for a while that is drawn, and
 * overlap.
 */

#include "tests/sim/sim_cluster.h"

enum { FAULT_STREAM = 0x6661756c };

#define PAUSE_NS_MIN (20 * AQ_NS_PER_MS)
#define PAUSE_NS_MAX (1200 * AQ_NS_PER_MS)

static int64_t now_of(const sim_cluster *cluster)
{
    return sim_now_ns(&cluster->site.world);
}

/* From `low_ns` to `high_ns`, mostly short, and not past the end of the storm. */
static int64_t draw_end_ns(sim_cluster *cluster, int64_t low_ns, int64_t high_ns)
{
    double share = aq_rng_uniform(&cluster->faults);
    int64_t end_ns =
        now_of(cluster) + low_ns + (int64_t)(share * share * (double)(high_ns - low_ns));
    return end_ns < cluster->storm_end_ns ? end_ns : cluster->storm_end_ns;
}

static void at(sim_cluster *cluster, int64_t at_ns, sim_event_fn run, uint64_t tag)
{
    sim_agenda_at(cluster->site.world.agenda, at_ns, run, cluster, tag);
}

/* ---- hosts ---------------------------------------------------------------------------------- */

static uint32_t draw_host(sim_cluster *cluster)
{
    const sim_scenario *scenario = &cluster->site.scenario;
    uint64_t place = aq_rng_below(&cluster->faults,
                                  1 + scenario->shards + scenario->actors + scenario->evaluators);
    if (place == 0) {
        return SIM_HOST_LEARNER;
    }
    if (place <= scenario->shards) {
        return (uint32_t)(SIM_HOST_SHARD + place - 1);
    }
    if (place <= scenario->shards + scenario->actors) {
        return (uint32_t)(SIM_HOST_ACTOR + place - 1 - scenario->shards);
    }
    return (uint32_t)(SIM_HOST_EVALUATOR + place - 1 - scenario->shards - scenario->actors);
}

static void on_restart(void *user, uint64_t host)
{
    sim_cluster *cluster = user;
    if (cluster->stormy && !sim_host_runs(cluster, (uint32_t)host)) {
        sim_host_begin(cluster, (uint32_t)host);
    }
}

/* Most are killed; some end in order. */
static void end_shard(sim_cluster *cluster, uint32_t host)
{
    sim_tally *tally = &cluster->site.tally;
    if (sim_chance(&cluster->faults, 0.2)) {
        tally->shard_stops++;
        sim_replay_stop(&cluster->shards[host - SIM_HOST_SHARD]);
    } else {
        tally->shard_kills++;
        sim_host_kill(cluster, host);
    }
    at(cluster, draw_end_ns(cluster, 5 * AQ_NS_PER_MS, 6 * AQ_NS_PER_S), on_restart, host);
}

static void kill_host(sim_cluster *cluster, uint32_t host)
{
    sim_tally *tally = &cluster->site.tally;
    if (!sim_host_runs(cluster, host)) {
        return;
    }
    tally->learner_kills += host == SIM_HOST_LEARNER;
    if (host >= SIM_HOST_SHARD && host < SIM_HOST_ACTOR) {
        end_shard(cluster, host);
        return;
    }
    tally->actor_kills += host >= SIM_HOST_ACTOR && host < SIM_HOST_EVALUATOR;
    sim_host_kill(cluster, host);
    at(cluster, draw_end_ns(cluster, 5 * AQ_NS_PER_MS, 6 * AQ_NS_PER_S), on_restart, host);
}

static void leave(sim_cluster *cluster)
{
    uint32_t host = draw_host(cluster);
    if (host < SIM_HOST_ACTOR || host >= SIM_HOST_EVALUATOR || !sim_host_runs(cluster, host)) {
        return;
    }
    sim_actor_stop(&cluster->actors[host - SIM_HOST_ACTOR]);
    at(cluster, draw_end_ns(cluster, 4 * AQ_NS_PER_S, 8 * AQ_NS_PER_S), on_restart, host);
}

static void stand_still(sim_cluster *cluster)
{
    uint32_t host = draw_host(cluster);
    int64_t end_ns = draw_end_ns(cluster, 10 * AQ_NS_PER_MS, 6 * AQ_NS_PER_S);
    sim_host_stand_still(&cluster->site.network, host, end_ns);
}

static void lose_rank(sim_cluster *cluster)
{
    enum { CALLS_MAX = 20 }; /* as many as a turn has */
    if (cluster->site.scenario.ranks > 0 && cluster->learner.runs) {
        cluster->site.tally.lost_ranks++;
        sim_learner_lose_rank(&cluster->learner,
                              1 + (unsigned)aq_rng_below(&cluster->faults, CALLS_MAX));
    }
}

/* ---- the network ---------------------------------------------------------------------------- */

static void on_calm(void *user, uint64_t tag)
{
    sim_cluster *cluster = user;
    (void)tag;
    cluster->site.network.weather = sim_weather_calm();
    cluster->site.push.break_share = 0.0;
    cluster->site.push.disorder = false;
}

static void change_weather(sim_cluster *cluster)
{
    aq_rng *rng = &cluster->faults;
    sim_weather weather = sim_weather_calm();
    if (sim_chance(rng, 0.5)) {
        weather.delay_max_ns = sim_draw_ns(rng, AQ_NS_PER_MS, 100 * AQ_NS_PER_MS);
    }
    if (sim_chance(rng, 0.5)) {
        weather.late_share = aq_rng_range(rng, 0.0, 0.2);
        weather.late_max_ns = weather.delay_max_ns + sim_draw_ns(rng, 0, 3 * AQ_NS_PER_S);
    }
    if (sim_chance(rng, 0.6)) {
        weather.loss_share = aq_rng_range(rng, 0.0, 0.4);
    }
    if (sim_chance(rng, 0.4)) {
        weather.twice_share = aq_rng_range(rng, 0.0, 0.5);
    }
    if (sim_chance(rng, 0.5)) {
        cluster->site.push.break_share = aq_rng_range(rng, 0.0, 0.2);
    }
    cluster->site.push.disorder = cluster->site.scenario.disorder && sim_chance(rng, 0.5);
    cluster->site.network.weather = weather;
    at(cluster, draw_end_ns(cluster, 100 * AQ_NS_PER_MS, 5 * AQ_NS_PER_S), on_calm, 0);
}

/* The pair and the directions in one number. */
enum { CUT_FROM_SHIFT = 8, CUT_BACK = 1 << 16 };

static void set_cut(sim_cluster *cluster, uint64_t tag, bool cut)
{
    sim_network *network = &cluster->site.network;
    uint64_t from = tag >> CUT_FROM_SHIFT & 0xff;
    uint64_t to = tag & 0xff;
    network->cut[from][to] = cut;
    if ((tag & CUT_BACK) != 0) {
        network->cut[to][from] = cut;
    }
}

static void on_mended(void *user, uint64_t tag)
{
    set_cut(user, tag, false);
}

static void cut(sim_cluster *cluster, uint32_t from, uint32_t to, int64_t end_ns, bool one_way)
{
    uint64_t tag = (uint64_t)from << CUT_FROM_SHIFT | to | (one_way ? 0 : CUT_BACK);
    set_cut(cluster, tag, true);
    at(cluster, end_ns, on_mended, tag);
}

static void cut_pair(sim_cluster *cluster)
{
    uint32_t from = draw_host(cluster);
    uint32_t to = draw_host(cluster);
    int64_t end_ns = draw_end_ns(cluster, 50 * AQ_NS_PER_MS, 6 * AQ_NS_PER_S);
    if (from != to) {
        sim_trace(&cluster->site.world, "cut", from, to);
        cut(cluster, from, to, end_ns, sim_chance(&cluster->faults, 0.3));
    }
}

static void isolate(sim_cluster *cluster)
{
    uint32_t host = draw_host(cluster);
    int64_t end_ns = draw_end_ns(cluster, 50 * AQ_NS_PER_MS, 6 * AQ_NS_PER_S);
    sim_trace(&cluster->site.world, "isolated", host, 0);
    for (uint32_t other = 0; other < SIM_HOSTS_MAX; other++) {
        if (other != host) {
            cut(cluster, host, other, end_ns, false);
        }
    }
}

/* ---- disks ---------------------------------------------------------------------------------- */

static void on_room(void *user, uint64_t shard)
{
    sim_cluster *cluster = user;
    sim_platter_fill(&cluster->shards[shard].platter, false);
}

static void fill_disk(sim_cluster *cluster)
{
    const uint64_t shard = aq_rng_below(&cluster->faults, cluster->site.scenario.shards);
    cluster->site.tally.full_disks++;
    sim_platter_fill(&cluster->shards[shard].platter, true);
    at(cluster, draw_end_ns(cluster, 50 * AQ_NS_PER_MS, 6 * AQ_NS_PER_S), on_room, shard);
}

/* ---- the storm ------------------------------------------------------------------------------ */

static void draw_fault(sim_cluster *cluster)
{
    switch (aq_rng_below(&cluster->faults, 14)) {
    case 0:
    case 1:
    case 2:
        change_weather(cluster);
        break;
    case 3:
        cut_pair(cluster);
        break;
    case 4:
        isolate(cluster);
        break;
    case 5:
        kill_host(cluster, SIM_HOST_LEARNER);
        break;
    case 6:
    case 7:
        kill_host(cluster, draw_host(cluster));
        break;
    case 8:
        leave(cluster);
        break;
    case 9:
        stand_still(cluster);
        break;
    case 10:
        sim_push_break(&cluster->site.push, draw_host(cluster));
        break;
    case 11:
        kill_host(cluster, SIM_HOST_SHARD + (uint32_t)aq_rng_below(&cluster->faults,
                                                                   cluster->site.scenario.shards));
        break;
    case 12:
        fill_disk(cluster);
        break;
    default:
        lose_rank(cluster); /* else nothing, for once */
        break;
    }
}

static void on_fault(void *user, uint64_t tag)
{
    sim_cluster *cluster = user;
    if (!cluster->stormy) {
        return;
    }
    draw_fault(cluster);
    at(cluster, now_of(cluster) + sim_draw_ns(&cluster->faults, PAUSE_NS_MIN, PAUSE_NS_MAX),
       on_fault, tag);
}

void sim_faults_begin(sim_cluster *cluster)
{
    aq_rng_init(&cluster->faults, cluster->site.scenario.seed, FAULT_STREAM);
    cluster->storm_end_ns = now_of(cluster) + cluster->site.scenario.storm_ns;
    cluster->stormy = cluster->site.scenario.storm_ns > 0;
    on_fault(cluster, 0);
}

void sim_faults_end(sim_cluster *cluster)
{
    cluster->stormy = false;
    on_calm(cluster, 0);
    for (uint32_t from = 0; from < SIM_HOSTS_MAX; from++) {
        for (uint32_t to = 0; to < SIM_HOSTS_MAX; to++) {
            cluster->site.network.cut[from][to] = false;
        }
    }
    for (uint32_t shard = 0; shard < cluster->site.scenario.shards; shard++) {
        on_room(cluster, shard);
    }
    for (uint32_t host = 0; host < SIM_HOSTS_MAX; host++) {
        if ((cluster->wanted >> host & 1) != 0 && !sim_host_runs(cluster, host)) {
            sim_host_begin(cluster, host);
        }
    }
}

/*
 * Credit over time: actors with open chunks on one side, a learner on the other, for many settings.
 * The band holds, and both sides go on for ever.
 */
#include "replay/shard/replay_credit.h"
#include "tests/support/test.h"
#include "tests/unit/replay/replay_kit.h"

enum { ACTORS_MAX = 12, LANES_MAX = 8 };

typedef struct sim_actor {
    uint64_t spent;
    uint32_t open[LANES_MAX]; /* steps in each lane's open chunk */
} sim_actor;

typedef struct flow_sim {
    aq_rng rng;
    aq_run_settings settings;
    aq_replay_limiter limiter;
    aq_replay_roster *roster;
    aq_replay_credit credit;
    int64_t now_ns;
    uint32_t actor_count;
    bool flushes; /* an actor without credit sends its open chunks as they are */
    bool careful; /* an actor steps only when the credit is enough for all its lanes */
    sim_actor actors[ACTORS_MAX];
} flow_sim;

static aq_replay_actor *record_of(flow_sim *sim, uint32_t index)
{
    aq_replay_actor *actor;
    assert_int_equal(aq_replay_roster_meet(sim->roster, sim->now_ns, index, 1, 0, &actor), 0);
    return actor;
}

static void send_lane(flow_sim *sim, aq_replay_actor *record, uint32_t *open)
{
    aq_replay_credit_received(&sim->credit, record, sim->now_ns, *open);
    aq_replay_limiter_inserted(&sim->limiter, *open);
    *open = 0;
}

/* One actor steps all its lanes while its credit lasts, up to `rounds` times. */
static void run_actor(flow_sim *sim, uint32_t index, uint32_t rounds)
{
    sim_actor *actor = &sim->actors[index];
    aq_replay_actor *record = record_of(sim, index);
    uint32_t lanes = sim->settings.config.actor.envs;
    uint32_t needed = sim->careful ? lanes : 1;
    for (uint32_t round = 0; round < rounds && actor->spent + needed <= record->granted; round++) {
        actor->spent += lanes;
        for (uint32_t lane = 0; lane < lanes; lane++) {
            actor->open[lane]++;
            bool episode_ends = aq_rng_below(&sim->rng, 100) == 0;
            if (actor->open[lane] == sim->settings.config.replay.chunk_length || episode_ends) {
                send_lane(sim, record, &actor->open[lane]);
            }
        }
    }
    for (uint32_t lane = 0; sim->flushes && lane < lanes; lane++) {
        if (actor->spent + needed > record->granted && actor->open[lane] > 0) {
            send_lane(sim, record, &actor->open[lane]);
        }
    }
    aq_replay_credit_called(record, sim->now_ns, record->granted);
}

static void assert_in_band(const flow_sim *sim)
{
    /* Who always spends and sends what it has can only be some lanes beyond, as a step of all of
     * them may begin with one step's credit. Who keeps some of it back, in open chunks or since it
     * is not enough for all lanes, may be granted a chunk for each lane beyond the headroom. */
    double lanes = sim->actor_count * (double)sim->settings.config.actor.envs;
    bool spends = sim->flushes && !sim->careful;
    double beyond = spends ? lanes : lanes * (sim->settings.config.replay.chunk_length + 1);
    assert_true(aq_replay_limiter_lead(&sim->limiter) <= sim->limiter.tolerance + beyond);
    assert_true(aq_replay_limiter_lead(&sim->limiter) + (double)sim->limiter.min_size >=
                -sim->limiter.tolerance - 1e-6);
}

static void tick(flow_sim *sim, uint32_t actor_speed, uint32_t learner_speed)
{
    sim->now_ns += 2 * AQ_NS_PER_MS;
    for (uint32_t i = 0; i < sim->actor_count; i++) {
        run_actor(sim, i, (uint32_t)aq_rng_below(&sim->rng, actor_speed + 1));
    }
    assert_in_band(sim);
    for (uint32_t i = 0; i < learner_speed; i++) {
        if (aq_replay_limiter_may_sample(&sim->limiter, sim->limiter.rows_max)) {
            aq_replay_limiter_sampled(&sim->limiter, sim->limiter.rows_max);
        }
    }
    assert_in_band(sim);
    aq_credit_supply supply = kit_supply(&sim->limiter);
    aq_replay_credit_share(&sim->credit, &supply, sim->roster, sim->now_ns);
}

static void sim_init(flow_sim *sim, uint64_t seed, uint64_t stream)
{
    memset(sim, 0, sizeof(*sim));
    aq_rng_init(&sim->rng, seed, stream);
    sim->settings = kit_settings();
    sim->settings.config.replay.chunk_length = 3 + (uint32_t)aq_rng_below(&sim->rng, 40);
    sim->settings.config.actor.envs = 1 + (uint32_t)aq_rng_below(&sim->rng, LANES_MAX);
    sim->actor_count = 1 + (uint32_t)aq_rng_below(&sim->rng, ACTORS_MAX);
    sim->flushes = aq_rng_below(&sim->rng, 2) == 0;
    sim->careful = aq_rng_below(&sim->rng, 2) == 0;
    double samples_per_insert = exp(aq_rng_range(&sim->rng, log(0.1), log(100.0)));
    uint32_t rows = 1 + (uint32_t)aq_rng_below(&sim->rng, 512);
    double tolerance = ceil((rows / samples_per_insert + 2.0) / 2.0);
    tolerance *= exp(aq_rng_range(&sim->rng, 0.0, log(100.0)));
    aq_table_spec spec = kit_spec(1 + aq_rng_below(&sim->rng, 2000), samples_per_insert, tolerance);
    assert_int_equal(aq_replay_limiter_init(&sim->limiter, &spec, rows, NULL), 0);
    assert_int_equal(aq_replay_roster_create(ACTORS_MAX, &sim->roster), 0);
    aq_replay_credit_init(&sim->credit, &sim->settings);
}

TEST(both_sides_go_on_for_ever_under_any_legal_settings)
{
    uint64_t seed = test_seed();
    for (uint64_t round = 0; round < 300; round++) {
        flow_sim sim;
        sim_init(&sim, seed, round);
        uint32_t actor_speed = 1 + (uint32_t)aq_rng_below(&sim.rng, 50);
        uint64_t inserted = 0, sampled = 0;
        for (int window = 0; window < 8; window++) {
            /* A minute: the slowest actors need 20 seconds for the steps of the largest request. */
            for (int i = 0; i < 30000; i++) {
                tick(&sim, actor_speed, 20);
                if (sim.limiter.inserted > inserted && sim.limiter.sampled > sampled) {
                    break;
                }
            }
            assert_true(sim.limiter.inserted > inserted);
            assert_true(sim.limiter.sampled > sampled);
            inserted = sim.limiter.inserted;
            sampled = sim.limiter.sampled;
        }
        aq_replay_roster_destroy(sim.roster);
    }
}

TEST(the_band_holds_whichever_side_is_slow)
{
    uint64_t seed = test_seed();
    for (uint64_t round = 0; round < 100; round++) {
        flow_sim sim;
        sim_init(&sim, seed, 1000 + round);
        for (int i = 0; i < 400; i++) { /* the learner only now and then */
            tick(&sim, 50, i % 10 == 0);
        }
        for (int i = 0; i < 400; i++) { /* the actors at a crawl */
            tick(&sim, 1, 200);
        }
        aq_replay_roster_destroy(sim.roster);
    }
}

TEST(actors_that_come_and_go_do_not_use_up_the_credit)
{
    flow_sim sim;
    sim_init(&sim, test_seed(), 5000);
    sim.actor_count = 1;
    for (int life = 0; life < 50; life++) {
        /* Killed with credit in hand; the next process is another incarnation, here a new number.
         * */
        uint64_t inserted = sim.limiter.inserted;
        uint64_t number = 100 + (uint64_t)life;
        aq_replay_actor *record;
        for (int i = 0; i < 3000 && sim.limiter.inserted == inserted; i++) {
            sim.now_ns += 2 * AQ_NS_PER_MS;
            while (aq_replay_limiter_may_sample(&sim.limiter, sim.limiter.rows_max)) {
                aq_replay_limiter_sampled(&sim.limiter, sim.limiter.rows_max);
            }
            if (aq_replay_roster_meet(sim.roster, sim.now_ns, number, 1, 0, &record) != 0) {
                continue; /* a new one has to wait until the dead are forgotten */
            }
            aq_replay_credit_called(record, sim.now_ns, record->granted);
            aq_credit_supply supply = kit_supply(&sim.limiter);
            aq_replay_credit_share(&sim.credit, &supply, sim.roster, sim.now_ns);
            if (record->granted > 1) {
                aq_replay_credit_received(&sim.credit, record, sim.now_ns, 1);
                aq_replay_limiter_inserted(&sim.limiter, 1);
            }
        }
        assert_true(sim.limiter.inserted > inserted);
        if (life % 10 == 9) {
            sim.now_ns += AQ_ROSTER_IDLE_NS;
        }
    }
    aq_replay_roster_destroy(sim.roster);
}

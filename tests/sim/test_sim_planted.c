/*
 * The checkers notice: a fault is planted in somebody, and the invariant that it breaks is the one
 * that is found broken. Some faults show under some conditions only (a learner that forgets what it
 * reserved must be killed first), so each has a few seeds to show in.
 */
#include "tests/sim/sim_cluster.h"
#include "tests/support/test.h"

enum { SEEDS = 80 };

static void draw_for(enum sim_plant plant, uint64_t seed, sim_scenario *ret_scenario)
{
    switch (plant) {
    case SIM_PLANT_RANK:
        sim_scenario_ranks(seed, ret_scenario);
        break;
    case SIM_PLANT_LAG:
        sim_scenario_paced(seed, ret_scenario);
        break;
    default:
        sim_scenario_draw(seed, ret_scenario);
        break;
    }
}

/* In how many of the seeds the invariant is found broken, up to `needed`. A fault may also show as
 * another one first. */
static int count_found(enum sim_plant plant, enum sim_invariant expected, int needed)
{
    int found = 0;
    for (uint64_t seed = 1; seed <= SEEDS && found < needed; seed++) {
        sim_scenario scenario;
        sim_outcome outcome;
        draw_for(plant, seed, &scenario);
        scenario.plant = plant;
        sim_run(&scenario, &outcome);
        if (outcome.broken != SIM_ALL_HOLD) {
            printf("seed %d: %s: %s\n", (int)seed, sim_invariant_name(outcome.broken),
                   outcome.words);
            found += outcome.broken == expected;
        }
    }
    return found;
}

TEST(each_planted_fault_is_noticed)
{
    static const struct {
        enum sim_plant plant;
        enum sim_invariant broken;
        int needed;
        const char *what;
    } rows[] = {
        {SIM_PLANT_DUPLICATE, SIM_STORED_ONCE, 5, "a message stored twice"},
        {SIM_PLANT_LOSS, SIM_STORED_ONCE, 5, "a chunk lost in a shard"},
        {SIM_PLANT_ACKNOWLEDGED, SIM_REFUSED, 5, "an acknowledgement that nobody gave"},
        {SIM_PLANT_CONTENT, SIM_CONTENT, 5, "a changed bit in a shard"},
        {SIM_PLANT_STREAM, SIM_STREAM, 5, "a chunk that an actor leaves out"},
        {SIM_PLANT_VERSION, SIM_VERSIONS, 3, "a version used again"},
        {SIM_PLANT_POLICY, SIM_POLICY, 5, "a version that differs from the learners"},
        {SIM_PLANT_CREDIT, SIM_CREDIT, 5, "too much credit"},
        {SIM_PLANT_SAMPLES, SIM_SAMPLES, 5, "too many samples"},
        {SIM_PLANT_ENV_STEPS, SIM_ENV_STEPS, 3, "steps counted twice"},
        {SIM_PLANT_DEADLOCK, SIM_PROGRESS, 2, "a learner that stands still"},
        {SIM_PLANT_CORRUPT, SIM_REFUSED, 5, "a message that is rejected"},
        {SIM_PLANT_IDLE, SIM_IDLE, 5, "an actor that never waits"},
        {SIM_PLANT_EARLY, SIM_ACKNOWLEDGED, 5, "an acknowledgement before it is written"},
        {SIM_PLANT_MISSING, SIM_RESTORED, 5, "a record that does not come back"},
        {SIM_PLANT_MARKS, SIM_RESTORED, 1, "marks that do not come back"},
        {SIM_PLANT_PRIORITIES, SIM_RESTORED, 1, "priorities that do not come back"},
        {SIM_PLANT_ACTOR_SECRET, SIM_ACKNOWLEDGED, 5, "a liar who speaks for an actor"},
        {SIM_PLANT_SHARD_SECRET, SIM_ENV_STEPS, 5, "a liar who speaks for a shard"},
        {SIM_PLANT_RANK, SIM_RANKS, 5, "a rank with other parameters"},
        {SIM_PLANT_LAG, SIM_LAG, 5, "a learner that hears of no newer version"},
    };
    EACH_ROW(i, rows) {
        printf("%s\n", rows[i].what);
        assert_int_equal(count_found(rows[i].plant, rows[i].broken, rows[i].needed),
                         rows[i].needed);
    }
}

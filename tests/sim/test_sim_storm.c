/*
 * A cluster in a storm of faults, for many seeds. Every seed is printed before it runs, so that one
 * that ends badly can be run again: AQ_SEED is the first, AQ_SIM_SEEDS how many follow one another.
 */
#include <inttypes.h>

#include "tests/sim/sim_cluster.h"
#include "tests/support/test.h"

enum { SEEDS = 100 }; /* some five seconds of one core */

static double seconds_of(int64_t ns)
{
    return (double)ns / (double)AQ_NS_PER_S;
}

static void add(sim_outcome *total, const sim_outcome *outcome)
{
    total->end_ns += outcome->end_ns;
    total->events += outcome->events;
    total->env_steps += outcome->env_steps;
    total->learner_steps += outcome->learner_steps;
    total->messages_lost += outcome->messages_lost;
    total->messages_doubled += outcome->messages_doubled;
    total->breaks += outcome->breaks;
    total->policy_gaps += outcome->policy_gaps;
    total->stored_twice += outcome->stored_twice;
    total->records += outcome->records;
    total->records_lost += outcome->records_lost;
    total->segments_dropped += outcome->segments_dropped;
    total->lies += outcome->lies;
    total->timeouts += outcome->timeouts;
    total->tally.learner_kills += outcome->tally.learner_kills;
    total->tally.shard_kills += outcome->tally.shard_kills;
    total->tally.shard_stops += outcome->tally.shard_stops;
    total->tally.full_disks += outcome->tally.full_disks;
    total->tally.actor_kills += outcome->tally.actor_kills;
    total->tally.lost_ranks += outcome->tally.lost_ranks;
    if (outcome->recovery_ns > total->recovery_ns) {
        total->recovery_ns = outcome->recovery_ns;
    }
}

static void print_total(const sim_outcome *total, uint64_t seeds)
{
    printf("%" PRIu64 " seeds, %.0f minutes: %" PRIu64 " steps, %" PRIu64 " learner steps, %" PRIu64
           " messages lost and %" PRIu64 " doubled, %" PRIu64 " connections broken, %" PRIu64
           " calls timed out; killed %u learners, %u of their ranks, %u shards (and %u ended in "
           "order), %u actors; "
           "disks were full %u times, had %" PRIu64 " records, lost %" PRIu64
           " that were not acknowledged, dropped %" PRIu64 " segments; %" PRIu64
           " messages in two shards, %" PRIu64 " changes of versions that were missed; %" PRIu64
           " lies were let in; longest recovery %.1f s\n",
           seeds, seconds_of(total->end_ns) / 60.0, total->env_steps, total->learner_steps,
           total->messages_lost, total->messages_doubled, total->breaks, total->timeouts,
           total->tally.learner_kills, total->tally.lost_ranks, total->tally.shard_kills,
           total->tally.shard_stops, total->tally.actor_kills, total->tally.full_disks,
           total->records, total->records_lost, total->segments_dropped, total->stored_twice,
           total->policy_gaps, total->lies, seconds_of(total->recovery_ns));
}

typedef void (*draw_fn)(uint64_t seed, sim_scenario *ret_scenario);

static void run_seed(draw_fn draw, uint64_t seed, sim_outcome *ret_outcome)
{
    sim_scenario scenario;
    int64_t began_ns = aq_clock_monotonic_ns();
    printf("seed %" PRIu64 ": ", seed);
    fflush(stdout);
    draw(seed, &scenario);
    sim_run(&scenario, ret_outcome);
    printf("%.1f s in %.0f ms, recovered in %.1f s, %" PRIu64 " steps\n",
           seconds_of(ret_outcome->end_ns), 1000.0 * seconds_of(aq_clock_monotonic_ns() - began_ns),
           seconds_of(ret_outcome->recovery_ns), ret_outcome->env_steps);
}

/* All seeds hold, or one of so many. */
static uint64_t run_seeds(draw_fn draw, uint64_t of, sim_outcome *ret_total)
{
    uint64_t first = test_number("AQ_SEED", 1);
    uint64_t count = (test_number("AQ_SIM_SEEDS", SEEDS) + of - 1) / of;
    sim_outcome total = {0};
    for (uint64_t seed = first; seed < first + count; seed++) {
        sim_outcome outcome;
        run_seed(draw, seed, &outcome);
        if (outcome.broken != SIM_ALL_HOLD) {
            fail_msg("AQ_SEED=%" PRIu64 " AQ_SIM_SEEDS=1 at %.6f s: not so: %s: %s", seed,
                     seconds_of(outcome.broken_ns), sim_invariant_name(outcome.broken),
                     outcome.words);
        }
        add(&total, &outcome);
    }
    print_total(&total, count);
    *ret_total = total;
    return count;
}

/* Enough seeds have something of everything that a storm is made of. */
static bool is_stormy(const sim_outcome *total)
{
    return total->messages_lost > 0 && total->messages_doubled > 0 && total->breaks > 0 &&
           total->timeouts > 0 && total->records_lost > 0 && total->policy_gaps > 0 &&
           total->lies > 0 && total->tally.learner_kills > 0 && total->tally.shard_kills > 0 &&
           total->tally.actor_kills > 0;
}

TEST(nothing_is_lost_doubled_or_stuck_in_a_storm)
{
    sim_outcome total;
    uint64_t count = run_seeds(sim_scenario_draw, 1, &total);
    assert_true(count < SEEDS || is_stormy(&total));
}

TEST(no_gradient_is_lost_doubled_or_stuck_in_a_storm)
{
    sim_outcome total;
    uint64_t count = run_seeds(sim_scenario_gradients, 3, &total);
    assert_true(total.learner_steps > count);
}

TEST(nothing_too_old_is_learned_from_and_nothing_is_stuck_in_a_paced_run)
{
    sim_outcome total;
    uint64_t count = run_seeds(sim_scenario_paced, 1, &total);
    assert_true(count < SEEDS || is_stormy(&total));
}

/* Each of their turns is threads that start and end. */
TEST(ranks_keep_the_same_and_come_back_when_one_is_lost)
{
    sim_outcome total;
    uint64_t count = run_seeds(sim_scenario_ranks, 8, &total);
    assert_true(count < 10 || (total.tally.lost_ranks > 0 && total.learner_steps > 0));
}

/*
 * A cluster without faults learns; and any run is a function of its seed.
 */
#include <inttypes.h>

#include "tests/sim/sim_cluster.h"
#include "tests/support/test.h"

/* CartPole pays one for each step that the pole stays up: chance balances it for about twenty. The
 * products of another processor round otherwise and lead elsewhere, so one of three runs may be
 * unlucky. */
TEST(a_cluster_in_one_process_learns_to_balance_a_pole)
{
    int learned = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        sim_scenario scenario;
        sim_outcome outcome;
        sim_scenario_learning(seed, &scenario);
        sim_run(&scenario, &outcome);
        printf("%.1f s, %" PRIu64 " steps, %" PRIu64 " learner steps, %" PRIu64
               " evaluations: from %.1f to %.1f\n",
               (double)outcome.end_ns / (double)AQ_NS_PER_S, outcome.env_steps,
               outcome.learner_steps, outcome.evaluations, outcome.first_return,
               outcome.best_return);
        assert_string_equal(outcome.words, "");
        assert_true(outcome.env_steps <= scenario.config.limits.env_steps + 2000);
        learned += outcome.best_return > 100.0;
    }
    assert_true(learned >= 2);
}

TEST(without_faults_everything_holds_in_odd_configurations_too)
{
    sim_scenario scenario;
    sim_outcome outcome;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        sim_scenario_draw(seed, &scenario);
        scenario.storm_ns = 0;
        scenario.has_liar = false;
        scenario.quiet_ns = 10 * AQ_NS_PER_S;
        sim_run(&scenario, &outcome);
        assert_string_equal(outcome.words, "");
        assert_int_equal(outcome.messages_doubled, 0);
        assert_int_equal(outcome.timeouts, 0);
        assert_true(outcome.learner_steps > 0);
    }
}

TEST(the_same_seed_gives_the_same_run)
{
    sim_scenario scenario;
    sim_outcome first, second, other;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        sim_scenario_draw(seed, &scenario);
        sim_run(&scenario, &first);
        sim_run(&scenario, &second);
        assert_int_equal(first.trace, second.trace);
        assert_int_equal(first.events, second.events);
        scenario.seed += 1000;
        sim_run(&scenario, &other);
        assert_int_not_equal(first.trace, other.trace);
    }
}

/*
 * A cluster without faults learns; and any run is a function of its seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/base/clock.h"
#include "common/sys/log.h"
#include "tests/sim/sim_cluster.h"

/* CartPole pays one for each step that the pole stays up: chance balances it for about twenty. The
 * products of another processor round otherwise and lead elsewhere, so one of three runs may be
 * unlucky. */
static void test_a_cluster_in_one_process_learns_to_balance_a_pole(void **state)
{
    int learned = 0;
    (void)state;
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
        learned += outcome.best_return > 150.0;
    }
    assert_true(learned >= 2);
}

static void test_without_faults_everything_holds_in_odd_configurations_too(void **state)
{
    sim_scenario scenario;
    sim_outcome outcome;
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sim_scenario_draw(seed, &scenario);
        scenario.storm_ns = 0;
        scenario.quiet_ns = 10 * AQ_NS_PER_S;
        sim_run(&scenario, &outcome);
        assert_string_equal(outcome.words, "");
        assert_int_equal(outcome.messages_doubled, 0);
        assert_int_equal(outcome.timeouts, 0);
        assert_true(outcome.learner_steps > 0);
    }
}

static void test_the_same_seed_gives_the_same_run(void **state)
{
    sim_scenario scenario;
    sim_outcome first, second, other;
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cluster_in_one_process_learns_to_balance_a_pole),
        cmocka_unit_test(test_without_faults_everything_holds_in_odd_configurations_too),
        cmocka_unit_test(test_the_same_seed_gives_the_same_run),
    };
    aq_log_set_level(AQ_LOG_OFF);
    return cmocka_run_group_tests_name("sim_calm", tests, NULL, NULL);
}

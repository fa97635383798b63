/*
 * The checkers notice: a fault is planted in somebody, and the invariant that it breaks is the one
 * that is found broken. Some faults show under some conditions only (a learner that forgets what it
 * reserved must be killed first), so each has a few seeds to show in.
 */
#include <stdio.h>

#include "common/sys/log.h"
#include "tests/sim/sim_cluster.h"
#include "tests/support/test.h"

enum { SEEDS = 80 };

/* In `needed` of the seeds at least. A fault may also show as another one first. */
static void expect(enum sim_plant plant, enum sim_invariant expected, int needed)
{
    int found = 0;
    for (uint64_t seed = 1; seed <= SEEDS && found < needed; seed++) {
        sim_scenario scenario;
        sim_outcome outcome;
        sim_scenario_draw(seed, &scenario);
        scenario.plant = plant;
        sim_run(&scenario, &outcome);
        if (outcome.broken != SIM_ALL_HOLD) {
            printf("seed %d: %s: %s\n", (int)seed, sim_invariant_name(outcome.broken),
                   outcome.words);
            found += outcome.broken == expected;
        }
    }
    assert_int_equal(found, needed);
}

TEST(a_message_stored_twice_is_noticed)
{
    expect(SIM_PLANT_DUPLICATE, SIM_STORED_ONCE, 5);
}

TEST(a_chunk_lost_in_a_shard_is_noticed)
{
    expect(SIM_PLANT_LOSS, SIM_STORED_ONCE, 5);
}

TEST(an_acknowledgement_of_what_is_not_stored_is_noticed)
{
    expect(SIM_PLANT_ACKNOWLEDGED, SIM_ACKNOWLEDGED, 5);
}

TEST(a_changed_bit_in_a_shard_is_noticed)
{
    expect(SIM_PLANT_CONTENT, SIM_CONTENT, 5);
}

TEST(a_chunk_that_an_actor_leaves_out_is_noticed)
{
    expect(SIM_PLANT_STREAM, SIM_STREAM, 5);
}

TEST(a_version_used_again_is_noticed)
{
    expect(SIM_PLANT_VERSION, SIM_VERSIONS, 3);
}

TEST(a_version_that_differs_from_the_learners_is_noticed)
{
    expect(SIM_PLANT_POLICY, SIM_POLICY, 5);
}

TEST(too_much_credit_is_noticed)
{
    expect(SIM_PLANT_CREDIT, SIM_CREDIT, 5);
}

TEST(too_many_samples_are_noticed)
{
    expect(SIM_PLANT_SAMPLES, SIM_SAMPLES, 5);
}

TEST(steps_counted_twice_are_noticed)
{
    expect(SIM_PLANT_ENV_STEPS, SIM_ENV_STEPS, 3);
}

TEST(a_learner_that_stands_still_is_noticed)
{
    expect(SIM_PLANT_DEADLOCK, SIM_PROGRESS, 2);
}

TEST(a_message_that_is_rejected_is_noticed)
{
    expect(SIM_PLANT_CORRUPT, SIM_REFUSED, 5);
}

TEST(an_actor_that_never_waits_is_noticed)
{
    expect(SIM_PLANT_IDLE, SIM_IDLE, 5);
}

TEST(an_acknowledgement_before_it_is_written_is_noticed)
{
    expect(SIM_PLANT_EARLY, SIM_ACKNOWLEDGED, 5);
}

TEST(a_record_that_does_not_come_back_is_noticed)
{
    expect(SIM_PLANT_MISSING, SIM_RESTORED, 5);
}

TEST(marks_that_do_not_come_back_are_noticed)
{
    expect(SIM_PLANT_MARKS, SIM_RESTORED, 1);
}

TEST(priorities_that_do_not_come_back_are_noticed)
{
    expect(SIM_PLANT_PRIORITIES, SIM_RESTORED, 1);
}

static int be_quiet(void **state)
{
    (void)state;
    aq_log_set_level(AQ_LOG_OFF);
    return 0;
}
TEST_GROUP(be_quiet, NULL);

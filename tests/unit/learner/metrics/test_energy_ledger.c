/*
 * Sums by role and machine, from totals that come often, late, twice or not at all.
 */
#include "learner/metrics/energy_ledger.h"
#include "tests/support/test.h"

enum { ANT = 11, BEE = 12 }; /* machines */

static void assert_close(double value, double wanted)
{
    assert_near(value, wanted, 1e-9 * fmax(1, fabs(wanted)));
}

static void aq_energy_ledger_setup(aq_energy_ledger *ledger)
{
    aq_energy_ledger_init(ledger, 100); /* two processors of 50 W, 5 of them idle */
}

static void aq_energy_ledger_teardown(aq_energy_ledger *ledger)
{
    aq_energy_ledger_fini(ledger);
}

/* Of a process on a machine of two processors, which measures if there is a source. */
static aq_energy_reading reading_of(uint64_t machine, const char *source, double wall_s,
                                    double cpu_s)
{
    aq_energy_reading reading = {
        .machine = machine, .cpus = 2, .wall_s = wall_s, .cpu_s = cpu_s, .processor = "box"};
    (void)snprintf(reading.source, sizeof(reading.source), "%s", source);
    if (source[0] != '\0') { /* 60 W in all, half of it idle, 20 J a processor second */
        reading.machine_j = 60 * wall_s;
        reading.idle_j = 30 * wall_s;
        reading.measured_j = 20 * cpu_s;
    }
    return reading;
}

static void tell(aq_energy_ledger *ledger, double now_s, uint64_t incarnation, uint32_t role,
                 aq_energy_reading reading)
{
    aq_energy_ledger_told(ledger, (int64_t)(now_s * (double)AQ_NS_PER_S), incarnation, role,
                          &reading);
}

/* ---- the model ----------------------------------------------------------------------------- */

TEST_IN(aq_energy_ledger, ledger, the_model_multiplies_processor_time)
{
    tell(ledger, 10, 1, AQ_ENERGY_LEARNER, reading_of(ANT, "", 10, 8));
    tell(ledger, 10, 2, AQ_ROLE_ACTOR, reading_of(ANT, "", 10, 4));
    tell(ledger, 10, 3, AQ_ROLE_ACTOR, reading_of(ANT, "", 10, 2));
    aq_energy_totals totals = aq_energy_ledger_totals(ledger);
    assert_string_equal(totals.source, "model");
    assert_close(totals.cpu_s, 14);
    assert_close(totals.role_j[AQ_ENERGY_LEARNER], 8 * 50 * 0.9);
    assert_close(totals.role_j[AQ_ROLE_ACTOR], 6 * 50 * 0.9);
    assert_close(totals.energy_j, 14 * 50 * 0.9);
    assert_close(totals.idle_j, 10 * 100 * 0.1); /* of one machine, not of each process */
}

TEST_IN(aq_energy_ledger, ledger, totals_that_come_often_count_once)
{
    for (int i = 1; i <= 20; i++) {
        tell(ledger, 0.5 * i, 1, AQ_ROLE_ACTOR, reading_of(ANT, "", 0.5 * i, 0.25 * i));
        tell(ledger, 0.5 * i, 1, AQ_ROLE_ACTOR, reading_of(ANT, "", 0.5 * i, 0.25 * i));
        if (i % 3 == 0) { /* another, which is heard of less often */
            tell(ledger, 0.5 * i + 0.1, 2, AQ_ROLE_REPLAY, reading_of(ANT, "", 0.5 * i, 0.05 * i));
        }
    }
    aq_energy_totals totals = aq_energy_ledger_totals(ledger);
    assert_close(ledger->roles[AQ_ROLE_ACTOR].cpu_s, 5);
    assert_close(ledger->roles[AQ_ROLE_REPLAY].cpu_s, 0.9);
    assert_close(totals.idle_j, 10 * 10);
}

TEST_IN(aq_energy_ledger, ledger, a_process_that_comes_back_is_not_counted_again)
{
    tell(ledger, 10, 1, AQ_ROLE_ACTOR, reading_of(ANT, "", 10, 5));
    tell(ledger, 90, 1, AQ_ROLE_ACTOR, reading_of(ANT, "", 90, 7)); /* it was lost meanwhile */
    assert_close(ledger->roles[AQ_ROLE_ACTOR].cpu_s, 7);
    tell(ledger, 95, 2, AQ_ROLE_ACTOR, reading_of(ANT, "", 1, 0.5)); /* a new life is another */
    assert_close(ledger->roles[AQ_ROLE_ACTOR].cpu_s, 7.5);
}

TEST_IN(aq_energy_ledger, ledger, a_total_that_fell_is_not_believed)
{
    tell(ledger, 10, 1, AQ_ROLE_ACTOR, reading_of(ANT, "", 10, 5));
    tell(ledger, 11, 1, AQ_ROLE_ACTOR, reading_of(ANT, "", 3, 1));
    tell(ledger, 12, 1, AQ_ROLE_ACTOR, reading_of(ANT, "", 12, 6));
    aq_energy_totals totals = aq_energy_ledger_totals(ledger);
    assert_close(totals.cpu_s, 6);
    assert_close(totals.idle_j, 12 * 10);
}

TEST_IN(aq_energy_ledger, ledger, a_process_that_was_with_another_run_counts_on)
{
    tell(ledger, 10, 1, AQ_ROLE_ACTOR, reading_of(ANT, "rapl", 10, 5));
    aq_energy_ledger_anew(ledger, 1);
    aq_energy_ledger_anew(ledger, 2); /* nobody knows it */
    tell(ledger, 91, 1, AQ_ROLE_ACTOR, reading_of(ANT, "rapl", 1, 1));
    tell(ledger, 92, 1, AQ_ROLE_ACTOR, reading_of(ANT, "rapl", 2, 1.5));
    aq_energy_totals totals = aq_energy_ledger_totals(ledger);
    assert_close(totals.cpu_s, 6.5);
    assert_close(totals.energy_j, 6.5 * 20);
    assert_close(totals.idle_j, 12 * 30);
}

/* It tells its last as it leaves, and never comes back. */
TEST_IN(aq_energy_ledger, ledger, who_left_is_forgotten_and_stays_counted)
{
    tell(ledger, 1, 1000, AQ_ROLE_REPLAY, reading_of(ANT, "", 1, 1));
    for (uint64_t i = 1; i <= 100; i++) {
        tell(ledger, 1, i, AQ_ROLE_ACTOR, reading_of(ANT, "", 1, 1));
        aq_energy_ledger_left(ledger, i);
        aq_energy_ledger_left(ledger, i); /* nobody knows it */
        assert_int_equal(ledger->process_count, 1);
    }
    tell(ledger, 2, 1000, AQ_ROLE_REPLAY, reading_of(ANT, "", 2, 2));
    assert_close(aq_energy_ledger_totals(ledger).cpu_s, 100 + 2);
}

TEST_IN(aq_energy_ledger, ledger, each_machine_has_its_own_idle_share)
{
    tell(ledger, 10, 1, AQ_ENERGY_LEARNER, reading_of(ANT, "", 10, 1));
    tell(ledger, 10, 2, AQ_ROLE_ACTOR, reading_of(BEE, "", 4, 1));
    aq_energy_totals totals = aq_energy_ledger_totals(ledger);
    assert_int_equal(ledger->machine_count, 2);
    assert_close(totals.idle_j, (10 + 4) * 10);
}

/* ---- measured ------------------------------------------------------------------------------ */

TEST_IN(aq_energy_ledger, ledger, where_all_measure_joules_are_measured)
{
    tell(ledger, 10, 1, AQ_ENERGY_LEARNER, reading_of(ANT, "rapl", 10, 8));
    tell(ledger, 10, 2, AQ_ROLE_ACTOR, reading_of(ANT, "rapl", 10, 2));
    tell(ledger, 10, 3, AQ_ROLE_ACTOR, reading_of(BEE, "rapl", 10, 5));
    aq_energy_totals totals = aq_energy_ledger_totals(ledger);
    assert_string_equal(totals.source, "rapl");
    assert_close(totals.role_j[AQ_ENERGY_LEARNER], 160);
    assert_close(totals.role_j[AQ_ROLE_ACTOR], 140);
    assert_close(totals.energy_j, 300);
    assert_close(totals.idle_j, 2 * 300); /* of two machines, each told about twice */
    assert_close(ledger->machines[0].machine_j, 600);
    assert_close(ledger->roles[AQ_ENERGY_LEARNER].model_j, 8 * 45); /* beside it */
}

TEST_IN(aq_energy_ledger, ledger, one_that_cannot_measure_makes_it_a_model_for_all)
{
    tell(ledger, 10, 1, AQ_ENERGY_LEARNER, reading_of(ANT, "rapl", 10, 8));
    tell(ledger, 10, 2, AQ_ROLE_ACTOR, reading_of(BEE, "", 10, 2));
    aq_energy_totals totals = aq_energy_ledger_totals(ledger);
    assert_string_equal(totals.source, "model");
    assert_close(totals.energy_j, 10 * 45);
    assert_close(totals.idle_j, 2 * 100);
}

TEST_IN(aq_energy_ledger, ledger, two_sources_are_not_mixed)
{
    tell(ledger, 10, 1, AQ_ENERGY_LEARNER, reading_of(ANT, "perf", 10, 8));
    assert_string_equal(aq_energy_ledger_totals(ledger).source, "perf");
    tell(ledger, 10, 2, AQ_ROLE_ACTOR, reading_of(BEE, "rapl", 10, 2));
    assert_string_equal(aq_energy_ledger_totals(ledger).source, "model");
}

TEST_IN(aq_energy_ledger, ledger, one_that_stops_measuring_leaves_a_model)
{
    tell(ledger, 10, 1, AQ_ENERGY_LEARNER, reading_of(ANT, "rapl", 10, 8));
    tell(ledger, 20, 1, AQ_ENERGY_LEARNER, reading_of(ANT, "", 20, 16));
    aq_energy_totals totals = aq_energy_ledger_totals(ledger);
    assert_string_equal(totals.source, "model");
    assert_close(totals.energy_j, 16 * 45);
}

TEST_IN(aq_energy_ledger, ledger, a_run_of_which_nothing_was_heard_took_nothing)
{
    aq_energy_totals totals = aq_energy_ledger_totals(ledger);
    assert_string_equal(totals.source, "model");
    assert_true(totals.energy_j == 0 && totals.idle_j == 0 && totals.cpu_s == 0);
}

/* A learner that was started again tells first; those that went on tell of the time between. */
TEST_IN(aq_energy_ledger, ledger, what_nobody_told_of_before_counts_once)
{
    tell(ledger, 601, 1, AQ_ENERGY_LEARNER, reading_of(ANT, "rapl", 1, 1));
    tell(ledger, 602, 2, AQ_ROLE_ACTOR, reading_of(ANT, "rapl", 602, 5));
    tell(ledger, 602, 3, AQ_ROLE_ACTOR, reading_of(ANT, "rapl", 602, 5));
    tell(ledger, 603, 1, AQ_ENERGY_LEARNER, reading_of(ANT, "rapl", 3, 3));
    assert_close(ledger->machines[0].wall_s, 603);
    assert_close(ledger->machines[0].machine_j, 603 * 60);
    assert_close(aq_energy_ledger_totals(ledger).idle_j, 603 * 30);
}

/* ---- limits -------------------------------------------------------------------------------- */

TEST_IN(aq_energy_ledger, ledger, the_longest_unheard_of_makes_room)
{
    for (uint64_t i = 1; i <= AQ_ENERGY_PROCESSES_MAX + 1; i++) {
        tell(ledger, (double)i, i, AQ_ROLE_ACTOR, reading_of(ANT, "", 1, 1));
    }
    assert_int_equal(ledger->process_count, AQ_ENERGY_PROCESSES_MAX);
    assert_close(ledger->roles[AQ_ROLE_ACTOR].cpu_s, AQ_ENERGY_PROCESSES_MAX + 1);
    tell(ledger, 1e6, 2, AQ_ROLE_ACTOR, reading_of(ANT, "", 1, 1)); /* that one is still known */
    assert_close(ledger->roles[AQ_ROLE_ACTOR].cpu_s, AQ_ENERGY_PROCESSES_MAX + 1);
}

/* Each took a second of its processors, whose idle share is 10 W. */
TEST_IN(aq_energy_ledger, ledger, machines_that_make_room_are_counted_together)
{
    enum { MACHINES = AQ_ENERGY_MACHINES_MAX + 2 };
    for (uint64_t i = 1; i <= MACHINES; i++) {
        tell(ledger, (double)i, i, AQ_ROLE_ACTOR, reading_of(i, "", 1, 1));
        assert_close(aq_energy_ledger_totals(ledger).idle_j, 10 * (double)i);
    }
    assert_int_equal(ledger->machine_count, AQ_ENERGY_MACHINES_MAX);
    assert_close(aq_energy_ledger_totals(ledger).cpu_s, MACHINES);
    assert_string_equal(ledger->machines[0].processor, "several");
    assert_close(ledger->machines[0].wall_s, 3);
    tell(ledger, 1e6, 1, AQ_ROLE_ACTOR, reading_of(1, "", 2, 2)); /* back, and told before */
    assert_close(aq_energy_ledger_totals(ledger).idle_j, 10 * (MACHINES + 1));
    assert_close(ledger->machines[0].wall_s, 4);
}

TEST_IN(aq_energy_ledger, ledger, what_memory_had_no_room_for_is_made_up_for)
{
    for (uint64_t nth = 1; nth <= 2; nth++) {
        aq_memory_fail_at(nth, 0);
        tell(ledger, 1, 1, AQ_ROLE_ACTOR, reading_of(ANT, "", 1, 1));
        aq_memory_fail_at(0, 0);
        assert_true(aq_energy_ledger_totals(ledger).cpu_s == 0);
        aq_energy_ledger_fini(ledger);
        aq_energy_ledger_init(ledger, 100);
    }
    tell(ledger, 2, 1, AQ_ROLE_ACTOR, reading_of(ANT, "", 2, 2));
    assert_close(aq_energy_ledger_totals(ledger).cpu_s, 2);
}

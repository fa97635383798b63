/*
 * Shards are sampled from in proportion to what they hold, whoever comes and goes, and rows count
 * what they should over all of them.
 */
#include "tests/support/test.h"
#include "tests/unit/learner/prefetch_stand.h"

enum { ROUNDS = 2000 };

/* One group after the other is asked for and answered; what each shard gave. */
static void run(prefetch_stand *stand, unsigned rounds, unsigned got[STAND_SHARDS])
{
    for (unsigned round = 0; round < rounds; round++) {
        prefetch_stand_pass(stand, 1);
        for (size_t i = 0; i < STAND_SHARDS; i++) {
            while (stand->shards[i].count > 0) {
                (void)prefetch_stand_fill(stand, i);
                prefetch_stand_give_back(stand);
                got[i]++;
            }
        }
    }
}

static double chi_square(const unsigned got[STAND_SHARDS], const double mass[STAND_SHARDS])
{
    double total = 0, mass_total = 0, sum = 0;
    for (size_t i = 0; i < STAND_SHARDS; i++) {
        total += got[i];
        mass_total += mass[i];
    }
    for (size_t i = 0; i < STAND_SHARDS; i++) {
        double expected = total * mass[i] / mass_total;
        sum += mass[i] > 0 ? (got[i] - expected) * (got[i] - expected) / expected : 0;
    }
    return sum;
}

static void set_mass(prefetch_stand *stand, const double mass[STAND_SHARDS])
{
    for (size_t i = 0; i < STAND_SHARDS; i++) {
        stand->shards[i].mass = mass[i];
    }
}

TEST_IN(prefetch_stand, stand, groups_come_in_proportion_to_the_masses)
{
    static const double mass[STAND_SHARDS] = {50, 30, 15, 5};
    unsigned got[STAND_SHARDS] = {0};
    set_mass(stand, mass);
    for (size_t i = 0; i < STAND_SHARDS; i++) {
        prefetch_stand_add(stand, i);
    }
    run(stand, ROUNDS, got);
    assert_true(chi_square(got, mass) < 0.1); /* three degrees of freedom; chance would give 3 */
}

TEST_IN(prefetch_stand, stand, shares_follow_the_masses_that_were_told_last)
{
    static const double before[STAND_SHARDS] = {50, 50, 0, 0}, after[STAND_SHARDS] = {80, 20, 0, 0};
    unsigned got[STAND_SHARDS] = {0};
    prefetch_stand_add(stand, 0);
    prefetch_stand_add(stand, 1);
    set_mass(stand, before);
    run(stand, ROUNDS, got);
    assert_true(chi_square(got, before) < 0.1);
    set_mass(stand, after);
    run(stand, 10, got);
    got[0] = got[1] = 0;
    run(stand, ROUNDS, got);
    assert_true(chi_square(got, after) < 0.1);
    aq_prefetch_tell_mass(stand->prefetch, 2, 0); /* by a heartbeat: nothing is left */
    got[1] = 0;
    run(stand, ROUNDS, got);
    assert_int_equal(got[1], 0);
}

TEST_IN(prefetch_stand, stand, a_heartbeat_tells_the_mass_of_a_shard_that_is_rarely_asked)
{
    static const double tiny[STAND_SHARDS] = {1e6, 1, 0, 0}, grown[STAND_SHARDS] = {1e6, 1e6, 0, 0};
    unsigned got[STAND_SHARDS] = {0};
    prefetch_stand_add(stand, 0);
    prefetch_stand_add(stand, 1);
    set_mass(stand, tiny);
    run(stand, 100, got);
    assert_true(got[1] <= 2);
    aq_prefetch_tell_mass(stand->prefetch, 2, 1e6);
    aq_prefetch_tell_mass(stand->prefetch, 2, NAN); /* rubbish is passed over */
    aq_prefetch_tell_mass(stand->prefetch, 2, -1);
    aq_prefetch_tell_mass(stand->prefetch, 2, INFINITY);
    aq_prefetch_tell_mass(stand->prefetch, 99, 1e9);
    aq_prefetch_tell_mass(stand->prefetch, 0, 1e9);
    set_mass(stand, grown);
    got[0] = got[1] = 0;
    run(stand, ROUNDS, got);
    assert_true(chi_square(got, grown) < 0.1);
}

TEST_IN(prefetch_stand, stand, a_shard_goes_and_comes_back_and_the_others_go_on)
{
    static const double all[STAND_SHARDS] = {60, 20, 20, 0}, rest[STAND_SHARDS] = {0, 20, 20, 0};
    unsigned got[STAND_SHARDS] = {0};
    set_mass(stand, all);
    for (size_t i = 0; i < 3; i++) {
        prefetch_stand_add(stand, i);
    }
    run(stand, ROUNDS, got);
    assert_true(chi_square(got, all) < 0.1);

    prefetch_stand_remove(stand, 0);
    got[0] = got[1] = got[2] = 0;
    run(stand, ROUNDS, got);
    assert_int_equal(got[0], 0);
    assert_true(got[1] + got[2] >= ROUNDS);
    assert_true(chi_square(got, rest) < 0.1);

    prefetch_stand_add(stand, 0);
    got[0] = got[1] = got[2] = 0;
    run(stand, ROUNDS, got);
    assert_true(chi_square(got, all) < 0.1);
}

TEST_IN(prefetch_stand, stand, a_shard_whose_limiter_says_not_yet_keeps_nobody_waiting)
{
    static const double mass[STAND_SHARDS] = {90, 10, 0, 0};
    unsigned got[STAND_SHARDS] = {0};
    set_mass(stand, mass);
    prefetch_stand_add(stand, 0);
    prefetch_stand_add(stand, 1);
    run(stand, 20, got);
    got[1] = 0;
    for (int round = 0; round < 200; round++) {
        prefetch_stand_pass(stand, 1);
        while (stand->shards[0].count > 0) {
            sample_shard_refuse(&stand->shards[0], 0, AQ_RPC_UNAVAILABLE);
        }
        while (stand->shards[1].count > 0) {
            (void)prefetch_stand_fill(stand, 1);
            prefetch_stand_give_back(stand);
            got[1]++;
        }
    }
    assert_true(got[1] >= 200);
    assert_int_equal(stand->troubles, 0);
}

TEST_IN(prefetch_stand, stand, a_shard_that_stopped_answering_keeps_nobody_waiting)
{
    static const double mass[STAND_SHARDS] = {90, 10, 0, 0};
    unsigned got[STAND_SHARDS] = {0};
    unsigned others = 0;
    set_mass(stand, mass);
    prefetch_stand_add(stand, 0);
    prefetch_stand_add(stand, 1);
    run(stand, 20, got);
    for (int round = 0; round < 100; round++) { /* the first has been stopped */
        prefetch_stand_pass(stand, 5);
        while (stand->shards[1].count > 0) {
            (void)prefetch_stand_fill(stand, 1);
            prefetch_stand_give_back(stand);
            others++;
        }
    }
    assert_true(others >= 90); /* but for the moment until it counted as stalled */
    assert_true(stand->shards[0].count < STAND_IN_FLIGHT);
}

/* ---- weights ------------------------------------------------------------------------------- */

static void set_probabilities(prefetch_stand *stand, const float p[STAND_ROWS])
{
    for (int i = 0; i < STAND_ROWS; i++) {
        stand->good->weight[i] = p[i];
    }
}

static void assert_weights(const aq_batch *group, const double expected[STAND_ROWS])
{
    for (int i = 0; i < STAND_ROWS; i++) {
        if (fabs(group->weight[i] - expected[i]) > 1e-6) {
            fail_msg("weight %d is %g, not %g", i, (double)group->weight[i], expected[i]);
        }
    }
}

TEST_IN(prefetch_stand, stand, each_batch_is_weighed_by_its_own_rows)
{
    static const float p[STAND_ROWS] = {0.01f, 0.04f, 0.16f, 0.01f, 0.09f, 0.09f, 0.36f, 0.09f};
    static const double weights[STAND_ROWS] = {1, 0.5, 0.25, 1, 1, 1, 0.5, 1};
    prefetch_stand_add(stand, 0);
    set_probabilities(stand, p);
    prefetch_stand_pass(stand, 1);
    assert_weights(prefetch_stand_fill(stand, 0), weights);
}

/* Two shards: 100 of mass and 25; w = (N P)^-0.5 over the greatest in sight. */
TEST_IN(prefetch_stand, stand, rows_of_two_shards_weigh_as_if_from_one_table)
{
    static const float p[STAND_ROWS] = {0.01f, 0.04f, 0.01f, 0.01f, 0.01f, 0.01f, 0.01f, 0.04f};
    static const double alone[STAND_ROWS] = {1, 0.5, 1, 1, 1, 1, 1, 0.5};
    static const double beside[STAND_ROWS] = {0.5, 0.25, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25};
    prefetch_stand_add(stand, 0);
    prefetch_stand_add(stand, 1);
    stand->shards[1].mass = 25;
    set_probabilities(stand, p);
    prefetch_stand_pass(stand, 1);
    assert_weights(prefetch_stand_fill(stand, 0), alone);
    assert_weights(prefetch_stand_fill(stand, 1), alone);  /* the least there is */
    assert_weights(prefetch_stand_fill(stand, 0), beside); /* each of its rows is of mass 1 or 4 */
    prefetch_stand_pass(stand, 1);
    sample_shard_refuse(&stand->shards[1], 0, AQ_RPC_INTERNAL); /* it is out of sight */
    assert_weights(prefetch_stand_fill(stand, 0), alone);
}

TEST_IN(prefetch_stand, stand, even_draws_count_exactly_one)
{
    static const aq_table_spec uniform = {.name = "main", .selector = AQ_SELECTOR_UNIFORM};
    static const aq_table_spec flat = {
        .name = "main", .selector = AQ_SELECTOR_PRIORITIZED, .priority_exponent = 0};
    static const aq_table_spec prioritized = {
        .name = "main", .selector = AQ_SELECTOR_PRIORITIZED, .priority_exponent = 1};
    static const struct {
        const aq_table_spec *table;
        double exponent;
    } cases[] = {{&uniform, 0.4}, {&flat, 0.4}, {&prioritized, 0}};
    for (int i = 0; i < STAND_ROWS; i++) {
        stand->good->weight[i] = 1.0f / (float)(3 + i); /* whatever a shard says */
    }
    EACH_ROW(k, cases) {
        prefetch_stand_create(stand, cases[k].table, cases[k].exponent);
        prefetch_stand_add(stand, 0);
        prefetch_stand_pass(stand, 1);
        const aq_batch *group = prefetch_stand_fill(stand, 0);
        for (int i = 0; i < STAND_ROWS; i++) {
            assert_true(group->weight[i] == 1.0f);
        }
        stand->ready_count = 0;
        prefetch_stand_remove(stand, 0);
        sample_shard_close(&stand->shards[0]);
        sample_shard_init(&stand->shards[0]);
        stand->shards[0].incarnation = 1;
    }
}

/* ---- what was waited for ------------------------------------------------------------------- */

static int64_t waited_ms(const prefetch_stand *stand, enum aq_sample_wait reason)
{
    return aq_prefetch_counts_of(stand->prefetch).waited_ns[reason] / AQ_NS_PER_MS;
}

TEST_IN(prefetch_stand, stand, waits_are_told_by_their_reasons)
{
    prefetch_stand_pass(stand, 0);
    prefetch_stand_pass(stand, 30);
    assert_int_equal(waited_ms(stand, AQ_WAIT_NO_SHARD), 30);

    prefetch_stand_add(stand, 0);
    prefetch_stand_pass(stand, 0);
    prefetch_stand_pass(stand, 20);
    assert_int_equal(waited_ms(stand, AQ_WAIT_ANSWER), 0); /* it is to say whose doing that is */
    (void)prefetch_stand_fill(stand, 0);
    assert_int_equal(waited_ms(stand, AQ_WAIT_ANSWER), 20);
    prefetch_stand_pass(stand, 50); /* there is a group to train on */
    assert_int_equal(waited_ms(stand, AQ_WAIT_ANSWER), 20);
    prefetch_stand_give_back(stand);
    prefetch_stand_pass(stand, 7);
    while (stand->shards[0].count > 0) { /* so it was the limiter since the answer */
        sample_shard_refuse(&stand->shards[0], 0, AQ_RPC_UNAVAILABLE);
    }
    assert_int_equal(waited_ms(stand, AQ_WAIT_LIMITER), 7);
    prefetch_stand_pass(stand, 10);
    assert_int_equal(waited_ms(stand, AQ_WAIT_ANSWER), 20); /* it never falls */
    assert_int_equal(waited_ms(stand, AQ_WAIT_LIMITER), 17);

    while (stand->shards[0].count > 0) {
        sample_shard_refuse(&stand->shards[0], 0, AQ_RPC_INTERNAL);
    }
    prefetch_stand_pass(stand, 10);
    assert_int_equal(waited_ms(stand, AQ_WAIT_TROUBLE), 10);
    prefetch_stand_pass(stand, 5000); /* the loop was elsewhere */
    assert_int_equal(waited_ms(stand, AQ_WAIT_TROUBLE), 10);
}

/* Asks anew, waits, and gets an answer to a request that the limiter held for so long. */
static void wait_for_held(prefetch_stand *stand, int64_t wait_ms, uint32_t held_ms)
{
    stand->shards[0].held_us = held_ms * 1000;
    prefetch_stand_pass(stand, wait_ms);
    (void)prefetch_stand_fill(stand, 0);
    prefetch_stand_give_back(stand);
    prefetch_stand_pass(stand, 0);
}

TEST_IN(prefetch_stand, stand, what_the_limiter_held_is_its_doing)
{
    prefetch_stand_add(stand, 0);
    prefetch_stand_pass(stand, 0);
    wait_for_held(stand, 30, 25);
    assert_int_equal(waited_ms(stand, AQ_WAIT_LIMITER), 25);
    assert_int_equal(waited_ms(stand, AQ_WAIT_ANSWER), 5);
    wait_for_held(stand, 10, 40); /* another answer came meanwhile: no more than was waited */
    assert_int_equal(waited_ms(stand, AQ_WAIT_LIMITER), 35);
    wait_for_held(stand, 10, 0); /* as a shard says it that does not know better */
    assert_int_equal(waited_ms(stand, AQ_WAIT_LIMITER), 35);
    assert_int_equal(waited_ms(stand, AQ_WAIT_ANSWER), 15);
    prefetch_stand_pass(stand, 6);
    sample_shard_refuse(&stand->shards[0], 0, AQ_RPC_INTERNAL);
    assert_int_equal(waited_ms(stand, AQ_WAIT_ANSWER), 21);
}

/* Groups come and go between two ticks. */
TEST_IN(prefetch_stand, stand, what_was_waited_for_ends_with_the_answer_and_begins_when_it_is_back)
{
    prefetch_stand_add(stand, 0);
    prefetch_stand_pass(stand, 1);
    stand->now_ns += 3 * AQ_NS_PER_MS;
    (void)prefetch_stand_fill(stand, 0);
    assert_int_equal(waited_ms(stand, AQ_WAIT_ANSWER), 3);
    assert_int_equal(aq_prefetch_counts_of(stand->prefetch).answers_ns, 3 * AQ_NS_PER_MS);
    stand->now_ns += 4 * AQ_NS_PER_MS; /* of training */
    prefetch_stand_give_back(stand);
    prefetch_stand_pass(stand, 2);
    (void)prefetch_stand_fill(stand, 0);
    assert_int_equal(waited_ms(stand, AQ_WAIT_ANSWER), 5);
}

TEST_IN(prefetch_stand, stand, answers_and_their_times_are_counted)
{
    prefetch_stand_add(stand, 0);
    prefetch_stand_pass(stand, 1);
    prefetch_stand_pass(stand, 8);
    (void)prefetch_stand_fill(stand, 0);
    (void)prefetch_stand_fill(stand, 0);
    sample_shard_refuse(&stand->shards[0], 0, AQ_RPC_UNAVAILABLE);
    sample_shard_refuse(&stand->shards[0], 0, AQ_RPC_INTERNAL);
    aq_prefetch_counts counts = aq_prefetch_counts_of(stand->prefetch);
    assert_int_equal(counts.answers, 2);
    assert_int_equal(counts.answers_ns, 2 * 8 * AQ_NS_PER_MS);
    assert_int_equal(counts.not_yet, 1);
    assert_int_equal(counts.failures, 1);
}

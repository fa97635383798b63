/*
 * The desk: the same study for any number of workers, and nothing lost or doubled when some go.
 */
#include "tests/unit/cli/sweep/sweep_kit.h"

#include <fcntl.h>

#define SPACE                                                                                      \
    "space:\n"                                                                                     \
    "  learner.learning_rate: {log: [1e-5, 1e-1]}\n"                                               \
    "  learner.batch_size: {pow2: [16, 256]}\n"

static const char study[] = "task: gym:CartPole-v1\n"
                            "trials: 40\n"
                            "seeds: {tune: 2, report: 3}\n"
                            "rungs: [1000, 3000, 9000]\n" SPACE;

/* Every event of one is an event of the others, with the same round, run, attempt, settings and
 * outcome: sweep_events() says what is left out. */
TEST_IN_FOLDER(journals_are_the_same_for_any_number_of_workers)
{
    static const char *const methods[] = {"tpe", "random", "sobol", "grid", "pbt"};
    EACH_ROW(i, methods) {
        static const size_t counts[] = {1, 2, 8};
        char yaml[512];
        json_t *first = NULL, *says = NULL;
        (void)snprintf(yaml, sizeof(yaml), "%smethod: %s\n", study, methods[i]);
        for (size_t j = 0; j < 3; j++) {
            char name[32];
            (void)snprintf(name, sizeof(name), "%s-%zu", methods[i], counts[j]);
            const char *dir = cli_path(state, name);
            sweep_found(dir, yaml);
            sweep_all(dir, counts[j], test_seed());
            json_t *events = sweep_events(dir);
            first = first != NULL ? first : events;
            assert_true(json_array_size(events) > 50);
            assert_true(json_equal(first, events));
            says = sweep_says(dir);
        }
        assert_true(json_is_true(json_object_get(says, "ended")));
        assert_int_equal(json_integer_value(json_object_get(says, "done")),
                         strcmp(methods[i], "grid") == 0 ? 9 : 40);
    }
}

TEST_IN_FOLDER(the_best_go_on_and_the_winner_is_reported)
{
    const char *dir = cli_path(state, "study");
    sweep_found(dir, study);
    sweep_all(dir, 2, 1);
    json_t *says = sweep_says(dir), *trials = json_object_get(says, "trials");
    const double best =
        json_number_value(json_object_get(json_object_get(says, "winner"), "score"));
    size_t at_rung[3] = {0};
    for (size_t i = 0; i < json_array_size(trials); i++) {
        const json_t *trial = json_array_get(trials, i);
        const json_int_t rung = json_integer_value(json_object_get(trial, "rung"));
        at_rung[rung]++;
        assert_true(rung < 2 || json_number_value(json_object_get(trial, "score")) <= best);
    }
    assert_true(at_rung[2] >= 3); /* one of three, twice; more, as trials get better */
    assert_true(at_rung[2] <= 13);
    assert_true(at_rung[1] + at_rung[2] >= 10);
    assert_true(best > 90);
    const json_t *reported = json_object_get(says, "reported"),
                 *given = json_object_get(says, "given");
    assert_int_equal(json_integer_value(json_object_get(reported, "seeds")), 3);
    assert_int_equal(json_integer_value(json_object_get(given, "seeds")), 3);
}

TEST_IN_FOLDER(of_those_that_are_as_good_the_cheapest_wins)
{
    static const double bytes[] = {7, 3, 5};
    const char *dir = cli_path(state, "study");
    sweep_hand hand;
    sweep_found(dir, "task: gym:CartPole-v1\ntrials: 3\nmethod: random\nseeds: 1\n"
                     "objective: {score: return, cost: bytes}\n" SPACE);
    sweep_hire(&hand, dir, "hand");
    EACH_ROW(i, bytes) {
        const aq_sweep_now now = {(double)i, (int64_t)i};
        aq_sweep_errand errand;
        aq_sweep_outcome outcome = {.figures = {[AQ_SWEEP_RETURN] = 500}};
        outcome.figures[AQ_SWEEP_BYTES] = bytes[i];
        assert_succeeds(
            aq_sweep_desk_claim(hand.desk, now, &errand, &hand.run, &hand.attempt, &refusal));
        assert_succeeds(
            aq_sweep_desk_report(hand.desk, now, hand.run, hand.attempt, &outcome, &refusal));
    }
    sweep_dismiss(&hand);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(sweep_says(dir), "winner"), "trial")),
        1);
}

static double best_of(void **state, const char *method, int seed)
{
    char yaml[512], name[32];
    (void)snprintf(yaml, sizeof(yaml),
                   "task: gym:CartPole-v1\ntrials: 60\nmethod: %s\nseed: %d\n" SPACE, method, seed);
    (void)snprintf(name, sizeof(name), "%s-%d", method, seed);
    const char *dir = cli_path(state, name);
    sweep_found(dir, yaml);
    sweep_all(dir, 1, 1);
    return json_number_value(json_object_get(json_object_get(sweep_says(dir), "winner"), "score"));
}

TEST_IN_FOLDER(tpe_comes_nearer_than_chance)
{
    double tpe = 0, chance = 0;
    for (int seed = 1; seed <= 6; seed++) {
        tpe += best_of(state, "tpe", seed) / 6;
        chance += best_of(state, "random", seed) / 6;
    }
    assert_true(tpe > chance);
    assert_true(tpe > 95.6); /* 96.2 is the best there is */
}

TEST_IN_FOLDER(what_a_lost_worker_had_is_taken_again_and_its_word_is_too_late)
{
    const char *dir = cli_path(state, "study");
    sweep_hand lost, other;
    sweep_found(dir, study);
    sweep_hire(&lost, dir, "lost");
    sweep_hire(&other, dir, "other");
    assert_true(sweep_step(&lost, 0));
    const size_t run = lost.run;
    assert_true(sweep_step(&other, 0));
    assert_int_not_equal(other.run, run);
    assert_true(sweep_step(&other, 1));
    aq_sweep_presence_destroy(lost.presence);
    lost.presence = NULL;
    assert_true(sweep_step(&other, 2));
    assert_int_equal(other.run, run);
    assert_int_equal(other.attempt, 2);
    const aq_sweep_outcome outcome = {0};
    assert_int_equal(aq_sweep_desk_check_lease(lost.desk, run, 1, &refusal), AQ_E_CLOSED);
    assert_succeeds(aq_sweep_desk_check_lease(other.desk, run, 2, &refusal));
    assert_refused(aq_sweep_desk_report(lost.desk, (aq_sweep_now){0}, run, 1, &outcome, &refusal),
                   AQ_E_CLOSED, "the lease of run 0 had ended");
    assert_true(sweep_step(&other, 3));
    sweep_dismiss(&lost);
    sweep_dismiss(&other);
}

TEST_IN_FOLDER(a_silent_worker_is_lost_after_its_lease)
{
    const char *dir = cli_path(state, "study");
    sweep_hand silent, other;
    sweep_found(dir, "task: gym:CartPole-v1\ntrials: 1\nlease_s: 60\n" SPACE);
    sweep_hire(&silent, dir, "silent");
    sweep_hire(&other, dir, "other");
    assert_true(sweep_step(&silent, 0));
    assert_false(sweep_step(&other, 0));
    assert_false(sweep_step(&other, 59 * AQ_NS_PER_S));
    aq_sweep_presence_beat(silent.presence);
    assert_false(sweep_step(&other, 60 * AQ_NS_PER_S));
    assert_false(sweep_step(&other, 119 * AQ_NS_PER_S));
    assert_true(sweep_step(&other, 120 * AQ_NS_PER_S));
    sweep_dismiss(&silent);
    sweep_dismiss(&other);
}

typedef struct held_journal {
    aq_sweep_journal *journal;
    int waits, waits_max; /* then it is given up, or free when that is 0 */
} held_journal;

static bool wait_for_it(void *user)
{
    held_journal *held = user;
    held->waits++;
    if (held->waits == 3 && held->waits_max == 0) {
        aq_sweep_journal_unlock(held->journal);
    }
    return held->waits_max == 0 || held->waits < held->waits_max;
}

/* By a process that stands still, for one. */
TEST_IN_FOLDER(a_journal_that_is_locked_is_waited_for_until_that_is_given_up)
{
    const char *dir = cli_path(state, "study");
    held_journal held = {.waits_max = 2};
    sweep_hand hand;
    sweep_found(dir, study);
    sweep_hire(&hand, dir, "one");
    aq_sweep_desk_wait_by(hand.desk, wait_for_it, &held);
    assert_succeeds(aq_sweep_journal_open(dir, O_RDWR, &held.journal, &refusal));
    assert_succeeds(aq_sweep_journal_lock(held.journal, NULL, NULL, &refusal));
    aq_sweep_errand errand;
    assert_refused(aq_sweep_desk_claim(hand.desk, (aq_sweep_now){0}, &errand, &hand.run,
                                       &hand.attempt, &refusal),
                   AQ_E_TIMEOUT, "journal.jsonl: another process has its lock");
    assert_int_equal(held.waits, 2);
    held = (held_journal){.journal = held.journal};
    assert_true(sweep_step(&hand, 0));
    assert_int_equal(held.waits, 3);
    aq_sweep_journal_close(held.journal);
    sweep_dismiss(&hand);
}

/* Its file is open for nothing else. */
TEST_IN_FOLDER(who_only_looks_cannot_write)
{
    const char *dir = cli_path(state, "study");
    sweep_hand hand = {0};
    aq_sweep_errand errand;
    sweep_found(dir, study);
    assert_succeeds(aq_sweep_desk_open(dir, "", &hand.desk, &refusal));
    assert_refused(aq_sweep_desk_claim(hand.desk, (aq_sweep_now){0}, &errand, &hand.run,
                                       &hand.attempt, &refusal),
                   AQ_E_IO, "journal.jsonl: can't lock it");
    aq_sweep_desk_close(hand.desk);
}

TEST_IN_FOLDER(what_is_given_back_is_the_next_ones)
{
    const char *dir = cli_path(state, "study");
    sweep_hand one, other;
    sweep_found(dir, study);
    sweep_hire(&one, dir, "one");
    sweep_hire(&other, dir, "other");
    assert_true(sweep_step(&one, 0));
    assert_succeeds(
        aq_sweep_desk_release(one.desk, (aq_sweep_now){0}, one.run, one.attempt, true, &refusal));
    assert_true(sweep_step(&other, 0));
    assert_int_equal(other.run, one.run);
    sweep_dismiss(&one);
    sweep_dismiss(&other);
}

/* Nodes that are taken away again and again ask their workers to stop. */
TEST_IN_FOLDER(a_run_whose_training_is_always_killed_has_failed_at_last)
{
    const char *dir = cli_path(state, "study");
    sweep_hand one;
    sweep_found(dir, study);
    sweep_hire(&one, dir, "one");
    for (uint32_t i = 1; i <= 2 * AQ_SWEEP_LOSSES_MAX; i++) {
        assert_true(sweep_step(&one, 0));
        one.is_busy = false;
        assert_int_equal(one.run, 0);
        assert_succeeds(aq_sweep_desk_release(one.desk, (aq_sweep_now){0}, 0, i,
                                              i <= AQ_SWEEP_LOSSES_MAX, &refusal));
    }
    assert_true(sweep_step(&one, 0));
    assert_int_equal(one.run, 1);
    assert_int_equal(aq_sweep_desk_study(one.desk)->runs[0].state, AQ_SWEEP_FAILED);
    sweep_dismiss(&one);
}

/* Workers go at random moments, and others come: each run has one outcome, and the study is the
 * one that it would have been. */
TEST_IN_FOLDER(kills_lose_nothing_and_double_nothing)
{
    sweep_hand hands[4];
    aq_rng rng = rng_of(test_seed(), 1);
    const char *calm = cli_path(state, "calm"), *dir = cli_path(state, "storm");
    sweep_found(calm, study);
    sweep_all(calm, 1, 1);
    sweep_found(dir, study);
    unsigned kills = 0;
    for (size_t i = 0; i < 4; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "first-%zu", i);
        sweep_hire(&hands[i], dir, name);
    }
    for (int64_t now = 0; !hands[0].is_over; now++) {
        const size_t i = (size_t)aq_rng_below(&rng, 4);
        if (aq_rng_below(&rng, 5) == 0) {
            char name[16];
            (void)snprintf(name, sizeof(name), "next-%u", ++kills);
            sweep_dismiss(&hands[i]);
            sweep_hire(&hands[i], dir, name);
        }
        (void)sweep_step(&hands[i], now);
    }
    assert_true(kills >= 20);
    assert_true(json_equal(sweep_says(dir), sweep_says(calm)));
    for (size_t i = 0; i < 4; i++) {
        sweep_dismiss(&hands[i]);
    }
}

/*
 * Populations: the worst go on from the best, within ranges, and one that failed comes back.
 */
#include "cli/sweep/study/sweep_population.h"

#include "tests/unit/cli/sweep/sweep_kit.h"

static const char population[] = "task: gym:CartPole-v1\n"
                                 "method: pbt\n"
                                 "trials: 8\n"
                                 "seeds: {tune: 1, report: 2}\n"
                                 "rungs: {every: 1000, times: 6}\n"
                                 "space:\n"
                                 "  learner.learning_rate: {log: [1e-5, 1e-1]}\n"
                                 "  learner.batch_size: {pow2: [16, 256]}\n";

TEST(what_is_mutated_stays_within_its_range)
{
    aq_sweep_spec spec;
    aq_sweep_point point, next;
    aq_rng rng = rng_of(test_seed(), 0);
    sweep_spec("task: x\ntrials: 2\nmethod: pbt\nrungs: {every: 10, times: 2}\n"
               "population: {mutate: 1, factor: 10}\n"
               "space:\n"
               "  learner.learning_rate: {log: [1e-5, 1e-1]}\n"
               "  learner.batch_size: {pow2: [16, 256]}\n"
               "  learner.discount: {logit: [0.9, 0.999]}\n"
               "  learner.n_step: {linear: [1, 5]}\n"
               "  learner.activation: [relu, tanh]\n",
               &spec);
    const double middle[] = {0.5, 0.5, 0.5, 0.5, 0.5};
    size_t inner = 0;
    aq_sweep_point_at(&spec.space, middle, &point);
    for (int i = 0; i < 500; i++) {
        aq_sweep_mutate(&spec.space, &spec.population, &point, &rng, &next);
        for (size_t j = 0; j < 4; j++) {
            const aq_sweep_dim *dim = &spec.space.dims[j];
            char *end;
            const double value = strtod(next.values[j], &end);
            assert_true(value >= dim->low && value <= dim->high);
        }
        assert_true(aq_sweep_dim_choice(&spec.space.dims[4], next.values[4]) < 2);
        const double batch = strtod(next.values[1], NULL) / strtod(point.values[1], NULL);
        assert_true(batch == 2 || batch == 0.5 || batch == 1); /* by one power; 1 at an end */
        const double discount = strtod(next.values[2], NULL);
        inner += discount > 0.901 && discount < 0.998;
        point = next;
    }
    assert_true(inner > 50); /* by its distance from 1, not from 0 */
}

TEST(a_small_whole_number_rises_again)
{
    aq_sweep_spec spec;
    aq_sweep_point next;
    const aq_sweep_point point = {.values = {"1", "1"}};
    aq_rng rng = rng_of(test_seed(), 0);
    size_t risen[2] = {0};
    sweep_spec("task: x\ntrials: 2\nmethod: pbt\nrungs: {every: 10, times: 2}\n"
               "population: {mutate: 1, factor: 1.5}\n"
               "space:\n"
               "  learner.n_step: {linear: [1, 5]}\n"
               "  actor.envs: {log: [1, 100]}\n",
               &spec);
    for (int i = 0; i < 400; i++) {
        aq_sweep_mutate(&spec.space, &spec.population, &point, &rng, &next);
        for (size_t j = 0; j < 2; j++) {
            const bool is_up = strcmp(next.values[j], "2") == 0;
            assert_true(is_up || strcmp(next.values[j], "1") == 0);
            risen[j] += is_up;
        }
    }
    assert_true(risen[0] > 100 && risen[1] > 100);
}

TEST(what_counts_now_and_did_not_is_drawn)
{
    aq_sweep_spec spec;
    aq_sweep_point next;
    const aq_sweep_point point = {.values = {"dqn", ""}};
    aq_rng rng = rng_of(test_seed(), 0);
    size_t counted = 0;
    sweep_spec("task: x\ntrials: 2\nmethod: pbt\nrungs: {every: 10, times: 2}\n"
               "space:\n"
               "  learner.algorithm: [dqn, c51]\n"
               "  learner.value_max: {linear: [50, 200], when: {learner.algorithm: c51}}\n",
               &spec);
    for (int i = 0; i < 400; i++) {
        aq_sweep_mutate(&spec.space, &spec.population, &point, &rng, &next);
        const bool counts = strcmp(next.values[0], "c51") == 0;
        assert_int_equal(next.values[1][0] != '\0', counts);
        counted += counts;
    }
    assert_true(counted > 50);
}

/* Settings that have nothing in common with those of any member before. */
TEST_IN_FOLDER(the_worst_go_on_from_the_best)
{
    const char *dir = cli_path(state, "population");
    aq_sweep_desk *desk;
    sweep_found(dir, population);
    sweep_all(dir, 3, test_seed());
    assert_succeeds(aq_sweep_desk_open(dir, "", &desk, &refusal));
    const aq_sweep_study *study = aq_sweep_desk_study(desk);
    assert_int_equal(study->stage_count, 8 * 6 + 6 + 1); /* the winner's way, and what is given */
    size_t moved = 0, failed = 0, winners = 0;
    for (uint32_t i = 8; i < 8 * 6; i++) {
        const aq_sweep_stage *stage = &study->stages[i];
        const aq_sweep_stage *from = &study->stages[stage->from];
        const uint32_t own = i - 8;
        assert_int_equal(from->rung + 1, stage->rung);
        if (from->trial != stage->trial) {
            moved++;
            const double its = aq_sweep_stage_figure(study, own, AQ_SWEEP_RETURN);
            assert_false(aq_sweep_stage_figure(study, stage->from, AQ_SWEEP_RETURN) <= its);
        } else {
            assert_memory_equal(&from->point, &stage->point, sizeof(from->point));
            assert_true(isfinite(aq_sweep_stage_figure(study, own, AQ_SWEEP_RETURN)));
        }
        failed += isnan(aq_sweep_stage_figure(study, own, AQ_SWEEP_RETURN));
    }
    assert_true(moved > 0);
    assert_true(failed > 0); /* a batch of 256, which came back from another member */
    for (uint32_t i = 8 * 6; i < study->stage_count; i++) {
        winners += study->stages[i].kind == AQ_SWEEP_WINNER;
    }
    assert_int_equal(winners, 6);
    aq_sweep_desk_close(desk);
}

/* A new study's first round, and one more run. Members' scores are their numbers; `solved` has
 * solved it. */
static void train_round(sweep_hand *hand, const char *dir, const char *yaml, uint32_t solved)
{
    sweep_found(dir, yaml);
    sweep_hire(hand, dir, "hand");
    const aq_sweep_study *study = aq_sweep_desk_study(hand->desk);
    for (int64_t i = 0; study->rounds < 2; i++) {
        const aq_sweep_now now = {(double)i, i};
        aq_sweep_errand errand;
        aq_sweep_outcome outcome = {.figures = {0}};
        assert_succeeds(
            aq_sweep_desk_claim(hand->desk, now, &errand, &hand->run, &hand->attempt, &refusal));
        const uint32_t trial = study->stages[study->runs[hand->run].stage].trial;
        outcome.is_solved = trial == solved;
        outcome.figures[study->spec->score] = outcome.is_solved ? 500 : trial;
        assert_succeeds(
            aq_sweep_desk_report(hand->desk, now, hand->run, hand->attempt, &outcome, &refusal));
    }
}

TEST_IN_FOLDER(of_two_members_the_worse_goes_on_from_the_better)
{
    sweep_hand hand;
    train_round(&hand, cli_path(state, "population"),
                "task: gym:CartPole-v1\n"
                "method: pbt\n"
                "trials: 2\n"
                "rungs: {every: 1000, times: 2}\n"
                "space:\n"
                "  learner.learning_rate: {log: [1e-5, 1e-1]}\n",
                AQ_SWEEP_NONE);
    const aq_sweep_study *study = aq_sweep_desk_study(hand.desk);
    assert_int_equal(study->stages[2].from, 1);
    assert_int_equal(study->stages[3].from, 1);
    sweep_dismiss(&hand);
}

/* Nothing more is trained there: other settings would be told with a score that is not theirs. */
TEST_IN_FOLDER(who_goes_on_from_a_solved_run_has_its_settings)
{
    sweep_hand hand;
    size_t moved = 0;
    train_round(&hand, cli_path(state, "population"), population, 3);
    const aq_sweep_study *study = aq_sweep_desk_study(hand.desk);
    for (uint32_t i = 8; i < 16; i++) {
        const aq_sweep_stage *stage = &study->stages[i];
        const aq_sweep_stage *from = &study->stages[stage->from];
        moved += from->trial == 3 && stage->trial != 3;
        if (from->trial == 3) {
            assert_memory_equal(&stage->point, &from->point, sizeof(from->point));
        }
    }
    assert_true(moved > 0);
    sweep_dismiss(&hand);
}

/*
 * Rounds: who goes on, who goes before whom, and who wins, of studies made by hand; and events
 * that do not fit leave a study as it was.
 */
#include "cli/sweep/study/sweep_round.h"

#include "cli/sweep/report/sweep_page.h"
#include "cli/sweep/report/sweep_summary.h"
#include "cli/sweep/study/sweep_order.h"
#include "tests/unit/cli/sweep/sweep_kit.h"

#define SPACE "space:\n  learner.learning_rate: {log: [1e-5, 1e-1]}\n"

static aq_sweep_spec spec;
static aq_sweep_study study;

static int apply(aq_sweep_event event)
{
    return aq_sweep_study_apply(&study, &event, &refusal);
}

TEST_ENDING(end_study, aq_sweep_study_fini);

static void begin(const char *yaml, bool is_resumed)
{
    sweep_spec(yaml, &spec);
    aq_sweep_study_fini(&study); /* that of a row before */
    aq_sweep_study_init(&study, &spec, 7);
    at_end(end_study, &study);
    assert_succeeds(apply((aq_sweep_event){.kind = AQ_SWEEP_EVENT_STUDY,
                                           .spec_sum = 7,
                                           .plan = {.steps = 1000, .is_resumed = is_resumed}}));
}

static void suggest(aq_sweep_stage *stages, size_t count)
{
    assert_succeeds(apply((aq_sweep_event){.kind = AQ_SWEEP_EVENT_SUGGEST,
                                           .round = study.rounds,
                                           .stages = stages,
                                           .stage_count = count}));
}

/* A NaN has failed. */
static void end_run(size_t run, double score, double cost)
{
    aq_sweep_event event = {.kind = AQ_SWEEP_EVENT_CLAIM, .run = run, .attempt = 1};
    assert_succeeds(apply(event));
    event.kind = AQ_SWEEP_EVENT_REPORT;
    event.outcome = (aq_sweep_outcome){.is_failed = isnan(score)};
    event.outcome.figures[AQ_SWEEP_RETURN] = score;
    event.outcome.figures[AQ_SWEEP_BYTES] = cost;
    assert_succeeds(apply(event));
}

/* As it is decided on, with these scores; the number of stages, which stand at `ret_first`. */
static size_t next_round(const double *scores, size_t *ret_first)
{
    aq_sweep_stage *stages;
    size_t count;
    assert_succeeds(aq_sweep_next_round(&study, &stages, &count));
    *ret_first = study.stage_count;
    suggest(stages, count);
    aq_free(stages);
    for (size_t i = 0; i < count; i++) {
        end_run(*ret_first + i, scores[i], 1);
    }
    return count;
}

TEST(of_those_that_are_alike_neither_stands_before_the_other)
{
    static const struct {
        double score, cost;
    } rows[] = {{10, 3}, {10, 3}, {5, 1}, {4, 2}, {NAN, 0}, {10, 4}};
    aq_sweep_stage stages[6] = {{0}};
    uint32_t order[6];
    begin("task: x\ntrials: 6\nseeds: {tune: 1, report: 1}\n"
          "objective: {score: return, cost: bytes}\n" SPACE,
          true);
    EACH_ROW(i, rows) {
        stages[i] = (aq_sweep_stage){.trial = (uint32_t)i, .from = AQ_SWEEP_NONE};
        order[i] = (uint32_t)i;
    }
    suggest(stages, 6);
    EACH_ROW(i, rows) {
        end_run(i, rows[i].score, rows[i].cost);
    }
    assert_succeeds(aq_sweep_sort(&study, order, 6));
    static const uint32_t expected[] = {0, 1, 2, 5, 3, 4}; /* three in front, two behind them */
    assert_memory_equal(order, expected, sizeof(expected));
}

TEST(the_highest_rung_wins_and_none_that_has_failed)
{
    static const double first_scores[] = {NAN, 20}, scores[] = {30, 10}, higher[] = {10, 90};
    size_t first;
    begin("task: x\nmethod: random\ntrials: 5\nround: 2\nrungs: {env_steps: [10, 30], keep: 4}\n"
          "seeds: {tune: 1, report: 1}\n" SPACE,
          true);
    assert_int_equal(next_round(first_scores, &first), 2);
    assert_int_equal(aq_sweep_winner(&study), 1);
    assert_int_equal(next_round(scores, &first), 2); /* of two none goes on yet */
    assert_int_equal(study.stages[first].rung, 0);
    assert_int_equal(aq_sweep_winner(&study), 2);
    assert_int_equal(next_round(higher, &first), 2); /* of four one; and the last is new */
    assert_int_equal(study.stages[first].rung, 1);
    assert_int_equal(study.stages[first].trial, 2);
    assert_int_equal(study.stages[first].from, 2);
    assert_int_equal(study.stages[first + 1].rung, 0);
    assert_int_equal(aq_sweep_winner(&study), first);
}

TEST(where_the_best_fails_higher_up_the_next_one_goes_on)
{
    static const double scores[] = {10, 20, 200, 150, 310}, failed = NAN, higher = 5;
    static const uint32_t best_first[] = {6, 3, 1, 0, 5};
    uint32_t *known;
    size_t first, count;
    begin(
        "task: x\nmethod: random\ntrials: 5\nrungs: [10, 30]\nseeds: {tune: 1, report: 1}\n" SPACE,
        true);
    assert_int_equal(next_round(scores, &first), 5);
    assert_int_equal(next_round(&failed, &first), 1); /* of five one */
    assert_int_equal(study.stages[first].trial, 4);
    assert_int_equal(aq_sweep_winner(&study), 2);
    assert_int_equal(next_round(&higher, &first), 1);
    assert_int_equal(study.stages[first].trial, 2);
    assert_int_equal(aq_sweep_winner(&study), first);
    assert_succeeds(aq_sweep_known(&study, &known, &count));
    assert_int_equal(count, 5);
    assert_memory_equal(known, best_first, sizeof(best_first));
    aq_free(known);
}

/* The first member goes on from the second, and then wins. */
TEST(a_winner_is_trained_anew_by_the_settings_that_it_had_then)
{
    static const double scores[2][2] = {{1, 2}, {9, 3}}, reported[] = {5, 5};
    size_t first;
    begin("task: x\nmethod: pbt\ntrials: 2\nrungs: [10, 30]\nseeds: {tune: 1, report: 1}\n"
          "population: {replace: 0.5, mutate: 1}\n" SPACE,
          true);
    assert_int_equal(next_round(scores[0], &first), 2);
    assert_int_equal(next_round(scores[1], &first), 2);
    assert_int_equal(study.stages[2].from, 1);
    assert_int_equal(study.stages[3].from, 1);
    for (uint32_t rung = 0; rung < 2; rung++) {
        assert_int_equal(next_round(reported, &first), rung == 0 ? 2 : 1);
        assert_int_equal(study.stages[first].kind, AQ_SWEEP_WINNER);
        assert_int_equal(study.stages[first].rung, rung);
        assert_string_equal(study.stages[first].point.values[0],
                            study.stages[rung + 1].point.values[0]);
    }
    assert_string_not_equal(study.stages[1].point.values[0], study.stages[2].point.values[0]);
    assert_int_equal(next_round(reported, &first), 0);
}

/* As it lies in the folder of the run before, which there is nothing to go on from. */
TEST(a_run_of_the_report_that_failed_is_not_trained_at_the_next_rung)
{
    static const double scores[2][2] = {{1, 2}, {9, 3}}, reported[] = {NAN, 5};
    size_t first;
    begin("task: x\nmethod: pbt\ntrials: 2\nrungs: [10, 30]\nseeds: {tune: 1, report: 1}\n" SPACE,
          true);
    assert_int_equal(next_round(scores[0], &first), 2);
    assert_int_equal(next_round(scores[1], &first), 2);
    assert_int_equal(next_round(reported, &first), 2);
    const size_t failed = study.stages[first].first_run;
    assert_int_equal(next_round(reported, &first), 1);
    assert_int_equal(aq_sweep_run_trained(&study, study.stages[first].first_run), failed);
}

TEST(a_winner_of_a_population_that_died_out_is_reported)
{
    static const double scores[2][2] = {{1, 2}, {NAN, NAN}}, reported[] = {5, 6};
    size_t first;
    aq_sweep_summary summary;
    begin("task: x\nmethod: pbt\ntrials: 2\nrungs: [10, 30]\nseeds: {tune: 1, report: 1}\n" SPACE,
          true);
    assert_int_equal(next_round(scores[0], &first), 2);
    assert_int_equal(next_round(scores[1], &first), 2);
    assert_int_equal(next_round(reported, &first), 2);
    assert_int_equal(study.stages[first].rung, 0);
    assert_int_equal(next_round(reported, &first), 0);
    assert_succeeds(aq_sweep_summary_make(&study, "D", &summary));
    assert_near(summary.reported.figures[AQ_SWEEP_RETURN].mean, 5, 0);
    aq_sweep_summary_fini(&summary);
}

TEST(a_finding_says_how_many_of_its_seeds_it_is_over)
{
    static const double score = 4, reported[] = {5, NAN, 7, 1, 2, 3};
    aq_sweep_stage *stages;
    aq_sweep_summary summary;
    size_t count, first;
    char seeds[32];
    begin("task: x\nmethod: random\ntrials: 1\nseeds: {tune: 1, report: 3}\n" SPACE, true);
    assert_int_equal(next_round(&score, &first), 1);
    assert_succeeds(aq_sweep_next_round(&study, &stages, &count));
    assert_int_equal(count, 2);
    suggest(stages, count);
    aq_free(stages);
    EACH_ROW(i, reported) {
        end_run(1 + i, reported[i], 1);
    }
    assert_succeeds(aq_sweep_summary_make(&study, "D", &summary));
    assert_near(summary.reported.figures[AQ_SWEEP_RETURN].mean, 6, 0);
    assert_string_equal(aq_sweep_finding_seeds(&study, &summary.reported, seeds, sizeof(seeds)),
                        "2 of 3");
    assert_true(isnan(aq_sweep_stage_spread(&study, summary.reported.stage)));
    assert_string_equal(aq_sweep_finding_seeds(&study, &summary.given, seeds, sizeof(seeds)), "3");
    assert_true(aq_sweep_stage_spread(&study, summary.given.stage) > 0);
    aq_sweep_summary_fini(&summary);
}

/* In the end one of the best goes on; none of those that failed, which would fail again. */
TEST(what_failed_does_not_go_on)
{
    static const double failed[] = {NAN, NAN};
    static const char *const methods[] = {"random\nrungs: [10, 30]", "pbt\nrungs: [10, 30]"};
    size_t first;
    EACH_ROW(i, methods) {
        char yaml[256];
        (void)snprintf(yaml, sizeof(yaml),
                       "task: x\ntrials: 2\nseeds: {tune: 1, report: 1}\nmethod: %s\n" SPACE,
                       methods[i]);
        begin(yaml, true);
        assert_int_equal(next_round(failed, &first), 2);
        assert_int_equal(aq_sweep_winner(&study), AQ_SWEEP_NONE);
        assert_int_equal(next_round(failed, &first), 0);
    }
}

TEST(where_runs_begin_anew_the_best_go_on_from_nothing)
{
    static const double scores[] = {1, 2, 3};
    size_t first;
    begin(
        "task: x\nmethod: random\ntrials: 3\nrungs: [10, 30]\nseeds: {tune: 1, report: 1}\n" SPACE,
        false);
    assert_int_equal(next_round(scores, &first), 3);
    assert_int_equal(next_round(scores, &first), 1);
    assert_int_equal(study.stages[first].trial, 2);
    assert_int_equal(study.stages[first].from, AQ_SWEEP_NONE);
}

/* The report alone, the winner and what is given, is always one. */
TEST(a_round_of_one_stage_has_one)
{
    static const double scores[] = {1, 2};
    static const size_t counts[] = {1, 1, 1, 2};
    size_t first;
    begin("task: x\nmethod: random\ntrials: 2\nround: 1\nrungs: [10, 30]\n"
          "seeds: {tune: 1, report: 1}\n" SPACE,
          true);
    EACH_ROW(i, counts) {
        assert_int_equal(next_round(scores, &first), counts[i]);
    }
    assert_int_equal(next_round(scores, &first), 0);
}

TEST(events_that_do_not_fit_leave_it_as_it_was)
{
    aq_sweep_stage stages[] = {{.trial = 0, .from = AQ_SWEEP_NONE},
                               {.trial = 9, .from = AQ_SWEEP_NONE}};
    const aq_sweep_event claim = {.kind = AQ_SWEEP_EVENT_CLAIM, .time_s = 9, .attempt = 1};
    begin("task: x\ntrials: 2\n" SPACE, true);
    assert_int_equal(
        apply((aq_sweep_event){.kind = AQ_SWEEP_EVENT_SUGGEST, .stages = stages, .stage_count = 2}),
        AQ_E_CORRUPT); /* there is no tenth trial */
    assert_int_equal(study.stage_count, 0);
    assert_int_equal(study.run_count, 0);
    suggest(stages, 1);
    assert_int_equal(apply((aq_sweep_event){.kind = AQ_SWEEP_EVENT_CLAIM, .attempt = 2}),
                     AQ_E_CORRUPT);
    assert_succeeds(apply(claim));
    assert_int_equal(apply(claim), AQ_E_CORRUPT); /* two who saw the same */
    assert_succeeds(apply((aq_sweep_event){
        .kind = AQ_SWEEP_EVENT_RELEASE, .time_s = 8, .attempt = 1})); /* a host behind the other */
    assert_near(study.last_s, 9, 0);
}

TEST(stages_that_no_round_is_made_of_are_refused)
{
    static const struct {
        const char *method;
        size_t rounds; /* before it */
        aq_sweep_stage stages[2];
        size_t count;
    } rows[] = {
        {"random", 0, {{.trial = 1, .from = AQ_SWEEP_NONE}}, 1}, /* the first has not begun */
        {"random", 0, {{.rung = 1, .from = AQ_SWEEP_NONE}}, 1},
        {"random", 0, {{.from = AQ_SWEEP_NONE}, {.from = AQ_SWEEP_NONE}}, 2},
        {"random", 1, {{.from = AQ_SWEEP_NONE}}, 1},
        {"random", 1, {{.rung = 1, .from = AQ_SWEEP_NONE}, {.rung = 1, .from = 0}}, 2},
        {"pbt", 0, {{.from = AQ_SWEEP_NONE}}, 1}, /* a member is missing */
        {"pbt", 0, {{.kind = AQ_SWEEP_GIVEN, .from = AQ_SWEEP_NONE}}, 1},
        {"pbt", 0, {{.kind = AQ_SWEEP_WINNER, .rung = 1, .from = AQ_SWEEP_NONE}}, 1},
        {"pbt", 0, {{.kind = AQ_SWEEP_WINNER, .from = AQ_SWEEP_NONE}}, 1}, /* of nothing */
        {"pbt", 1, {{.rung = 1, .from = 0}, {.rung = 1, .from = 1}}, 2},   /* one member twice */
        {"pbt",
         1,
         {{.rung = 1, .from = AQ_SWEEP_NONE}, {.trial = 1, .rung = 1, .from = AQ_SWEEP_NONE}},
         2},
        {"pbt", 1, {{.kind = AQ_SWEEP_WINNER, .rung = 1, .from = 0}}, 1}, /* of other seeds */
    };
    static const double scores[] = {2, 1};
    EACH_ROW(i, rows) {
        char yaml[256];
        size_t first;
        (void)snprintf(yaml, sizeof(yaml),
                       "task: x\nmethod: %s\ntrials: 2\nrungs: [10, 20]\n"
                       "seeds: {tune: 1, report: 1}\n" SPACE,
                       rows[i].method);
        begin(yaml, true);
        for (size_t round = 0; round < rows[i].rounds; round++) {
            assert_int_equal(next_round(scores, &first), 2);
        }
        const aq_sweep_event event = {.kind = AQ_SWEEP_EVENT_SUGGEST,
                                      .round = study.rounds,
                                      .stages = (aq_sweep_stage *)(uintptr_t)rows[i].stages,
                                      .stage_count = rows[i].count};
        const uint32_t trials = study.trials;
        assert_refused(aq_sweep_study_apply(&study, &event, &refusal), AQ_E_CORRUPT,
                       "a stage is none that can be");
        assert_int_equal(study.trials, trials);
    }
}

/* A round by chance, mostly none that fits. */
static bool suggest_any(aq_rng *rng)
{
    aq_sweep_stage stages[3] = {{0}};
    const size_t count = 1 + aq_rng_below(rng, 3);
    for (size_t i = 0; i < count; i++) {
        const uint64_t kind = aq_rng_below(rng, 6);
        stages[i] = (aq_sweep_stage){
            .kind = kind < 4    ? AQ_SWEEP_TUNE
                    : kind == 4 ? AQ_SWEEP_WINNER
                                : AQ_SWEEP_GIVEN,
            .trial = (uint32_t)(kind < 2 ? i : aq_rng_below(rng, 4)),
            .rung = (uint32_t)aq_rng_below(rng, 4),
            .from = aq_rng_below(rng, 2) == 0 ? AQ_SWEEP_NONE
                                              : (uint32_t)aq_rng_below(rng, study.stage_count + 1),
            .point = {{"0.001"}}};
    }
    return apply((aq_sweep_event){.kind = AQ_SWEEP_EVENT_SUGGEST,
                                  .round = study.rounds,
                                  .stages = stages,
                                  .stage_count = count}) == 0;
}

static void report(void)
{
    aq_sweep_summary summary;
    aq_long_text page;
    assert_int_equal(aq_sweep_summary_make(&study, "D", &summary), 0);
    aq_long_text_init(&page, 1 << 22);
    aq_sweep_page(&summary, &page);
    aq_long_text_fini(&page);
    aq_sweep_summary_fini(&summary);
}

/* False: nothing is left to do. */
static bool suggest_next(void)
{
    aq_sweep_stage *stages;
    size_t count;
    assert_succeeds(aq_sweep_next_round(&study, &stages, &count));
    if (count > 0) {
        suggest(stages, count);
    }
    aq_free(stages);
    return count > 0;
}

TEST(whatever_was_applied_can_be_reported_and_gone_on_with)
{
    static const char *const methods[] = {"pbt", "random"};
    aq_rng rng = rng_of(test_seed(), 0);
    size_t taken = 0;
    for (uint64_t i = test_rounds(100); i-- > 0;) {
        char yaml[256];
        bool is_over = false;
        (void)snprintf(yaml, sizeof(yaml),
                       "task: x\nmethod: %s\ntrials: 3\nrungs: [10, 20, 30]\n"
                       "seeds: {tune: 1, report: 1}\n" SPACE,
                       methods[i % 2]);
        begin(yaml, i % 3 > 0);
        while (!is_over) {
            const size_t first = study.stage_count;
            size_t tries = 10;
            while (tries > 0 && !suggest_any(&rng)) {
                tries--;
            }
            taken += tries > 0;
            is_over = tries == 0 && !suggest_next();
            for (size_t run = first; run < study.run_count; run++) {
                end_run(run, aq_rng_below(&rng, 5) == 0 ? (double)NAN : aq_rng_uniform(&rng), 1);
            }
            report();
        }
    }
    assert_true(taken > 0);
}

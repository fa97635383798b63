/*
 * What a sweep shows: its table, its CSV, and the picture of its settings, compared whole; and a
 * page with all figures.
 */
#include "cli/sweep/report/sweep_coordinates.h"
#include "cli/sweep/report/sweep_csv.h"
#include "cli/sweep/report/sweep_importance.h"
#include "cli/sweep/report/sweep_page.h"
#include "cli/sweep/report/sweep_table.h"
#include "tests/unit/cli/sweep/sweep_kit.h"

enum { PAGE_BYTES_MAX = 1 << 22 };

static const char study[] = "task: gym:CartPole-v1\n"
                            "method: sobol\n"
                            "trials: 12\n"
                            "seeds: {tune: 2, report: 3}\n"
                            "rungs: [1000, 3000]\n"
                            "space:\n"
                            "  learner.learning_rate: {log: [1e-5, 1e-1]}\n"
                            "  learner.batch_size: {pow2: [16, 256]}\n"
                            "  learner.hidden: [[32, 32], [64, 64]]\n";

typedef struct page_kit {
    aq_sweep_desk *desk;
    aq_sweep_summary summary;
    aq_long_text text;
    const char *dir;
} page_kit;

/* A study that has ended. */
static void begin(void **state, page_kit *kit)
{
    kit->dir = cli_path(state, "study");
    sweep_found(kit->dir, study);
    sweep_all(kit->dir, 1, 1);
    assert_succeeds(aq_sweep_desk_open(kit->dir, "", &kit->desk, &refusal));
    assert_int_equal(aq_sweep_summary_make(aq_sweep_desk_study(kit->desk), kit->dir, &kit->summary),
                     0);
    aq_long_text_init(&kit->text, PAGE_BYTES_MAX);
}

static void end(page_kit *kit)
{
    aq_long_text_fini(&kit->text);
    aq_sweep_summary_fini(&kit->summary);
    aq_sweep_desk_close(kit->desk);
}

static const char *text_of(page_kit *kit)
{
    aq_long_text_add(&kit->text, "%c", '\0');
    assert_int_equal(kit->text.rc, 0);
    return (const char *)kit->text.bytes.data;
}

TEST_IN_FOLDER(the_table_says_what_was_found)
{
    page_kit kit;
    begin(state, &kit);
    FILE *out = cli_print_begin();
    assert_int_equal(aq_sweep_table_print(&kit.summary, 5, out), 0);
    cli_assert_page("sweep_table.txt", cli_print_end());
    end(&kit);
}

TEST_IN_FOLDER(the_csv_has_a_line_for_each_stage)
{
    page_kit kit;
    begin(state, &kit);
    aq_sweep_csv_trials(&kit.summary, &kit.text);
    cli_assert_page("sweep_trials.csv", text_of(&kit));
    end(&kit);
}

TEST_IN_FOLDER(the_picture_has_a_line_for_each_trial)
{
    page_kit kit;
    begin(state, &kit);
    aq_sweep_coordinates_draw(&kit.summary, &kit.text);
    cli_assert_page("sweep_coordinates.svg", text_of(&kit));
    end(&kit);
}

TEST(a_picture_of_more_trials_than_it_has_lines_says_so)
{
    enum { TRIALS = 503 }; /* one has failed */
    aq_sweep_spec spec;
    aq_sweep_study its;
    aq_sweep_summary summary;
    aq_sweep_stage stages[TRIALS] = {{0}};
    aq_sweep_event event = {.kind = AQ_SWEEP_EVENT_STUDY};
    aq_long_text text;
    sweep_spec("task: x\ntrials: 503\nspace: {learner.n_step: [1, 3]}\n", &spec);
    aq_sweep_study_init(&its, &spec, 0);
    assert_succeeds(aq_sweep_study_apply(&its, &event, &refusal));
    for (uint32_t i = 0; i < TRIALS; i++) {
        stages[i] = (aq_sweep_stage){.trial = i, .from = AQ_SWEEP_NONE, .point = {{"1"}}};
    }
    event =
        (aq_sweep_event){.kind = AQ_SWEEP_EVENT_SUGGEST, .stages = stages, .stage_count = TRIALS};
    assert_succeeds(aq_sweep_study_apply(&its, &event, &refusal));
    for (size_t i = 0; i < TRIALS; i++) {
        event = (aq_sweep_event){.kind = AQ_SWEEP_EVENT_CLAIM, .run = i, .attempt = 1};
        assert_succeeds(aq_sweep_study_apply(&its, &event, &refusal));
        event.kind = AQ_SWEEP_EVENT_REPORT;
        event.outcome.is_failed = i == 0;
        assert_succeeds(aq_sweep_study_apply(&its, &event, &refusal));
    }
    assert_succeeds(aq_sweep_summary_make(&its, "D", &summary));
    aq_long_text_init(&text, PAGE_BYTES_MAX);
    aq_sweep_coordinates_draw(&summary, &text);
    aq_long_text_add(&text, "%c", '\0');
    assert_says((const char *)text.bytes.data, "Settings of the best 500 of 502 trials");
    aq_long_text_fini(&text);
    aq_sweep_summary_fini(&summary);
    aq_sweep_study_fini(&its);
}

TEST_IN_FOLDER(the_page_has_all_figures)
{
    static const char *const figures[] = {"best", "curves", "front", "importance", "coordinates"};
    page_kit kit;
    begin(state, &kit);
    aq_sweep_page(&kit.summary, &kit.text);
    const char *page = text_of(&kit);
    EACH_ROW(i, figures) {
        char words[64];
        (void)snprintf(words, sizeof(words), "<figure id=\"%s\">", figures[i]);
        assert_says(page, words);
    }
    assert_says(page, "method sobol, 2 seeds each");
    assert_says(page, "<td class=\"words\">as given</td>");
    assert_says(page, "learner.hidden: [[32, 32], [64, 64]]");
    end(&kit);
}

TEST(figures_are_told_in_their_units)
{
    aq_figure room;
    assert_string_equal(aq_sweep_figure_text(AQ_SWEEP_RETURN, 187.24, &room), "187.2");
    assert_string_equal(aq_sweep_figure_text(AQ_SWEEP_STEPS, 1234567, &room), "1.2M");
    assert_string_equal(aq_sweep_figure_text(AQ_SWEEP_BYTES, 234567, &room), "234.6k");
    assert_string_equal(aq_sweep_figure_text(AQ_SWEEP_CPU, 125, &room), "2m05s");
    assert_string_equal(aq_sweep_figure_text(AQ_SWEEP_JOULES, 2.4, &room), "2.4 J");
}

/* Of the three, the learning rate is what the score hangs on, and the last does nothing. */
TEST_IN_FOLDER(importance_is_of_what_makes_a_difference)
{
    double shares[AQ_SWEEP_DIMS_MAX];
    page_kit kit;
    begin(state, &kit);
    assert_int_equal(aq_sweep_importance(kit.summary.study, shares), 0);
    assert_true(shares[0] > 0.3);
    assert_true(shares[0] > shares[1] && shares[0] > shares[2]);
    assert_true(shares[2] < 0.3);
    end(&kit);
}

/* A grid's trials come in the order of their settings, which explains nothing. */
TEST_IN_FOLDER(of_trials_that_are_alike_no_setting_explains_anything)
{
    const char *dir = cli_path(state, "study");
    const aq_sweep_now now = {0};
    double shares[AQ_SWEEP_DIMS_MAX];
    sweep_hand hand;
    sweep_found(dir, "task: gym:CartPole-v1\n"
                     "method: grid\n"
                     "space:\n"
                     "  learner.learning_rate: [1e-4, 1e-3, 1e-2]\n"
                     "  learner.batch_size: [16, 32, 64]\n");
    sweep_hire(&hand, dir, "hand");
    for (int i = 0; i < 9; i++) {
        const aq_sweep_outcome outcome = {.figures = {[AQ_SWEEP_RETURN] = 5}};
        aq_sweep_errand errand;
        assert_succeeds(
            aq_sweep_desk_claim(hand.desk, now, &errand, &hand.run, &hand.attempt, &refusal));
        assert_int_equal(errand, AQ_SWEEP_RUN_IT);
        assert_succeeds(
            aq_sweep_desk_report(hand.desk, now, hand.run, hand.attempt, &outcome, &refusal));
    }
    assert_int_equal(aq_sweep_importance(aq_sweep_desk_study(hand.desk), shares), 0);
    assert_true(isnan(shares[0]) && isnan(shares[1]));
    sweep_dismiss(&hand);
}

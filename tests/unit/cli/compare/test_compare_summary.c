/*
 * Rows, ratios and reports of a comparison whose runs are files written here.
 *
 * fp32 takes twice as long as int8 for the same returns. Of int4 two seeds diverged, and int3 is
 * something that a daemon refuses.
 */
#include "cli/compare/compare_figures.h"
#include "cli/compare/compare_report.h"
#include "cli/compare/compare_summary.h"
#include "cli/compare/compare_table.h"
#include "cli/compare/compare_words.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { SEEDS = 3, EVALUATIONS = 40 };

#define ROUNDING 1e-9

/* Returns go from 0 to 390, and 1 more for each seed; evaluation i is at (i + 1) * pace_s. */
static void write_run(const char *dir, uint64_t seed, double pace_s, const char *outcome,
                      const char *energy_source)
{
    char text[16384];
    size_t size = 0;
    double wall_s = pace_s * EVALUATIONS;
    cli_make_folder(dir);
    for (int i = 0; i < EVALUATIONS; i++) {
        size +=
            (size_t)snprintf(text + size, sizeof(text) - size,
                             "{\"event\":\"evaluation\",\"wall_s\":%g,\"env_steps\":%d,"
                             "\"return_mean\":%g}\n",
                             pace_s * (i + 1), 100 * (i + 1), 10.0 * i + (double)(seed % SEEDS));
    }
    (void)snprintf(text + size, sizeof(text) - size,
                   "{\"event\":\"end\",\"wall_s\":%g,\"state\":\"%s\",\"env_steps\":4000,"
                   "\"learner_steps\":200,\"policy_versions\":40,\"policy_fallbacks\":10,"
                   "\"broadcast_bytes\":%g,\"broadcast_bytes_fp32\":8000,"
                   "\"time\":{\"actors\":{\"env_steps\":4000,\"inference_s\":%g,"
                   "\"environment_s\":1,\"waiting_s\":2,\"other_s\":1},\"learner\":{"
                   "\"training_s\":3,\"waiting_s\":%g,\"publishing_s\":1,\"quantizing_s\":1},"
                   "\"replay\":{\"inserting_s\":1,\"sampling_s\":1}}}\n",
                   wall_s, strcmp(outcome, "finished") == 0 ? "budget" : outcome, 1000 * pace_s,
                   8 * pace_s, 9 * pace_s);
    file_put_text(file_in(dir, "metrics.jsonl"), text);
    (void)snprintf(text, sizeof(text),
                   "{\"outcome\":\"%s\",\"reason\":\"because <of> this\",\"return_mean\":400,"
                   "\"return_std\":1,\"format\":\"int8\",\"restarts\":0,\"resumed\":0}",
                   outcome);
    file_put_text(file_in(dir, "result.json"), text);
    if (energy_source) {
        (void)snprintf(text, sizeof(text),
                       "{\"source\":\"%s\",\"wall_s\":1,\"cpu_s\":4,\"energy_j\":%g,\"idle_j\":1,"
                       "\"roles\":{\"actor\":{\"cpu_s\":1,\"energy_j\":1},"
                       "\"learner\":{\"cpu_s\":1,\"energy_j\":2},"
                       "\"replay\":{\"cpu_s\":1,\"energy_j\":1},"
                       "\"evaluator\":{\"cpu_s\":1,\"energy_j\":1}},"
                       "\"carbon\":{\"carbon_g\":0.5}}",
                       energy_source, 10 * pace_s);
        file_put_text(file_in(dir, "energy.json"), text);
    }
}

static void write_precision(const aq_compare_plan *plan, size_t precision, double pace_s,
                            const char *outcome, const char *energy_source)
{
    char dir[CLI_PATH_MAX];
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const char *its = strcmp(outcome, "diverged") == 0 && seed == 1 ? "finished" : outcome;
        assert_int_equal(aq_compare_plan_run_dir(plan, precision, seed, dir, sizeof(dir)), 0);
        write_run(dir, seed, pace_s, its, energy_source);
    }
}

static aq_compare_plan plan;

static int setup(void **state)
{
    int rc = cli_fixture_setup(state);
    plan = (aq_compare_plan){.seeds = SEEDS, .seed_first = 1, .threshold = NAN};
    aq_settings_init(aq_run_config_table(), &plan.config);
    (void)snprintf(plan.config.preset, sizeof(plan.config.preset), "none");
    (void)snprintf(plan.command, sizeof(plan.command), "actorq compare <this>");
    (void)snprintf(plan.dir, sizeof(plan.dir), "%s", cli_path(state, "."));
    assert_int_equal(aq_compare_request_names(&plan.request, "fp32,int8,int4,int3", NULL), 0);
    assert_int_equal(aq_compare_plan_arms(&plan, NULL), 0);
    write_precision(&plan, 0, 0.5, "finished", "model");
    write_precision(&plan, 1, 0.25, "finished", "model");
    write_precision(&plan, 2, 0.5, "diverged", "rapl");
    write_precision(&plan, 3, 0.5, "refused", NULL);
    return rc;
}

static void end_summary(void *summary)
{
    aq_compare_summary_fini(summary);
    free(summary);
}

static const aq_compare_summary *summarize(double task_threshold)
{
    aq_compare_summary *summary = malloc(sizeof(*summary));
    assert_non_null(summary);
    assert_int_equal(aq_compare_summary_make(&plan, task_threshold, summary, NULL), 0);
    at_end(end_summary, summary);
    return summary;
}

#define TEST_OF_RUNS(name) TEST_WITH(name, setup, cli_fixture_teardown)

TEST_OF_RUNS(returns_are_means_over_seeds_with_their_interval)
{
    const aq_compare_summary *summary = summarize(200);
    const aq_compare_row *row = &summary->rows[0];
    assert_int_equal(row->finished, SEEDS);
    /* Evaluations 35 to 39 are in the last tenth; seeds add 1, 2 and 0. */
    assert_near(row->last.mean, 371.0, ROUNDING);
    assert_near(row->last.ci95, 4.302652729696142 * 1.0 / sqrt(3.0), ROUNDING);
    assert_true(row->fresh.mean == 400 && row->fresh.ci95 == 0);
}

TEST_OF_RUNS(times_to_the_threshold_are_of_the_mean_of_ten_evaluations)
{
    const aq_compare_summary *summary = summarize(200);
    /* 200 is reached by evaluation 20; the mean of ten, 45 behind, by 24.5 and later. */
    assert_near(summary->rows[0].crossing.time_s.mean, 26 * 0.5, ROUNDING);
    assert_near(summary->rows[1].crossing.time_s.mean, 26 * 0.25, ROUNDING);
    assert_near(summary->rows[1].crossing.speedup, 2, ROUNDING);
    assert_null(summary->rows[1].crossing.missing);
}

TEST_OF_RUNS(fewer_than_three_seeds_have_no_speed_up)
{
    plan.seeds = SEEDS - 1;
    const aq_compare_summary *summary = summarize(200);
    const aq_compare_crossing *crossing = &summary->rows[1].crossing;
    assert_near(crossing->time_s.mean, 26 * 0.25, ROUNDING);
    assert_true(isnan(crossing->speedup));
    assert_string_equal(crossing->missing, "fewer than 3 seeds");
}

TEST_OF_RUNS(nor_has_what_is_compared_to_fewer)
{
    write_run(cli_path(state, "fp32-s2"), 2, 0.5, "diverged", "model");
    const aq_compare_crossing *crossing = &summarize(200)->rows[1].crossing;
    assert_true(isnan(crossing->speedup));
    assert_string_equal(crossing->missing, "fewer than 3 seeds");
}

TEST_OF_RUNS(a_threshold_that_some_seeds_reach_has_no_mean_time)
{
    char text[64];
    const aq_compare_summary *summary = summarize(345.5); /* at last 345, and 1 and 2 more */
    const aq_compare_row *row = &summary->rows[0];
    assert_int_equal(row->crossing.reached, 2);
    assert_true(isnan(row->crossing.time_s.mean) && isnan(summary->rows[1].crossing.speedup));
    assert_string_equal(summary->rows[1].crossing.missing, "not reached by all");
    assert_string_equal(aq_compare_crossing_text(row, text, sizeof(text)), "not reached (2 of 3)");
    summary = summarize(390);
    assert_string_equal(aq_compare_crossing_text(&summary->rows[0], text, sizeof(text)),
                        "not reached");
}

TEST_OF_RUNS(ratios_are_to_fp32)
{
    const aq_compare_summary *summary = summarize(200);
    const aq_compare_row *row = &summary->rows[1];
    assert_int_equal(summary->baseline, 0);
    assert_near(row->throughput_ratio, 2, ROUNDING);
    assert_near(row->broadcast_ratio, 2, ROUNDING);
    assert_near(row->energy_ratio, 2, ROUNDING);
    /* Inference 4 s and 2 s, and 2 s of other things beside waiting. */
    assert_near(row->actor_steps_per_s, 4000.0 / 4, ROUNDING);
    assert_near(row->actor_ratio, 1.5, ROUNDING);
}

TEST_OF_RUNS(sources_of_energy_are_never_mixed)
{
    const aq_compare_summary *summary = summarize(200);
    assert_string_equal(summary->rows[2].energy_source, "rapl");
    assert_true(isnan(summary->rows[2].energy_ratio));
    write_run(cli_path(state, "int8-s2"), 2, 0.25, "finished", "rapl");
    summary = summarize(200);
    assert_null(summary->rows[1].energy_source);
    assert_true(isnan(summary->rows[1].energy_j));
}

/* int4's are of another source than the baseline's, and int3 has none. */
TEST_OF_RUNS(the_figure_of_energy_is_of_one_source)
{
    aq_long_text picture;
    aq_long_text_init(&picture, 1 << 16);
    aq_compare_figure_draw(summarize(200), AQ_FIGURE_ENERGY, &picture);
    aq_long_text_add(&picture, "%c", '\0');
    const char *text = (const char *)picture.bytes.data;
    assert_says(text, "J a run (model)");
    const char *missing = strstr(text, "n/a");
    assert_non_null(missing);
    assert_says(missing + 1, "n/a");
    aq_long_text_fini(&picture);
}

TEST_OF_RUNS(runs_that_did_not_finish_are_left_out_and_said)
{
    char text[512];
    const aq_compare_summary *summary = summarize(200);
    assert_int_equal(summary->rows[2].finished, 1);
    assert_string_equal(aq_compare_row_state(summary, &summary->rows[2], text, sizeof(text)),
                        "1 of 3 finished; diverged: because <of> this");
    assert_true(isnan(summary->rows[2].last.ci95));
    assert_int_equal(summary->rows[3].finished, 0);
    assert_string_equal(aq_compare_row_state(summary, &summary->rows[3], text, sizeof(text)),
                        "0 of 3 finished; refused: because <of> this");
    assert_true(isnan(summary->rows[3].wall_s));
}

TEST_OF_RUNS(the_threshold_is_given_or_the_tasks_or_what_was_reached)
{
    const aq_compare_summary *summary = summarize(200);
    assert_int_equal(summary->threshold_source, AQ_THRESHOLD_TASK);
    summary = summarize((double)NAN);
    assert_int_equal(summary->threshold_source, AQ_THRESHOLD_REACHED);
    assert_near(summary->threshold, 1 + 0.95 * (371 - 1), ROUNDING);
    plan.threshold = 77;
    summary = summarize(200);
    assert_true(summary->threshold == 77);
    assert_int_equal(summary->threshold_source, AQ_THRESHOLD_GIVEN);
}

TEST_OF_RUNS(a_band_is_the_mean_of_the_seeds_curves)
{
    size_t count;
    aq_plot_point points[3];
    const aq_compare_summary *summary = summarize(200);
    assert_int_equal(aq_compare_band(summary, 0, true, points, 3, &count), 0);
    assert_int_equal(count, 3);
    assert_true(points[1].x == 2050); /* in the middle of 100 to 4000 */
    /* Evaluations 13 to 25 are there, whose means of ten are 45 behind; seeds add 1, 2 and 0. */
    assert_near(points[1].y, 190 - 45 + 1, ROUNDING);
    assert_near(points[1].low, points[1].y - 1, ROUNDING); /* within what the seeds are */
    assert_near(points[1].high, points[1].y + 1, ROUNDING);
    assert_int_equal(aq_compare_band(summary, 3, true, points, 3, &count), 0);
    assert_int_equal(count, 0);
}

TEST_OF_RUNS(of_a_single_evaluation_there_is_no_band_and_no_threshold)
{
    size_t count;
    aq_plot_point points[3];
    for (int seed = SEEDS; seed > 0; seed--) {
        char name[32];
        (void)snprintf(name, sizeof(name), "fp32-s%d/metrics.jsonl", seed);
        file_put_text(cli_path(state, name), "{\"event\":\"evaluation\",\"wall_s\":1,"
                                             "\"env_steps\":1,\"return_mean\":9}\n");
        assert_int_equal(aq_compare_band(summarize(200), 0, true, points, 3, &count), 0);
        assert_int_equal(count, 0);
    }
    assert_true(isnan(summarize((double)NAN)->threshold)); /* where nothing got better */
}

/* Replay's are 2 s; the actors' are more, and need a longer axis. */
TEST_OF_RUNS(a_figure_of_times_shows_those_that_it_is_of)
{
    aq_long_text picture;
    aq_long_text_init(&picture, 1 << 16);
    aq_compare_figure_draw(summarize(200), AQ_FIGURE_REPLAY_TIME, &picture);
    aq_long_text_add(&picture, "%c", '\0');
    assert_says((const char *)picture.bytes.data, ">2</text>");
    assert_null(strstr((const char *)picture.bytes.data, ">4</text>"));
    aq_long_text_fini(&picture);
}

TEST_OF_RUNS(the_report_tells_what_networks_there_are)
{
    static const struct {
        uint32_t algorithm;
        const char *hidden, *words;
    } rows[] = {{AQ_ALGORITHM_DQN, "64,64", ", networks of 64,64, "},
                {AQ_ALGORITHM_DQN, "", ", no hidden layers, "},
                {AQ_ALGORITHM_Q, "64,64", "<p>Preset none, 3 actors "}};
    plan.config.actor.count = 3;
    EACH_ROW(i, rows) {
        plan.config.learner.algorithm = rows[i].algorithm;
        (void)strcpy(plan.config.learner.hidden, rows[i].hidden);
        assert_int_equal(aq_compare_report_write(summarize(200), NULL), 0);
        assert_says(file_text(cli_path(state, "report.html")), rows[i].words);
    }
}

TEST_OF_RUNS(the_report_holds_everything)
{
    static const char *const words[] = {"<!DOCTYPE html>",
                                        "prefers-color-scheme:dark",
                                        "@media print",
                                        "<th class=\"words\">source</th>",
                                        "<td class=\"words\">not measured</td>",
                                        "because &lt;of&gt; this",
                                        "refused: because &lt;of&gt; this",
                                        "actorq compare &lt;this&gt;",
                                        "id=\"return-time\"",
                                        "id=\"return-steps\"",
                                        "id=\"energy\"",
                                        "id=\"actor-time\"",
                                        "<svg",
                                        "waiting for samples",
                                        "learner:",
                                        "2.00\u00d7",
                                        "95 % intervals"};
    const aq_compare_summary *summary = summarize(200);
    assert_int_equal(aq_compare_report_write(summary, NULL), 0);
    const char *page = file_text(cli_path(state, "report.html"));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        assert_says(page, words[i]);
    }
    /* It needs nothing from elsewhere. */
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "<link"));
    assert_null(strstr(page, "src="));
    assert_says(file_text(cli_path(state, "energy.svg")), "<svg");
    cli_assert_page("compare.csv", file_text(cli_path(state, "compare.csv")));
    aq_buffer *json = file_bytes(cli_path(state, "compare.json"));
    assert_int_equal(aq_buffer_append(json, "\n", 2), 0);
    cli_assert_page("compare.json", (const char *)json->data);
    assert_says(file_text(cli_path(state, "curves.csv")), "\nint8,2,0.250000,100,2\n");
}

TEST_OF_RUNS(the_terminal_shows_figures_and_how_they_were_come_by)
{
    assert_succeeds(aq_compare_table_print(summarize(200), cli_print_begin()));
    cli_assert_page("compare_table.txt", cli_print_end());
}

TEST_OF_RUNS(words_come_from_the_figures)
{
    const aq_compare_summary *summary = summarize(200);
    aq_long_text words;
    aq_long_text_init(&words, 1 << 16);
    aq_compare_words(summary, &words);
    aq_long_text_add(&words, "%c", '\0');
    cli_assert_page("compare_words.html", (const char *)words.bytes.data);
    aq_long_text_fini(&words);
}

TEST_OF_RUNS(a_run_that_was_resumed_is_said)
{
    aq_compare_summary summary = *summarize(200);
    char text[256];
    summary.rows[1].resumed = 2;
    summary.rows[2].resumed = 1;
    assert_says(aq_compare_row_state(&summary, &summary.rows[1], text, sizeof(text)),
                "finished; 2 resumed");
    assert_says(aq_compare_row_state(&summary, &summary.rows[2], text, sizeof(text)),
                "1 of 3 finished; 1 resumed; diverged: because");
    assert_succeeds(aq_compare_table_print(&summary, cli_print_begin()));
    assert_says(cli_print_end(), "\n  int8: finished; 2 resumed\n");
}

TEST_OF_RUNS(a_run_whose_daemons_died_is_said)
{
    aq_compare_summary summary = *summarize(200);
    char text[256];
    summary.rows[1].restarted = 3;
    assert_true(aq_compare_row_has_state(&summary, &summary.rows[1]));
    assert_says(aq_compare_row_state(&summary, &summary.rows[1], text, sizeof(text)),
                "finished; 3 with restarts");
}

TEST_OF_RUNS(what_takes_more_bytes_is_not_said_to_take_fewer)
{
    aq_compare_summary summary = *summarize(200);
    aq_long_text words;
    summary.rows[1].broadcast_ratio = 0.5;
    aq_long_text_init(&words, 1 << 16);
    aq_compare_words(&summary, &words);
    aq_long_text_add(&words, "%c", '\0');
    assert_says((const char *)words.bytes.data, "Its policies take 2 times the bytes");
    aq_long_text_fini(&words);
}

/* An hour and more, and joules by the thousand. */
TEST_OF_RUNS(long_runs_are_told_without_powers_of_ten)
{
    aq_long_text words;
    write_precision(&plan, 0, 500, "finished", "model");
    write_precision(&plan, 1, 250, "finished", "model");
    aq_long_text_init(&words, 1 << 16);
    aq_compare_words(summarize(200), &words);
    aq_long_text_add(&words, "%c", '\0');
    assert_says((const char *)words.bytes.data, "reaches 200 after 1h48m instead of 3h36m");
    assert_says((const char *)words.bytes.data, "takes 2.5 kJ instead of 5 kJ");
    aq_long_text_fini(&words);
}

TEST_OF_RUNS(a_precision_alone_is_said_to_be_alone)
{
    aq_long_text words;
    plan.request.name_count = 0;
    assert_succeeds(aq_compare_request_names(&plan.request, "int8", NULL));
    assert_succeeds(aq_compare_plan_arms(&plan, NULL));
    aq_long_text_init(&words, 1 << 16);
    aq_compare_words(summarize(200), &words);
    aq_long_text_add(&words, "%c", '\0');
    assert_string_equal((const char *)words.bytes.data,
                        "int8: there is no other precision to compare it with.\n");
    aq_long_text_fini(&words);
}

/* A network of the last layer alone, which stays in fp32, is the same in every arm. */
TEST_OF_RUNS(of_a_policy_that_is_not_quantized_nothing_is_compared)
{
    aq_compare_summary summary = *summarize(200);
    aq_long_text words;
    aq_long_text_init(&words, 1 << 16);
    summary.rows[1].fallback_share = 0;
    for (size_t i = 0; i < SEEDS; i++) {
        (void)strcpy(summary.runs[SEEDS + i].format, "fp32");
    }
    aq_compare_words(&summary, &words);
    aq_long_text_add(&words, "%c", '\0');
    assert_says((const char *)words.bytes.data,
                "int8: No layer of this network is quantized; both play fp32.\nint4:");
    aq_long_text_fini(&words);
}

/* Files that were read in one summary and not in the other. */
static size_t differences(const aq_compare_summary *a, const aq_compare_summary *b)
{
    size_t count = 0;
    for (size_t i = 0; i < a->run_count; i++) {
        const aq_compare_run *one = &a->runs[i], *other = &b->runs[i];
        count += one->outcome != other->outcome;
        count += one->curve.returns.count != other->curve.returns.count;
        count += strcmp(one->energy.source, other->energy.source) != 0;
    }
    return count;
}

/* Without the runs there is no summary; without memory for a file it is one that can't be read. */
TEST_OF_RUNS(no_memory_is_said_and_no_more_than_a_file_is_lost)
{
    const uint64_t before = aq_memory_allocation_count();
    const aq_compare_summary *whole = summarize(200);
    const uint64_t allocations = aq_memory_allocation_count() - before;
    assert_true(allocations > whole->run_count);
    for (uint64_t nth = 1; nth <= allocations; nth++) {
        aq_compare_summary summary;
        aq_memory_fail_at(nth, 0);
        const int rc = aq_compare_summary_make(&plan, 200, &summary, &refusal);
        aq_memory_fail_at(0, 0);
        if (nth == 1) {
            assert_refused(rc, AQ_E_NOMEM, "out of memory");
        } else {
            assert_succeeds(rc);
            assert_int_equal(differences(&summary, whole), 1);
            aq_compare_summary_fini(&summary);
        }
    }
}

/*
 * The figures, tables and words of a comparison of modes whose runs are files written here.
 *
 * Two ranks learn as much from a step and take half the time of experience; gradient actors take
 * its time and three quarters of the steps; a daemon refuses the model. One learner with one actor
 * makes a third of what experience does.
 */
#include "cli/compare/compare_mode_words.h"
#include "cli/compare/compare_report.h"
#include "cli/compare/compare_scaling.h"
#include "cli/compare/compare_table.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { SEEDS = 3, EVALUATIONS = 40 };

#define ROUNDING 1e-9

typedef struct made_run {
    const char *arm;
    double wall_s, env_steps, updates; /* in all */
    double exchange_s, waiting_s, training_s;
    double exchange_bytes; /* 0: it has none */
    const char *outcome;
} made_run;

static const made_run runs[] = {
    {"experience", 20, 4000, 1000, 0, 4, 12, 0, "finished"},
    {"sync", 10, 4000, 500, 2, 1, 6, 1000, "finished"},
    {"async", 20, 3000, 1000, 0, 10, 6, 0, "finished"},
    {"model", 1, 1, 1, 0, 1, 1, 0, "refused"},
    {"experience-1", 60, 4000, 1000, 0, 40, 12, 0, "finished"},
};

static size_t write_progress(const made_run *run, char *text, size_t size)
{
    static const char other[] = "{\"training_s\":1,\"exchange_s\":1,\"waiting_s\":2,"
                                "\"publishing_s\":0}";
    const bool has_ranks = run->exchange_bytes > 0;
    return (size_t)snprintf(
        text, size,
        "{\"event\":\"progress\",\"wall_s\":%g,\"env_steps\":%g,\"actors\":2,\"staleness\":1.5,"
        "\"noise_scale\":%g,\"gradient_cosine\":0.25,\"exchange_bytes\":%s,\"ranks\":2,"
        "\"replay\":{\"bytes_per_step\":50,\"inserted\":%g},\"replay_use\":{\"staleness\":[6,3,1]},"
        "\"time\":{\"learner\":{\"training_s\":1,\"exchange_s\":0,\"waiting_s\":1,"
        "\"publishing_s\":0,\"other_ranks\":[%s]}}}\n",
        run->wall_s / 2, run->env_steps / 2, run->updates, has_ranks ? "1000" : "null",
        run->env_steps / 4, has_ranks ? other : "");
}

static void write_run(const aq_compare_plan *plan, size_t arm, uint64_t seed, const made_run *run)
{
    char dir[CLI_PATH_MAX], text[16384];
    assert_string_equal(plan->arms[arm].name, run->arm);
    assert_int_equal(aq_compare_plan_run_dir(plan, arm, seed, dir, sizeof(dir)), 0);
    cli_make_folder(dir);
    size_t size = write_progress(run, text, sizeof(text));
    for (int i = 0; i < EVALUATIONS; i++) {
        size += (size_t)snprintf(text + size, sizeof(text) - size,
                                 "{\"event\":\"evaluation\",\"wall_s\":%g,\"env_steps\":%g,"
                                 "\"return_mean\":%g}\n",
                                 run->wall_s * (i + 1 + 0.1 * (double)seed) / (EVALUATIONS + 1),
                                 run->env_steps * (i + 1) / EVALUATIONS,
                                 10.0 * i + (double)(seed % SEEDS));
    }
    (void)snprintf(text + size, sizeof(text) - size,
                   "{\"event\":\"end\",\"wall_s\":%g,\"state\":\"budget\",\"env_steps\":%g,"
                   "\"learner_steps\":%g,\"policy_versions\":40,\"broadcast_bytes\":1000,"
                   "\"time\":{\"actors\":{\"env_steps\":4000,\"inference_s\":1,"
                   "\"environment_s\":2,\"waiting_s\":2,\"other_s\":1},\"learner\":{"
                   "\"training_s\":%g,\"exchange_s\":%g,\"waiting_s\":%g,\"publishing_s\":1}}}\n",
                   run->wall_s, run->env_steps, run->updates, run->training_s, run->exchange_s,
                   run->waiting_s);
    file_put_text(file_in(dir, "metrics.jsonl"), text);
    (void)snprintf(text, sizeof(text),
                   "{\"outcome\":\"%s\",\"reason\":\"no <such> ranks\",\"return_mean\":400,"
                   "\"cpu\":\"A <fast> one\",\"cpus\":4}",
                   run->outcome);
    file_put_text(file_in(dir, "result.json"), text);
    (void)snprintf(
        text, sizeof(text),
        "{\"source\":\"model\",\"wall_s\":1,\"cpu_s\":4,\"energy_j\":%g,\"idle_j\":1,"
        "\"roles\":{\"actor\":{\"cpu_s\":1,\"energy_j\":1},"
        "\"learner\":{\"cpu_s\":%g,\"energy_j\":2},\"replay\":{\"cpu_s\":1,\"energy_j\":1},"
        "\"evaluator\":{\"cpu_s\":1,\"energy_j\":1}},\"carbon\":{\"carbon_g\":0.5}}",
        10 * run->wall_s, run->wall_s);
    file_put_text(file_in(dir, "energy.json"), text);
}

static aq_compare_plan plan;

static int setup(void **state)
{
    int rc = cli_fixture_setup(state);
    plan = (aq_compare_plan){.seeds = SEEDS, .seed_first = 1, .threshold = 200};
    plan.request = (aq_compare_request){.subject = AQ_COMPARE_MODES, .parallel = 2};
    aq_settings_init(aq_run_config_table(), &plan.config);
    (void)snprintf(plan.config.preset, sizeof(plan.config.preset), "none");
    (void)snprintf(plan.command, sizeof(plan.command), "actorq compare <this>");
    (void)snprintf(plan.dir, sizeof(plan.dir), "%s", cli_path(state, "."));
    assert_succeeds(aq_compare_request_names(&plan.request, "experience,sync,async,model", NULL));
    assert_succeeds(aq_compare_request_scales(&plan.request, "1", NULL));
    assert_succeeds(aq_compare_plan_arms(&plan, NULL));
    plan.arm_count = sizeof(runs) / sizeof(runs[0]); /* without async-1 */
    for (size_t arm = 0; arm < plan.arm_count; arm++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            write_run(&plan, arm, seed, &runs[arm]);
        }
    }
    return rc;
}

static void end_summary(void *summary)
{
    aq_compare_summary_fini(summary);
    free(summary);
}

static aq_compare_summary *summarize(void)
{
    aq_compare_summary *summary = malloc(sizeof(*summary));
    assert_non_null(summary);
    assert_succeeds(aq_compare_summary_make(&plan, (double)NAN, summary, NULL));
    at_end(end_summary, summary);
    return summary;
}

#define TEST_OF_MODES(name) TEST_WITH(name, setup, cli_fixture_teardown)

TEST_OF_MODES(bytes_go_by_three_edges)
{
    const aq_compare_summary *summary = summarize();
    const aq_compare_row *row = &summary->rows[1];
    assert_near(row->edge_bytes[AQ_EDGE_EXPERIENCE], 50 * 4000, ROUNDING);
    assert_near(row->edge_bytes[AQ_EDGE_POLICY], 2 * 1000, ROUNDING);
    assert_near(row->edge_bytes[AQ_EDGE_GRADIENTS], 2 * 1000 * 500, ROUNDING);
    assert_near(row->update_bytes, (200000 + 2000 + 1e6) / 500, ROUNDING);
    assert_near(summary->rows[2].edge_bytes[AQ_EDGE_GRADIENTS], 50 * 3000 / 32.0, ROUNDING);
}

TEST_OF_MODES(bytes_between_ranks_that_no_second_told_are_not_none)
{
    made_run untold = runs[1];
    untold.exchange_bytes = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        write_run(&plan, 1, seed, &untold);
    }
    const aq_compare_summary *summary = summarize();
    assert_true(isnan(summary->rows[1].edge_bytes[AQ_EDGE_GRADIENTS]));
    assert_near(summary->rows[0].edge_bytes[AQ_EDGE_GRADIENTS], 0, ROUNDING);
}

TEST_OF_MODES(a_rank_waits_for_gradients_and_for_samples)
{
    const aq_compare_row *row = &summarize()->rows[1];
    assert_near(row->rank_waits[0], 0.3, ROUNDING);  /* of 6 + 2 + 1 + 1 */
    assert_near(row->rank_waits[1], 0.75, ROUNDING); /* as it told last */
    assert_near(row->waiting_share, 0.75, ROUNDING);
    assert_true(isnan(row->rank_waits[2]));
}

TEST_OF_MODES(time_and_steps_to_the_score_are_apart_with_intervals)
{
    const aq_compare_summary *summary = summarize();
    const aq_compare_crossing *base = &summary->rows[0].crossing;
    const aq_compare_crossing *sync = &summary->rows[1].crossing;
    assert_near(sync->env_steps.mean / base->env_steps.mean, 1, ROUNDING);
    assert_near(sync->time_s.mean / base->time_s.mean, 0.5, 1e-5);
    assert_true(sync->time_s.ci95 > 0);
    assert_near(summary->rows[2].crossing.env_steps.mean / base->env_steps.mean, 0.75, ROUNDING);
}

TEST_OF_MODES(efficiency_is_measured_or_by_the_model)
{
    const aq_compare_summary *summary = summarize();
    /* 200 and 400 steps a second, beside twice 4000 / 60. */
    assert_near(summary->rows[0].efficiency, 1.5, ROUNDING);
    assert_near(summary->rows[1].efficiency, 3, ROUNDING);
    assert_false(aq_compare_scaling(summary, 1, 2).is_model);
    /* An actor makes 1000 steps a second and the learner trains for 3 ms a step: four make no more
     * than two. */
    aq_scaling at = aq_compare_scaling(summary, 0, 4);
    assert_true(at.is_model);
    assert_near(at.efficiency, 1.5 / 2, ROUNDING);
    /* Updates of 12 ms and 4 ms of exchange, which are three times as long among four ranks. */
    at = aq_compare_scaling(summary, 1, 4);
    assert_near(at.efficiency, 3 * (12.0 + 4) / (12 + 3 * 4), ROUNDING);
    assert_true(isnan(aq_compare_scaling(summary, 3, 4).efficiency));
}

TEST_OF_MODES(the_machine_is_that_of_the_runs)
{
    const aq_compare_summary *summary = summarize();
    assert_string_equal(summary->cpu, "A <fast> one");
    assert_int_equal(summary->cpus, 4);

    char dir[CLI_PATH_MAX];
    assert_succeeds(aq_compare_plan_run_dir(&plan, 1, 2, dir, sizeof(dir)));
    file_put_text(file_in(dir, "result.json"),
                  "{\"outcome\":\"finished\",\"cpu\":\"Another\",\"cpus\":3}");
    summary = summarize();
    assert_string_equal(summary->cpu, "several machines");
    assert_int_equal(summary->cpus, 3);
}

/* Two ranks and their two actors had to share three. */
TEST_OF_MODES(the_model_tells_nothing_of_processes_that_shared_processors)
{
    aq_compare_summary *summary = summarize();
    summary->cpus = 3;
    assert_true(isnan(aq_compare_scaling(summary, 1, 4).efficiency));
    assert_near(aq_compare_scaling(summary, 1, 2).efficiency, 3, ROUNDING);
    assert_true(isfinite(aq_compare_scaling(summary, 0, 4).efficiency));
}

/* The model's own updates are of a part of the networks, which says nothing of a whole one. */
TEST_OF_MODES(a_network_that_is_split_is_set_against_one_learner_alone)
{
    const made_run split = {"model", 10, 4000, 1000, 2, 1, 6, 1000, "finished"};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        write_run(&plan, 3, seed, &split);
    }
    aq_compare_summary *summary = summarize();
    summary->baseline = 3; /* without experience, the first */
    /* Updates of 12 ms, shared by two and by four, with 2 ms of exchange, three times as long
     * among four. */
    const aq_scaling at = aq_compare_scaling(summary, 3, 4);
    assert_true(at.is_model);
    assert_near(at.efficiency, 3 * (12.0 / 2 + 2) / (12.0 / 4 + 3 * 2) / 2, ROUNDING);
}

/* As many steps in three times the time, in one run of three. */
TEST_OF_MODES(shares_and_costs_are_over_whole_runs_however_long_each_took)
{
    aq_long_text words;
    made_run slow = runs[1];
    const double before = aq_compare_scaling(summarize(), 1, 4).efficiency;
    slow.wall_s *= 3;
    write_run(&plan, 1, 2, &slow);
    const aq_compare_summary *summary = summarize();
    assert_near(aq_compare_scaling(summary, 1, 4).efficiency / summary->rows[1].efficiency,
                before / 3, ROUNDING);
    aq_long_text_init(&words, 1 << 16);
    aq_compare_mode_words(summary, &words);
    aq_long_text_add(&words, "%c", '\0');
    assert_says((const char *)words.bytes.data, "of which gradients are 83 %"); /* 1 of 1.202 MB */
    aq_long_text_fini(&words);
}

/* async-1 was not run. */
TEST_OF_MODES(the_model_tells_nothing_where_one_alone_was_not_measured)
{
    assert_true(isnan(aq_compare_scaling(summarize(), 2, 4).efficiency));
}

TEST_OF_MODES(staleness_and_noise_are_of_the_whole_run)
{
    const aq_compare_row *row = &summarize()->rows[1];
    assert_near(row->noise_scale, 500, 1e-6);
    assert_near(row->gradient_cosine, 0.25, ROUNDING);
    assert_near(row->behind[0], 0.6, ROUNDING);
    assert_near(row->behind[2], 0.1, ROUNDING);
}

TEST_OF_MODES(the_report_holds_everything)
{
    static const char *const words[] = {"Scalability and efficiency:",
                                        "Convergence and stability:",
                                        "Use of resources:",
                                        "Which problems each suits:",
                                        "no &lt;such&gt; ranks",
                                        ", actors of ", /* each mode has its number */
                                        "(model)",
                                        "--learners 2",
                                        "How many versions",
                                        "<td>371.0 \u00b1 2.5</td>",
                                        "id=\"return-steps\""};
    const aq_compare_summary *summary = summarize();
    assert_succeeds(aq_compare_report_write(summary, NULL));
    const char *page = file_text(cli_path(state, "report.html"));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        assert_says(page, words[i]);
    }
    cli_assert_page("compare_modes.csv", file_text(cli_path(state, "compare.csv")));
    aq_buffer *json = file_bytes(cli_path(state, "compare.json"));
    assert_int_equal(aq_buffer_append(json, "\n", 2), 0);
    cli_assert_page("compare_modes.json", (const char *)json->data);
    assert_says(file_text(cli_path(state, "curves.csv")), "mode,seed,");
}

TEST_OF_MODES(the_terminal_shows_the_same_tables)
{
    assert_succeeds(aq_compare_table_print(summarize(), cli_print_begin()));
    cli_assert_page("compare_modes_table.txt", cli_print_end());
}

TEST_OF_MODES(words_come_from_the_figures)
{
    aq_long_text words;
    aq_long_text_init(&words, 1 << 16);
    aq_compare_mode_words(summarize(), &words);
    aq_long_text_add(&words, "%c", '\0');
    cli_assert_page("compare_modes_words.txt", (const char *)words.bytes.data);
    aq_long_text_fini(&words);
}

/* What sync waits for is its other rank. */
TEST_OF_MODES(ranks_that_wait_for_each_other_say_nothing_of_actors)
{
    aq_long_text words;
    aq_compare_summary *summary = summarize();
    summary->baseline = 1; /* without experience, the first */
    aq_long_text_init(&words, 1 << 16);
    aq_compare_mode_words(summary, &words);
    aq_long_text_add(&words, "%c", '\0');
    assert_null(strstr((const char *)words.bytes.data, "set the pace here"));
    aq_long_text_fini(&words);
}

TEST_OF_MODES(a_mean_of_some_seeds_is_none)
{
    aq_long_text words;
    char dir[CLI_PATH_MAX];
    assert_succeeds(aq_compare_plan_run_dir(&plan, 1, 2, dir, sizeof(dir)));
    file_put_text(file_in(dir, "metrics.jsonl"),
                  "{\"event\":\"end\",\"wall_s\":10,\"state\":\"budget\",\"env_steps\":4000,"
                  "\"learner_steps\":500}\n");
    const aq_compare_summary *summary = summarize();
    const aq_compare_row *row = &summary->rows[1];
    assert_int_equal(row->finished, SEEDS);
    assert_true(isnan(row->last.mean) && isnan(row->gradient_cosine));
    assert_near(row->wall_s, 10, ROUNDING);
    aq_long_text_init(&words, 1 << 16);
    aq_compare_mode_words(summary, &words);
    aq_long_text_add(&words, "%c", '\0');
    assert_says((const char *)words.bytes.data,
                "It was not evaluated for each seed, and the two are not compared.");
    assert_null(strstr((const char *)words.bytes.data, "nan"));
    aq_long_text_fini(&words);
}

TEST_OF_MODES(one_seed_tells_no_modes_apart)
{
    aq_long_text words;
    plan.seeds = 1;
    aq_long_text_init(&words, 1 << 16);
    aq_compare_mode_words(summarize(), &words);
    aq_long_text_add(&words, "%c", '\0');
    assert_says((const char *)words.bytes.data, "one seed does not tell whether by chance");
    assert_says((const char *)words.bytes.data, "do not say that it suits this one better");
    aq_long_text_fini(&words);
}

/*
 * Runs become curves: what a line of metrics says, what a resumed run forgets, which runs are of
 * one kind.
 */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/plot/run_groups.h"
#include "cli/plot/run_plot.h"
#include "cli/run/run_series.h"
#include "tests/support/config_kit.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static aq_run_series series; /* of the test */

TEST_ENDING(end_series, aq_run_series_fini);

static void read_series(void **state, const char *quantity, const char *text)
{
    file_put_text(cli_path(state, "metrics.jsonl"), text);
    assert_int_equal(aq_run_series_read(*state, &quantity, 1, &series, NULL), 0);
    at_end(end_series, &series);
}

/* A folder with that name, configuration and metrics. */
static void write_run(void **state, const char *name, const char *config, const char *metrics)
{
    const char *run = cli_path(state, name);
    cli_make_folder(run);
    file_put_text(file_in(run, "config.yaml"), config);
    file_put_text(file_in(run, "metrics.jsonl"), metrics);
}

/* ---- series --------------------------------------------------------------------------------- */

TEST_IN_FOLDER(a_quantity_is_read_from_the_lines_that_have_it)
{
    read_series(
        state, "loss",
        "{\"event\":\"progress\",\"wall_s\":1,\"env_steps\":10,\"learner_steps\":5,\"loss\":0.5}\n"
        "{\"event\":\"evaluation\",\"wall_s\":1.5,\"env_steps\":15,\"return_mean\":3}\n"
        "{\"event\":\"progress\",\"wall_s\":2,\"env_steps\":20,\"learner_steps\":9,\"loss\":null}\n"
        "no line of ours with \"loss\"\n"
        "{\"event\":\"progress\",\"wall_s\":3,\"env_steps\":30,\"learner_steps\":12,\"loss\":0."
        "25}");
    assert_int_equal(series.count, 1); /* the last line is not whole */
    assert_true(series.points[0].wall_s == 1 && series.points[0].env_steps == 10);
    assert_true(series.points[0].learner_steps == 5 && series.points[0].value == 0.5);
}

TEST_IN_FOLDER(a_quantity_within_objects_has_a_path)
{
    read_series(state, "replay/stored",
                "{\"wall_s\":1,\"env_steps\":10,\"replay\":{\"stored\":77},\"stored\":1}\n"
                "{\"wall_s\":2,\"env_steps\":20,\"stored\":1}\n");
    assert_int_equal(series.count, 1);
    assert_true(series.points[0].value == 77);
}

/* Each is as if it had been read alone: what came after a checkpoint is forgotten where a line of
 * its own, or one of progress, says so. */
TEST_IN_FOLDER(quantities_are_read_together_as_each_alone)
{
    static const char *const quantities[] = {"return", "loss", "replay/stored"};
    const char *text =
        "{\"wall_s\":1,\"env_steps\":10,\"learner_steps\":5,\"loss\":1,\"replay\":{\"stored\":7}}\n"
        "{\"wall_s\":2,\"env_steps\":20,\"return_mean\":3}\n"
        "{\"wall_s\":2,\"env_steps\":19,\"return_mean\":4}\n"
        "{\"wall_s\":3,\"env_steps\":30,\"learner_steps\":9,\"loss\":null,\"replay\":{\"stored\":8}"
        "}\n"
        "{\"wall_s\":2,\"env_steps\":25,\"learner_steps\":8,\"loss\":0.5}\n";
    aq_run_series together[3];
    read_series(state, "return", text);
    assert_int_equal(aq_run_series_read(*state, quantities, 3, together, NULL), 0);
    for (size_t i = 0; i < 3; i++) {
        aq_run_series_fini(&series);
        read_series(state, quantities[i], text);
        assert_int_equal(together[i].count, i == 1 ? 2 : 1);
        assert_int_equal(together[i].count, series.count);
        assert_memory_equal(together[i].points, series.points,
                            series.count * sizeof(*series.points));
        aq_run_series_fini(&together[i]);
    }
}

TEST_IN_FOLDER(evaluations_are_put_between_learner_steps)
{
    read_series(state, "return",
                "{\"wall_s\":1,\"env_steps\":100,\"learner_steps\":10}\n"
                "{\"wall_s\":1.5,\"env_steps\":150,\"return_mean\":1}\n"
                "{\"wall_s\":1.8,\"env_steps\":200,\"return_mean\":2}\n"
                "{\"wall_s\":2,\"env_steps\":200,\"learner_steps\":30}\n"
                "{\"wall_s\":2.5,\"env_steps\":250,\"return_mean\":3}\n");
    assert_int_equal(series.count, 3);
    assert_true(series.points[0].learner_steps == 20);
    assert_near(series.points[1].learner_steps, 26, 1e-9);
    assert_true(series.points[2].learner_steps == 30);
}

TEST_IN_FOLDER(evaluations_are_put_between_learner_steps_though_environments_stand_still)
{
    read_series(state, "return",
                "{\"wall_s\":1,\"env_steps\":100,\"learner_steps\":10}\n"
                "{\"wall_s\":1.5,\"env_steps\":100,\"return_mean\":1}\n"
                "{\"wall_s\":2,\"env_steps\":100,\"learner_steps\":30}\n");
    assert_int_equal(series.count, 1);
    assert_true(series.points[0].learner_steps == 20);
}

TEST_IN_FOLDER(what_a_resumed_run_had_done_after_its_checkpoint_is_forgotten)
{
    read_series(state, "return",
                "{\"wall_s\":1,\"env_steps\":100,\"return_mean\":1}\n"
                "{\"wall_s\":2,\"env_steps\":200,\"return_mean\":2}\n"
                "{\"wall_s\":3,\"env_steps\":300,\"return_mean\":3}\n"
                "{\"wall_s\":1.9,\"env_steps\":150,\"return_mean\":4}\n");
    assert_int_equal(series.count, 2);
    assert_true(series.points[0].value == 1 && series.points[1].value == 4);
}

/* The shard kept its steps and told of them before the first line. */
TEST_IN_FOLDER(what_a_resumed_run_lost_is_forgotten_though_its_steps_stay)
{
    read_series(state, "return",
                "{\"wall_s\":1,\"env_steps\":100,\"learner_steps\":10,\"return_mean\":1}\n"
                "{\"wall_s\":2,\"env_steps\":200,\"learner_steps\":20,\"return_mean\":2}\n"
                "{\"wall_s\":3,\"env_steps\":300,\"learner_steps\":30,\"return_mean\":3}\n"
                "{\"wall_s\":1.9,\"env_steps\":310,\"learner_steps\":12,\"return_mean\":4}\n"
                "{\"wall_s\":1.8,\"env_steps\":310,\"return_mean\":5}\n");
    assert_int_equal(series.count, 3);
    assert_true(series.points[0].value == 1 && series.points[1].value == 4);
    assert_true(series.points[1].wall_s == 1.9 && series.points[1].learner_steps == 12);
    assert_true(series.points[2].value == 5 && series.points[2].wall_s == 1.9);
}

/* A machine that lost its power may leave zeros behind; who goes on begins a new line. */
TEST_IN_FOLDER(zeros_in_a_line_are_the_end_of_no_other)
{
    static const char text[] = "{\"wall_s\":1,\"env_steps\":100,\"return_mean\":1}\n"
                               "{\"wall_s\":2,\0\0\0\n"
                               "{\"wall_s\":3,\"env_steps\":300,\"return_mean\":3}\n";
    static const char *const quantity = "return";
    file_put(cli_path(state, "metrics.jsonl"), text, sizeof(text) - 1);
    assert_succeeds(aq_run_series_read(*state, &quantity, 1, &series, &refusal));
    at_end(end_series, &series);
    assert_int_equal(series.count, 2);
    assert_true(series.points[1].value == 3);
}

TEST_IN_FOLDER(confirmations_and_versions_that_fell_back_are_no_points)
{
    read_series(state, "return",
                "{\"wall_s\":1,\"env_steps\":100,\"return_mean\":1,\"fell_back\":false}\n"
                "{\"wall_s\":2,\"env_steps\":200,\"return_mean\":500,\"fell_back\":true}\n"
                "{\"wall_s\":3,\"env_steps\":300,\"return_mean\":3,\"confirmed\":false}\n"
                "{\"wall_s\":4,\"env_steps\":400,\"return_mean\":4,\"confirmed\":true}\n");
    assert_int_equal(series.count, 2);
    assert_true(series.points[1].value == 3);
    assert_int_equal(series.fell_back, 1);
}

TEST_IN_FOLDER(a_missing_file_and_a_bad_name_are_refused)
{
    static const char *const quantities[] = {"loss", ""};
    assert_int_equal(aq_run_series_read(*state, quantities, 1, &series, &refusal), AQ_E_NOT_FOUND);
    assert_int_equal(aq_run_series_read(*state, quantities, 2, &series, &refusal), AQ_E_INVALID);
}

/* ---- groups --------------------------------------------------------------------------------- */

static aq_run_config config_of(const char *first, const char *second)
{
    aq_run_config config = config_defaults();
    config_set(&config, first);
    config_set(&config, second);
    return config;
}

static const char *const names[] = {"a", "b", "c", "d"};

TEST(runs_that_differ_in_their_seed_are_one_kind)
{
    aq_run_groups groups;
    const aq_run_config configs[] = {config_of("seed=1", "log.csv=no"),
                                     config_of("seed=2", "net.heartbeat_ms=100")};
    assert_int_equal(aq_run_groups_make(configs, names, 2, NULL, &groups, NULL), 0);
    assert_int_equal(groups.count, 1);
    assert_int_equal(groups.groups[0].run_count, 2);
    assert_string_equal(groups.groups[0].name, "gym:CartPole-v1");
    aq_run_groups_fini(&groups);
}

TEST(kinds_are_called_by_what_differs)
{
    aq_run_groups groups;
    const aq_run_config configs[] = {config_of("seed=1", "quantizer.format=int8"),
                                     config_of("seed=1", "quantizer.format=fp32"),
                                     config_of("seed=2", "quantizer.format=int8")};
    assert_int_equal(aq_run_groups_make(configs, names, 3, NULL, &groups, NULL), 0);
    assert_int_equal(groups.count, 2);
    assert_string_equal(groups.groups[0].name, "int8");
    assert_string_equal(groups.groups[1].name, "fp32");
    assert_int_equal(groups.group_of[2], 0);
    aq_run_groups_fini(&groups);
}

TEST(a_name_ends_between_two_settings)
{
    static const char *const many[] = {
        "learner.learning_rate=0.5", "learner.gradient_clip=3", "learner.tau=0.25",
        "learner.n_step=7",          "learner.hidden=8,8",      "learner.batch_size=16",
        "replay.capacity=1234567",   "replay.min_size=123456",  "limits.env_steps=1234567"};
    aq_run_groups groups;
    aq_run_config configs[] = {config_defaults(), config_defaults()};
    EACH_ROW(i, many) {
        config_set(&configs[1], many[i]);
    }
    assert_int_equal(aq_run_groups_make(configs, names, 2, NULL, &groups, NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        const char *name = groups.groups[i].name, *end = strstr(name, ", ...");
        assert_non_null(end);
        assert_string_equal(end, ", ...");
        assert_in_range(strlen(name), AQ_GROUP_NAME_BYTES / 2, AQ_GROUP_NAME_BYTES - 1);
    }
    assert_string_not_equal(groups.groups[0].name, groups.groups[1].name);
    aq_run_groups_fini(&groups);
}

TEST(two_settings_that_differ_are_both_in_the_name)
{
    aq_run_groups groups;
    const aq_run_config configs[] = {
        config_of("quantizer.format=int8", "learner.batch_size=32"),
        config_of("quantizer.format=fp32", "learner.batch_size=64"),
        config_of("quantizer.format=fp32", "learner.batch_size=32"),
    };
    assert_int_equal(aq_run_groups_make(configs, names, 3, NULL, &groups, NULL), 0);
    assert_int_equal(groups.count, 3);
    assert_string_equal(groups.groups[0].name, "batch_size 32, int8");
    aq_run_groups_fini(&groups);
    assert_int_equal(aq_run_groups_make(configs, names, 3, "learner.batch_size", &groups, NULL), 0);
    assert_int_equal(groups.count, 2);
    assert_string_equal(groups.groups[1].name, "batch_size 64");
    aq_run_groups_fini(&groups);
    assert_int_equal(
        aq_run_groups_make(configs, names, 3, "quantizer.format,learner.algorithm", &groups, NULL),
        0);
    assert_int_equal(groups.count, 2);
    assert_string_equal(groups.groups[1].name, "fp32, auto");
    aq_run_groups_fini(&groups);
    assert_int_equal(aq_run_groups_make(configs, names, 3, "run", &groups, NULL), 0);
    assert_int_equal(groups.count, 3);
    assert_string_equal(groups.groups[2].name, "c");
    aq_run_groups_fini(&groups);
}

TEST(an_unknown_setting_is_refused)
{
    aq_run_groups groups;
    const aq_run_config config = config_of("seed=1", "seed=1");
    assert_refused(aq_run_groups_make(&config, names, 1, "seed,learner.speed", &groups, &refusal),
                   AQ_E_INVALID, "'learner.speed'");
    assert_refused(aq_run_groups_make(&config, names, 1, "seed,", &groups, &refusal), AQ_E_INVALID,
                   "''");
}

/* ---- plots ---------------------------------------------------------------------------------- */

static const char *const returns_low = "{\"wall_s\":0,\"env_steps\":0,\"return_mean\":10}\n"
                                       "{\"wall_s\":7200,\"env_steps\":1000,\"return_mean\":20}\n";
static const char *const returns_high = "{\"wall_s\":0,\"env_steps\":0,\"return_mean\":14}\n"
                                        "{\"wall_s\":7200,\"env_steps\":1000,\"return_mean\":24}\n";

TEST_ENDING(end_text, aq_long_text_fini);

/* The picture, as a text, until the next one. */
static const char *picture_of(const aq_run_plot *plot)
{
    static aq_long_text out;
    aq_long_text_fini(&out);
    aq_long_text_init(&out, AQ_PLOT_BYTES_MAX);
    at_end(end_text, &out);
    aq_run_plot_draw(plot, &out);
    aq_long_text_add(&out, "%c", '\0');
    assert_int_equal(out.rc, 0);
    return (const char *)out.bytes.data;
}

TEST_IN_FOLDER(runs_of_one_kind_are_one_curve)
{
    const aq_run_plot_options options = {.y = "return"};
    aq_run_plots *plots = NULL;
    write_run(state, "a", "seed: 1\n", returns_low);
    write_run(state, "b", "seed: 2\n", returns_high);
    write_run(state, "c", "quantizer:\n  format: fp32\n", returns_low);
    const char *const runs[] = {cli_path(state, "a"), cli_path(state, "b"), cli_path(state, "c")};
    assert_int_equal(aq_run_plots_create(runs, 3, &options, 1, &plots, NULL), 0);
    const aq_run_plot *plot = aq_run_plots_at(plots, 0);
    assert_int_equal(plot->curve_count, 2);
    const aq_run_curve *int8 = &plot->curves[0], *fp32 = &plot->curves[1];
    assert_string_equal(int8->name, "int8");
    assert_int_equal(int8->run_count, 2);
    assert_true(fabs(int8->points[0].y - 12) < 1e-9);
    assert_true(fabs(fp32->points[0].y - 10) < 1e-9);
    assert_true(isfinite(int8->points[0].high) && !isfinite(fp32->points[0].high));
    assert_string_equal(plot->x_label, "environment steps");
    assert_says(picture_of(plot), "<title>fp32</title><polyline");
    assert_says(picture_of(plot), ">gym:CartPole-v1</text>");
    aq_run_plots_destroy(plots);
}

/* A second plot whose run has one point is along the same axis. */
TEST_IN_FOLDER(runs_whose_environments_stand_still_are_drawn_along_learner_steps)
{
    const aq_run_plot_options options[] = {
        {.y = "return"}, {.y = "loss"}, {.y = "return", .x = AQ_PLOT_X_ENV_STEPS}};
    aq_run_plots *plots = NULL;
    write_run(state, "a", "",
              "{\"wall_s\":1,\"env_steps\":100,\"return_mean\":3}\n"
              "{\"wall_s\":2,\"env_steps\":100,\"learner_steps\":1000,\"loss\":2}\n"
              "{\"wall_s\":3,\"env_steps\":100,\"return_mean\":7}\n"
              "{\"wall_s\":4,\"env_steps\":100,\"learner_steps\":3000}\n");
    const char *const runs[] = {cli_path(state, "a")};
    assert_int_equal(aq_run_plots_create(runs, 1, options, 3, &plots, NULL), 0);
    const aq_run_plot *plot = aq_run_plots_at(plots, 0);
    const aq_run_curve *curve = &plot->curves[0];
    assert_string_equal(plot->x_label, "learner steps");
    assert_in_range(curve->points[0].x, 500, 510);
    assert_near(curve->points[curve->count - 1].y, 7, 1e-9);
    assert_string_equal(aq_run_plots_at(plots, 1)->x_label, "learner steps");
    assert_string_equal(aq_run_plots_at(plots, 2)->x_label, "environment steps");
    aq_run_plots_destroy(plots);
}

/* A pipe gives its lines to the first who reads: a second look would wait for ever. */
TEST_IN_FOLDER(runs_are_read_once_for_all_plots)
{
    const aq_run_plot_options options[] = {{.y = "return"}, {.y = "loss"}};
    aq_run_plots *plots = NULL;
    write_run(state, "a", "", "");
    const char *const runs[] = {cli_path(state, "a")};
    const char *path = cli_path(state, "a/metrics.jsonl");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    const pid_t writer = fork();
    if (writer == 0) {
        file_put_text(path, "{\"wall_s\":1,\"env_steps\":5,\"learner_steps\":1,\"loss\":2}\n"
                            "{\"wall_s\":2,\"env_steps\":9,\"return_mean\":7}\n");
        _exit(0);
    }
    (void)alarm(60);
    assert_int_equal(aq_run_plots_create(runs, 1, options, 2, &plots, NULL), 0);
    (void)alarm(0);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    assert_near(aq_run_plots_at(plots, 0)->curves[0].points[0].y, 7, 1e-9);
    assert_near(aq_run_plots_at(plots, 1)->curves[0].points[0].y, 2, 1e-9);
    aq_run_plots_destroy(plots);
}

/* One run was solved at 500 steps; the other goes on at 20. */
TEST_IN_FOLDER(a_picture_says_what_became_of_runs_that_ended)
{
    aq_run_plot_options options = {.y = "return", .band = AQ_BAND_MINMAX, .smooth = 2};
    aq_run_plots *plots = NULL;
    write_run(state, "a", "seed: 1\n", returns_low);
    write_run(state, "b", "seed: 2\n",
              "{\"wall_s\":0,\"env_steps\":0,\"return_mean\":10}\n"
              "{\"wall_s\":9,\"env_steps\":400,\"return_mean\":700,\"fell_back\":true}\n"
              "{\"wall_s\":9,\"env_steps\":500,\"return_mean\":100}\n");
    const char *const runs[] = {cli_path(state, "a"), cli_path(state, "b")};
    assert_int_equal(aq_run_plots_create(runs, 2, &options, 1, &plots, NULL), 0);
    const aq_run_plot *plot = aq_run_plots_at(plots, 0);
    const aq_run_curve *curve = &plot->curves[0];
    assert_int_equal(curve->ended, 1);
    /* Smoothed by two: 15 where one ends, and 55 of the other carried on. */
    assert_near(curve->points[curve->count - 1].y, 35, 1e-9);
    const char *picture = picture_of(plot);
    assert_says(picture, "1 of 2 runs ended before others, and are carried on");
    assert_says(picture, "from the least to the greatest");
    assert_says(picture, "each point the mean of the last 2");
    assert_says(picture, "without 1 of 5 evaluations, whose versions fell back to fp32");
    aq_run_plots_destroy(plots);

    options.end = AQ_BAND_CUT;
    assert_int_equal(aq_run_plots_create(runs, 2, &options, 1, &plots, NULL), 0);
    plot = aq_run_plots_at(plots, 0);
    curve = &plot->curves[0];
    assert_true(curve->points[curve->count - 1].x < 500);
    assert_says(picture_of(plot), "where their curves are cut");
    aq_run_plots_destroy(plots);
}

/* It diverged before its first evaluation. */
TEST_IN_FOLDER(a_run_without_points_is_not_counted_as_drawn)
{
    const aq_run_plot_options options = {.y = "return", .band = AQ_BAND_MINMAX};
    aq_run_plots *plots = NULL;
    write_run(state, "a", "seed: 1\n", returns_low);
    write_run(state, "b", "seed: 2\n", "");
    const char *const runs[] = {cli_path(state, "a"), cli_path(state, "b")};
    assert_int_equal(aq_run_plots_create(runs, 2, &options, 1, &plots, NULL), 0);
    const aq_run_plot *plot = aq_run_plots_at(plots, 0);
    assert_int_equal(plot->curves[0].run_count, 1);
    assert_string_equal(plot->notes[1], "1 of 2 runs have no such figure, and are left out");
    aq_run_plots_destroy(plots);
}

static char skipped[256];

static void keep_skipped(const char *words)
{
    (void)snprintf(skipped, sizeof(skipped), "%s", words);
}

TEST_IN_FOLDER(folders_of_other_things_are_skipped_with_a_word)
{
    const aq_run_plot_options options = {.y = "return", .by = "run", .skip = keep_skipped};
    aq_run_plots *plots = NULL;
    cli_make_folder(cli_path(state, "notes"));
    write_run(state, "a", "seed: 1\n", returns_low);
    const char *const runs[] = {cli_path(state, "notes"), cli_path(state, "a")};
    assert_int_equal(aq_run_plots_create(runs, 2, &options, 1, &plots, NULL), 0);
    const aq_run_plot *plot = aq_run_plots_at(plots, 0);
    assert_says(skipped, "notes is no run folder");
    assert_int_equal(plot->curve_count, 1);
    assert_string_equal(plot->curves[0].name, runs[1]);
    aq_run_plots_destroy(plots);
    const char *const strays[] = {cli_path(state, "notes"), cli_path(state, "nowhere")};
    assert_refused(aq_run_plots_create(strays, 2, &options, 1, &plots, &refusal), AQ_E_NOT_FOUND,
                   "none of the folders");
    const aq_run_plot_options nameless = {.y = "", .by = "run", .skip = keep_skipped};
    const char *const twice[] = {runs[1], runs[1]};
    assert_refused(aq_run_plots_create(twice, 2, &nameless, 1, &plots, &refusal), AQ_E_INVALID,
                   "'' is no name of a quantity");
}

TEST_IN_FOLDER(long_times_are_in_minutes)
{
    const aq_run_plot_options options = {.y = "return", .x = AQ_PLOT_X_TIME};
    aq_run_plots *plots = NULL;
    write_run(state, "a", "", returns_low);
    const char *const runs[] = {cli_path(state, "a")};
    assert_int_equal(aq_run_plots_create(runs, 1, &options, 1, &plots, NULL), 0);
    const aq_run_plot *plot = aq_run_plots_at(plots, 0);
    assert_string_equal(plot->x_label, "time (min)");
    const aq_run_curve *curve = &plot->curves[0];
    assert_true(curve->points[curve->count - 1].x > 119 && curve->points[curve->count - 1].x < 120);
    aq_run_plots_destroy(plots);
}

/* The last point is at 120 minutes; the range ends at 90. */
TEST_IN_FOLDER(a_range_of_time_is_in_seconds)
{
    static const aq_plot_range range = {1800, 5400};
    const aq_run_plot_options options = {
        .y = "return", .x = AQ_PLOT_X_TIME, .x_axis.range = &range};
    aq_run_plots *plots = NULL;
    write_run(state, "a", "", returns_low);
    const char *const runs[] = {cli_path(state, "a")};
    assert_int_equal(aq_run_plots_create(runs, 1, &options, 1, &plots, NULL), 0);
    const aq_run_plot *plot = aq_run_plots_at(plots, 0);
    const char *picture = picture_of(plot);
    assert_says(picture, ">30</text>");
    assert_says(picture, ">90</text>");
    assert_null(strstr(picture, ">120</text>"));
    aq_run_plots_destroy(plots);
}

TEST_IN_FOLDER(a_folder_without_a_run_is_named)
{
    const aq_run_plot_options options = {.y = "return"};
    aq_run_plots *plots = NULL;
    const char *const runs[] = {cli_path(state, "nowhere")};
    assert_refused(aq_run_plots_create(runs, 1, &options, 1, &plots, &refusal), AQ_E_NOT_FOUND,
                   "nowhere");
}

TEST_IN_FOLDER(without_memory_there_is_no_plot)
{
    const aq_run_plot_options options[] = {{.y = "return"}, {.y = "loss"}};
    aq_run_plots *plots = NULL;
    int rc = AQ_E_NOMEM;
    write_run(state, "a", "seed: 1\n", returns_low);
    const char *const runs[] = {cli_path(state, "a")};
    EACH_ALLOCATION_FAILS(rc) {
        rc = aq_run_plots_create(runs, 1, options, 2, &plots, NULL);
    }
    aq_run_plots_destroy(plots);
}

/*
 * What a run came to: figures of the last status, and a policy that is judged afresh.
 */
#include "cli/train/next_steps.h"
#include "cli/train/train_report.h"
#include "common/wire/wire_policy.h"
#include "tests/support/config_kit.h"
#include "tests/support/file_kit.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/status_fixture.h"

static aq_run_config config_of(uint64_t seed)
{
    aq_run_config config = config_defaults();
    config.seed = seed;
    config.learner.algorithm = AQ_ALGORITHM_DQN;
    return config;
}

/* What a report lends, of the run in the test's folder. */
static const aq_train_options *options_of(void **state, bool quiet)
{
    static aq_train_options options;
    options.quiet = quiet;
    (void)snprintf(options.run_dir, sizeof(options.run_dir), "%s", (const char *)*state);
    return &options;
}

static aq_train_report report_of(void **state, const aq_run_config *config,
                                 const aq_train_result *result)
{
    aq_train_report report;
    assert_succeeds(
        aq_train_report_make(config, options_of(state, false), result, &report, &refusal));
    return report;
}

static void write_policy(void **state, uint64_t seed)
{
    cli_write_policy(cli_path(state, "policy.aq"), AQ_FORMAT_INT8_CHANNEL, seed);
}

/* ---- making it ----------------------------------------------------------------------------- */

TEST_IN_FOLDER(the_figures_are_those_of_the_last_status)
{
    aq_run_config config = config_of(5);
    status_fixture fixture;
    status_fixture_learner(&fixture);
    fixture.reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    aq_train_result result = {.status = &fixture.reply, .wall_s = 12.5, .restarts = 2};
    aq_train_report report = report_of(state, &config, &result);
    assert_int_equal(report.env_steps, fixture.learner.env_steps);
    assert_int_equal(report.learner_steps, fixture.learner.learner_steps);
    assert_int_equal(report.policy_versions, fixture.learner.policy_versions);
    assert_int_equal(report.broadcast_bytes, fixture.learner.broadcast_bytes);
    assert_int_equal(report.broadcast_bytes_fp32, fixture.learner.broadcast_bytes_fp32);
    assert_true(report.result->wall_s == 12.5);
    assert_int_equal(report.result->restarts, 2);
    assert_int_equal(report.state, AQ_RUN_SOLVED);
    assert_false(report.result->interrupted);
}

/* As the learner found them last; a status of an earlier moment says what the end does not. */
TEST_IN_FOLDER(why_it_did_not_learn_is_said_with_a_setting_to_try)
{
    aq_run_config config = config_of(5);
    status_fixture fixture;
    Actorq__V1__FindingStatus found = ACTORQ__V1__FINDING_STATUS__INIT, *all = &found;
    status_fixture_learner(&fixture);
    static char words[] = "values are large", setting[] = "learner.tau=0.005";
    found.words = words;
    found.setting = setting;
    fixture.learner.n_findings = 1;
    fixture.learner.findings = &all;
    aq_train_result result = {.status = &fixture.reply};
    aq_train_report report = report_of(state, &config, &result);
    aq_run_reasons_print(cli_print_begin(), &report.reasons);
    assert_string_equal(cli_print_end(), "  why        values are large\n"
                                         "             try learner.tau=0.005\n");
    file_put_text(cli_path(state, "metrics.jsonl"),
                  "{\"event\": \"end\", \"state\": \"budget\", \"findings\": "
                  "[{\"words\": \"few updates\", \"setting\": \"learner.batch_size=8\"}]}\n");
    report = report_of(state, &config, &result);
    const json_t *list = cli_json(aq_run_reasons_json(&report.reasons));
    assert_int_equal(json_array_size(list), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "words")),
                        "few updates");
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "setting")),
                        "learner.batch_size=8");
}

/* The last status may be from before the end, and there may be none at all. */
TEST_IN_FOLDER(the_last_words_of_the_learner_count_more_than_a_status)
{
    aq_run_config config = config_of(5);
    status_fixture fixture;
    Actorq__V1__PrecisionGapStatus gap = ACTORQ__V1__PRECISION_GAP_STATUS__INIT;
    status_fixture_learner(&fixture);
    gap.versions = 3;
    gap.episodes = 30;
    gap.mean = -1.5;
    gap.ci95 = 0.5;
    fixture.learner.precision_gap = &gap;
    fixture.reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    file_put_text(cli_path(state, "metrics.jsonl"),
                  "{\"event\": \"end\", \"wall_s\": 3.0, \"state\": \"solved\", "
                  "\"env_steps\": 70001, \"learner_steps\": 8001, \"policy_versions\": 91, "
                  "\"broadcast_bytes\": 1001, \"broadcast_bytes_fp32\": 4001, "
                  "\"precision_gap\": {\"versions\": 4}}\n");
    aq_train_result seen = {.status = &fixture.reply}, unseen = {.wall_s = 1};
    aq_train_result interrupted = {.status = &fixture.reply, .interrupted = true};
    const aq_train_report reports[] = {report_of(state, &config, &seen),
                                       report_of(state, &config, &unseen)};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(reports[i].state, AQ_RUN_SOLVED);
        assert_int_equal(reports[i].env_steps, 70001);
        assert_int_equal(reports[i].learner_steps, 8001);
        assert_int_equal(reports[i].policy_versions, 91);
        assert_int_equal(reports[i].broadcast_bytes, 1001);
        assert_int_equal(reports[i].broadcast_bytes_fp32, 4001);
        assert_int_equal(reports[i].gap_versions, 4);
    }
    aq_train_report report = report_of(state, &config, &interrupted); /* words of an earlier end */
    assert_int_equal(report.env_steps, fixture.learner.env_steps);
    assert_int_equal(report.gap_versions, 3);
    assert_int_equal(report.gap_episodes, 30);
    assert_true(report.gap_mean == -1.5 && report.gap_ci95 == 0.5);
    assert_int_not_equal(report.state, AQ_RUN_SOLVED);
}

TEST_IN_FOLDER(a_run_that_left_no_policy_has_no_return)
{
    aq_run_config config = config_of(5);
    aq_train_result result = {.interrupted = true};
    aq_train_report report = report_of(state, &config, &result);
    assert_int_equal(report.kept.episodes, 0);
    assert_true(isnan(report.kept.return_mean));
    assert_true(isnan(report.kept.return_std));
    assert_true(report.result->interrupted);
    assert_int_not_equal(report.state, AQ_RUN_SOLVED);
    const json_t *json = cli_json(aq_train_report_json(&report)); /* of the configuration */
    assert_string_equal(json_string_value(json_object_get(json, "algorithm")), "dqn");
    assert_string_equal(json_string_value(json_object_get(json, "precision")), "int8");
}

TEST_IN_FOLDER(the_policy_is_played_afresh_and_the_same_way_each_time)
{
    aq_run_config config = config_of(5), other = config_of(6);
    aq_train_result result = {.wall_s = 1};
    write_policy(state, 7);
    aq_train_report first = report_of(state, &config, &result);
    aq_train_report second = report_of(state, &config, &result);
    aq_train_report third = report_of(state, &other, &result);
    assert_true(first.kept.episodes > 0);
    assert_int_equal(first.kept.version, 31);
    assert_true(first.kept.return_mean >= 1 && first.kept.return_mean <= 500);
    assert_true(first.kept.return_mean == second.kept.return_mean);
    assert_true(first.kept.return_std == second.kept.return_std);
    assert_true(first.kept.return_mean !=
                third.kept.return_mean); /* another seed, other episodes */
}

/* The task of a configuration may be as it was typed. */
TEST_IN_FOLDER(a_state_that_is_counted_is_played_as_one_of_many)
{
    aq_run_config config = config_of(5);
    aq_train_result result = {.wall_s = 1};
    config_set(&config, "task=gym:FrozenLake-v1");
    cli_write_policy_of(cli_path(state, "policy.aq"), "gym:FrozenLake-v1?one_hot=bytes",
                        AQ_FORMAT_INT8_CHANNEL, 7);
    assert_true(report_of(state, &config, &result).kept.episodes > 0);
}

TEST_IN_FOLDER(the_same_version_is_played_in_fp32_over_the_same_episodes)
{
    aq_run_config config = config_of(5);
    aq_train_result result = {.wall_s = 1};
    write_policy(state, 7);
    assert_true(isnan(report_of(state, &config, &result).exact.return_mean)); /* it was not kept */
    cli_write_policy(cli_path(state, "policy.fp32.aq"), AQ_FORMAT_F32, 7);
    aq_train_report report = report_of(state, &config, &result);
    assert_true(report.exact.return_mean >= 1 && report.exact.return_mean <= 500);
    json_t *alike = aq_train_report_json(&report);
    assert_true(json_is_false(json_object_get(alike, "precisions_differ")));
    assert_true(json_number_value(json_object_get(alike, "return_fp32_mean")) ==
                report.exact.return_mean);
    report.exact.return_mean = report.kept.return_mean - 400;
    json_t *apart = aq_train_report_json(&report);
    assert_true(json_is_true(json_object_get(apart, "precisions_differ")));
    json_decref(alike);
    json_decref(apart);
}

TEST_IN_FOLDER(a_policy_that_is_damaged_is_named_and_the_rest_is_told)
{
    aq_run_config config = config_of(5);
    aq_train_result result = {.wall_s = 1};
    aq_train_report report;
    file_put_text(cli_path(state, "metrics.jsonl"),
                  "{\"event\": \"end\", \"state\": \"budget\", \"env_steps\": 70001}\n");
    write_policy(state, 7);
    file_flip(cli_path(state, "policy.aq"), -10);
    assert_refused(
        aq_train_report_make(&config, options_of(state, true), &result, &report, &refusal),
        AQ_E_CORRUPT, cli_path(state, "policy.aq"));
    assert_says(refusal.text, "the policy was not evaluated at the end");
    assert_int_equal(report.state, AQ_RUN_BUDGET);
    assert_int_equal(report.env_steps, 70001);
    assert_int_equal(report.kept.episodes, 0);
    assert_true(isnan(report.kept.return_mean));
}

/* ---- saying it ----------------------------------------------------------------------------- */

/* No line of what to try next is broken by a terminal. */
static void assert_short(const char *text)
{
    for (const char *line = strstr(text, "Try next"); *line != '\0';
         line += strcspn(line, "\n") + 1) {
        assert_in_range(strcspn(line, "\n"), 0, 100);
    }
}

/* What stands on standard output; valid until the next call. */
static const char *printed(const aq_train_report *made)
{
    static const aq_train_options options; /* none */
    aq_train_report named = *made;
    const aq_train_report *report = &named;
    named.run_dir = "runs/gym-CartPole-v1-20260131-120000-s123456789";
    static char text[8192];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    int real = dup(STDOUT_FILENO);
    assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
    aq_train_report_print(report);
    aq_next_steps_print(report, &options);
    fflush(stdout);
    assert_true(dup2(real, STDOUT_FILENO) >= 0);
    close(real);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    assert_short(text);
    return text;
}

static void assert_printed(const char *page, const aq_train_report *made)
{
    cli_assert_page(page, printed(made));
}

TEST_IN_FOLDER(as_json_it_has_every_figure_and_null_for_none)
{
    aq_run_config config = config_of(5);
    aq_train_result result = {.wall_s = 2.5, .restarts = 1};
    aq_train_report report = report_of(state, &config, &result);
    json_t *object = cli_json(aq_train_report_json(&report));
    FILE *out = cli_print_begin();
    assert_int_equal(json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(10)), 0);
    (void)fputc('\n', out);
    cli_assert_page("train_report.json", cli_print_end());
}

TEST_IN_FOLDER(a_solved_run_is_shown_with_its_policy)
{
    aq_run_config config = config_of(5);
    status_fixture fixture;
    status_fixture_learner(&fixture);
    fixture.reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    aq_train_result result = {.status = &fixture.reply, .wall_s = 90};
    write_policy(state, 7);
    aq_train_report report = report_of(state, &config, &result);
    assert_printed("train_solved.txt", &report);
}

TEST_IN_FOLDER(small_shares_and_gaps_are_not_told_as_nothing)
{
    aq_run_config config = config_of(5);
    aq_train_result result = {.wall_s = 3};
    aq_train_report report = report_of(state, &config, &result);
    report.policy_versions = 10000;
    report.policy_fallbacks = 2;
    report.gap_versions = report.gap_episodes = 4;
    report.gap_mean = 0.0042;
    report.gap_ci95 = 0.0031;
    const char *text = printed(&report);
    assert_says(text, "fallbacks  0.02 % of the versions");
    assert_says(text, "gap        +0.0042 +- 0.0031 against fp32");
    report.policy_fallbacks = 9960;
    assert_says(printed(&report), "fallbacks  99.6 % of the versions");
}

/* All other figures are of every life of the run. */
TEST_IN_FOLDER(a_resumed_run_tells_how_long_it_took_in_all)
{
    aq_run_config config = config_of(5);
    const aq_train_result result = {.wall_s = 5.25};
    file_put_text(cli_path(state, "metrics.jsonl"),
                  "{\"event\": \"end\", \"state\": \"solved\", \"wall_s\": 600.0}\n");
    aq_train_report report = report_of(state, &config, &result);
    assert_says(printed(&report), " after 5.2s; the whole run: 10m00s\n");
    report.run_s = 5;
    assert_says(printed(&report), " after 5.2s\n");
}

/* Of a run that came to `state`, and left no policy. */
static aq_train_report ended_report(void **state, const aq_run_config *config,
                                    enum aq_run_state end)
{
    static const aq_train_result result = {.wall_s = 3, .restarts = 4}; /* the report looks at it */
    aq_train_report report = report_of(state, config, &result);
    report.state = end;
    report.env_steps = 1002;
    return report;
}

TEST_IN_FOLDER(an_unsolved_run_says_how_to_go_on)
{
    aq_run_config config = config_of(5);
    config.limits.env_steps = 1000;
    config.learner.products = AQ_PRODUCTS_BF16;
    aq_train_report report = ended_report(state, &config, AQ_RUN_BUDGET);
    report.products = "fp32";
    assert_printed("train_unsolved.txt", &report);
    report.products = "bf16";
    report.state = AQ_RUN_RUNNING;
    const aq_train_result interrupted = {.wall_s = 3, .restarts = 4, .interrupted = true};
    report.result = &interrupted;
    report.env_steps = 900;
    assert_printed("train_interrupted.txt", &report);
}

TEST_IN_FOLDER(a_run_of_code_says_how_it_is_trusted_and_what_is_int8)
{
    aq_run_config config = config_of(5);
    aq_train_result result = {.wall_s = 3};
    write_policy(state, 7);
    aq_train_report report = report_of(state, &config, &result);
    report.state = AQ_RUN_STOPPED;
    report.kept.format = AQ_FORMAT_MIXED;     /* as of policies that draw */
    config.quantizer.format = AQ_FORMAT_INT4; /* since a resume: the policy is of before */
    (void)strcpy(config.task, "py:my_module:MyEnv");
    assert_printed("train_of_code.txt", &report);
}

TEST_IN_FOLDER(a_run_that_diverged_goes_on_with_shorter_steps)
{
    aq_run_config config = config_of(5);
    config.learner.learning_rate = 0.5;
    config.learner.critic_learning_rate = 0.25;
    aq_train_report report = ended_report(state, &config, AQ_RUN_DIVERGED);
    assert_printed("train_diverged.txt", &report);
}

TEST_IN_FOLDER(the_limits_that_a_run_came_to_are_known)
{
    aq_run_config config = config_of(5);
    aq_run_limit limits[AQ_RUN_LIMITS];
    config.limits.learner_steps = 70;
    config.limits.wall_s = 2.5;
    aq_train_report report = ended_report(state, &config, AQ_RUN_BUDGET);
    assert_int_equal(aq_train_report_reached(&report, limits), 1);
    assert_string_equal(limits[0].key, "limits.wall_s");
    report.learner_steps = 70;
    assert_int_equal(aq_train_report_reached(&report, limits), 2);
    assert_string_equal(limits[0].key, "limits.learner_steps");
}

/* As of a network whose last layer, which stays in fp32, is its only one. */
TEST_IN_FOLDER(where_nothing_is_quantized_no_other_precision_is_to_be_tried)
{
    aq_run_config config = config_of(5);
    aq_train_result result = {.wall_s = 3};
    cli_write_policy(cli_path(state, "policy.aq"), AQ_FORMAT_F32, 7);
    aq_train_report report = report_of(state, &config, &result);
    assert_null(strstr(printed(&report), "quantizer.format"));
    report.policy_fallbacks = 1; /* of which it may be one */
    assert_says(printed(&report), "quantizer.format=fp32");

    config.quantizer.format = 1;
    report = report_of(state, &config, &result);
    assert_says(printed(&report), "quantizer.format=int8");
    config.learner.algorithm = AQ_ALGORITHM_PPO;
    const aq_layer_spec last = aq_layer_linear(4, 2, AQ_ACTIVATION_NONE);
    const aq_snapshot *other = cli_policy(AQ_FORMAT_F32, 7);
    const aq_net_spec spec = net_of_layers(&last, 1);
    assert_succeeds(aq_policy_file_write(
        cli_path(state, "policy.aq"), policy_of(&spec, AQ_HEAD_ARGMAX, other->task, &other->schema),
        &refusal));
    report = report_of(state, &config, &result);
    assert_null(strstr(printed(&report), "quantizer.format"));
}

TEST_IN_FOLDER(the_other_precision_is_what_to_try_next)
{
    aq_run_config config = config_of(5);
    aq_train_result result = {.wall_s = 3};
    write_policy(state, 7);
    aq_train_report report = report_of(state, &config, &result);
    report.state = AQ_RUN_STOPPED;
    config.learner.qat_bits = 4;
    (void)strcpy(config.quantizer.layer_formats, "0:fp32");
    assert_printed("train_of_int8.txt", &report);
    config.quantizer.format = 1;
    config.learner.qat_bits = 0;
    config.quantizer.layer_formats[0] = '\0';
    assert_printed("train_of_fp32.txt", &report);
}

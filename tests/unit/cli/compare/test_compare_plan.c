/*
 * The plan of a comparison: precisions, presets, order, and what is kept of it.
 */
#include "cli/compare/compare_plan.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static aq_compare_plan make_plan(const char *dir, const char *precisions)
{
    aq_compare_plan plan = {.seeds = 3, .seed_first = 5, .threshold = NAN};
    aq_settings_init(aq_run_config_table(), &plan.config);
    (void)snprintf(plan.config.preset, sizeof(plan.config.preset), "none");
    (void)snprintf(plan.dir, sizeof(plan.dir), "%s", dir);
    assert_int_equal(aq_compare_request_names(&plan.request, precisions, NULL), 0);
    assert_int_equal(aq_compare_plan_arms(&plan, NULL), 0);
    return plan;
}

TEST_IN_FOLDER(precisions_are_taken_in_their_order)
{
    aq_compare_plan plan = make_plan("d", "fp32,int8-tensor,int8");
    assert_int_equal(plan.arm_count, 3);
    assert_string_equal(plan.arms[1].name, "int8-tensor");
}

TEST_IN_FOLDER(lists_that_are_none_are_refused)
{
    static const char *const texts[] = {"",
                                        "fp32,",
                                        ",fp32",
                                        "fp32,,int8",
                                        "fp32,fp32",
                                        "../int8",
                                        "a name that is much too long for any precision"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        aq_compare_request request = {0};
        assert_refused(aq_compare_request_names(&request, texts[i], &refusal), AQ_E_INVALID, "");
    }
}

TEST_IN_FOLDER(each_round_begins_with_another_precision)
{
    aq_compare_plan plan = make_plan("d", "fp32,fp16,int8");
    size_t first[3] = {0}, all[3] = {0};
    for (uint64_t round = 0; round < 3; round++) {
        first[aq_compare_plan_turn(&plan, round, 0)]++;
        for (size_t turn = 0; turn < 3; turn++) {
            all[aq_compare_plan_turn(&plan, round, turn)]++;
        }
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(first[i], 1);
        assert_int_equal(all[i], 3);
    }
}

TEST_IN_FOLDER(runs_differ_in_format_and_seed_alone)
{
    aq_run_config a, b;
    aq_compare_plan plan = make_plan("d", "fp32,int8");
    assert_int_equal(aq_compare_plan_config(&plan, 0, 5, &a, NULL), 0);
    assert_int_equal(aq_compare_plan_config(&plan, 1, 6, &b, NULL), 0);
    assert_int_equal(aq_run_config_format(&a), AQ_FORMAT_F32);
    assert_int_equal(aq_run_config_format(&b), AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(b.seed, 6);
    b.quantizer.format = a.quantizer.format;
    b.seed = a.seed;
    assert_memory_equal(&a, &b, sizeof(a));
}

TEST_IN_FOLDER(bits_are_of_the_precisions_that_have_some)
{
    const aq_schema schema = {.obs = {.kind = AQ_SPACE_BOX}, .action = {.kind = AQ_SPACE_DISCRETE}};
    aq_run_config config;
    aq_compare_plan plan = make_plan("d", "fp32,bf16,int8");
    plan.config.quantizer.bits = plan.config.learner.qat_bits = 6;
    assert_succeeds(aq_compare_plan_arms(&plan, &refusal));
    assert_succeeds(aq_compare_plan_check(&plan, &schema, &refusal));
    assert_succeeds(aq_compare_plan_config(&plan, 2, 5, &config, &refusal));
    assert_int_equal(config.quantizer.bits, 6);
    assert_int_equal(config.learner.qat_bits, 6);

    /* Not of integers that have their own; but of any in which a layer has some. */
    static const struct {
        const char *layer_formats;
        uint64_t bits[3];
    } rows[] = {{"", {8, 8, 6}}, {"0:int8-tensor", {6, 6, 6}}, {"0:int4", {8, 8, 6}}};
    EACH_ROW(i, rows) {
        plan = make_plan("d", "fp32,int4,int8");
        plan.config.quantizer.bits = 6;
        (void)strcpy(plan.config.quantizer.layer_formats, rows[i].layer_formats);
        assert_succeeds(aq_compare_plan_arms(&plan, &refusal));
        assert_succeeds(aq_compare_plan_check(&plan, &schema, &refusal));
        for (size_t arm = 0; arm < 3; arm++) {
            assert_succeeds(aq_compare_plan_config(&plan, arm, 5, &config, &refusal));
            assert_int_equal(config.quantizer.bits, rows[i].bits[arm]);
        }
    }
}

TEST_IN_FOLDER(no_run_ends_for_being_good)
{
    aq_run_config config;
    double threshold;
    aq_compare_plan plan = make_plan("d", "int8");
    assert_int_equal(aq_compare_plan_config(&plan, 0, 1, &config, NULL), 0);
    assert_int_equal(aq_run_config_threshold(&config, 475, &threshold), 0);
    assert_true(threshold >= 1e200);
}

TEST_IN_FOLDER(a_precision_that_there_is_not_is_said)
{
    aq_run_config config;
    aq_compare_plan plan = make_plan("d", "int3");
    assert_refused(aq_compare_plan_config(&plan, 0, 1, &config, &refusal), AQ_E_INVALID, "int3");
}

TEST_IN_FOLDER(every_precision_is_checked_before_the_first_run)
{
    const aq_schema schema = {.obs = {.kind = AQ_SPACE_BOX}, .action = {.kind = AQ_SPACE_DISCRETE}};
    aq_compare_plan plan = make_plan("d", "fp32,int8");
    assert_succeeds(aq_compare_plan_check(&plan, &schema, &refusal));
    plan = make_plan("d", "fp32,int8,int3");
    assert_refused(aq_compare_plan_check(&plan, &schema, &refusal), AQ_E_INVALID, "precision int3");
    plan = make_plan("d", "int8,int4");
    plan.config.learner.qat_bits = 8;
    assert_refused(aq_compare_plan_check(&plan, &schema, &refusal), AQ_E_INVALID, "precision int4");
}

TEST_IN_FOLDER(a_plan_is_read_back_as_it_was_written)
{
    aq_compare_plan plan = make_plan(cli_path(state, "."), "fp32,int8"), again;
    plan.threshold = 123.456;
    plan.config.learner.batch_size = 96;
    (void)snprintf(plan.command, sizeof(plan.command), "actorq compare 'x \"y'");
    assert_int_equal(aq_compare_plan_write(&plan, NULL), 0);
    assert_int_equal(aq_compare_plan_read(plan.dir, &again, NULL), 0);
    assert_int_equal(again.arm_count, 2);
    assert_string_equal(again.arms[1].name, "int8");
    assert_int_equal(again.seeds, 3);
    assert_int_equal(again.seed_first, 5);
    assert_true(again.threshold == 123.456);
    assert_string_equal(again.command, plan.command);
    assert_int_equal(again.config.learner.batch_size, 96);
}

TEST_IN_FOLDER(a_folder_without_a_plan_is_said)
{
    aq_compare_plan plan;
    assert_refused(aq_compare_plan_read(cli_path(state, "."), &plan, &refusal), AQ_E_NOT_FOUND,
                   "no comparison");
}

TEST_IN_FOLDER(a_damaged_plan_is_refused)
{
    static const char *const texts[] = {
        "", "{}", "{\"preset\":\"none\",\"precisions\":[],\"seeds\":1,\"seed_first\":1}",
        "{\"preset\":\"none\",\"precisions\":[\"fp32\"],\"seeds\":0,\"seed_first\":1}",
        "{\"preset\":\"none\",\"precisions\":[7],\"seeds\":1,\"seed_first\":1}"};
    aq_compare_plan plan;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        file_put_text(cli_path(state, "plan.json"), texts[i]);
        assert_int_equal(aq_compare_plan_read(cli_path(state, "."), &plan, NULL), AQ_E_CORRUPT);
    }
}

TEST_IN_FOLDER(a_plan_of_another_version_is_refused)
{
    aq_compare_plan plan;
    file_put_text(cli_path(state, "plan.json"),
                  "{\"version\":2,\"preset\":\"none\",\"precisions\":[\"fp32\"],\"seeds\":1,"
                  "\"seed_first\":1}");
    assert_refused(aq_compare_plan_read(cli_path(state, "."), &plan, &refusal), AQ_E_VERSION,
                   "plan.json: of version 2; this program reads 1");
}

TEST_IN_FOLDER(modes_and_their_numbers_are_read_back)
{
    aq_compare_plan plan = make_plan(cli_path(state, "."), "fp32"), again;
    plan.request = (aq_compare_request){.subject = AQ_COMPARE_MODES, .parallel = 3};
    assert_succeeds(aq_compare_request_names(&plan.request, "sync,async", &refusal));
    assert_succeeds(aq_compare_request_scales(&plan.request, "1,2", &refusal));
    assert_succeeds(aq_compare_plan_write(&plan, &refusal));
    assert_succeeds(aq_compare_plan_read(plan.dir, &again, &refusal));
    assert_memory_equal(&again.request, &plan.request, sizeof(plan.request));
    assert_int_equal(again.arm_count, 6);
    assert_string_equal(again.arms[5].name, "async-2");
}

TEST_IN_FOLDER(of_modes_one_is_enough)
{
    const aq_schema schema = {.obs = {.kind = AQ_SPACE_BOX}, .action = {.kind = AQ_SPACE_DISCRETE}};
    aq_compare_plan plan = make_plan("d", "fp32,int8,int3");
    plan.request.subject = AQ_COMPARE_MODES;
    assert_succeeds(aq_compare_plan_check(&plan, &schema, &refusal));
    plan = make_plan("d", "int3");
    plan.request.subject = AQ_COMPARE_MODES;
    assert_refused(aq_compare_plan_check(&plan, &schema, &refusal), AQ_E_INVALID, "mode int3");
}

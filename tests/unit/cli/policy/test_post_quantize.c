/*
 * A policy that is quantized after training says what that cost.
 */
#include "cli/policy/post_quantize.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { ROWS = 300, INPUTS = 4 };

static float measured[ROWS * INPUTS], ranged[ROWS * INPUTS];

static aq_post_quantize_obs make_obs(void)
{
    aq_rng rng = rng_of(1, 0);
    for (size_t i = 0; i < ROWS * INPUTS; i++) {
        measured[i] = (float)aq_rng_normal(&rng);
        ranged[i] = (float)aq_rng_normal(&rng);
    }
    return (aq_post_quantize_obs){
        .measured = measured, .ranged = ranged, .measured_rows = ROWS, .ranged_rows = ROWS};
}

TEST_ENDING(end_snapshot, aq_snapshot_unref);

static aq_snapshot *make(const aq_post_quantize_plan *plan)
{
    aq_snapshot *exact = cli_policy(AQ_FORMAT_F32, 7);
    aq_snapshot *made = NULL;
    const aq_post_quantize_obs obs = make_obs();
    assert_succeeds(aq_post_quantize(exact, plan, &obs, &made, &refusal));
    at_end(end_snapshot, made);
    assert_int_equal(made->version, exact->version);
    assert_int_equal(made->run_id, exact->run_id);
    return made;
}

TEST(the_error_is_in_the_policy)
{
    const aq_post_quantize_plan plan = {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL}};
    aq_snapshot *made = make(&plan);
    assert_int_equal(made->quant_error.rows, ROWS);
    assert_true(made->quant_error.output_rms > 0.0f);
    assert_true(made->quant_error.output_max >= made->quant_error.output_rms);
    assert_true(made->layers[0].input_scale == 0.0f);
}

TEST(fewer_bits_cost_more)
{
    float rms[3];
    const uint32_t bits[] = {8, 5, 3};
    for (size_t i = 0; i < 3; i++) {
        const aq_post_quantize_plan plan = {
            .quantize = {.format = AQ_FORMAT_INT8_CHANNEL, .bits = bits[i]}};
        aq_snapshot *made = make(&plan);
        rms[i] = made->quant_error.output_rms;
    }
    assert_true(rms[0] < rms[1]);
    assert_true(rms[1] < rms[2]);
}

TEST(static_activations_have_scales)
{
    for (int method = AQ_RANGE_NONE + 1; method < AQ_RANGE_METHOD_END; method++) {
        const aq_post_quantize_plan plan = {
            .quantize = {.format = AQ_FORMAT_INT8_CHANNEL},
            .static_activations = true,
            .range_method = (enum aq_range_method)method,
        };
        aq_snapshot *made = make(&plan);
        for (uint32_t i = 0; i < made->spec.layer_count; i++) {
            assert_true(made->layers[i].input_scale > 0.0f);
        }
    }
}

TEST(layers_may_differ)
{
    aq_post_quantize_plan plan = {.quantize = {.format = AQ_FORMAT_INT4}};
    plan.quantize.layer_formats[2] = AQ_FORMAT_F32;
    aq_snapshot *made = make(&plan);
    assert_int_equal(made->layers[0].format, AQ_FORMAT_INT4);
    assert_int_equal(made->layers[2].format, AQ_FORMAT_F32);
}

TEST(what_the_quantizer_refuses_is_told)
{
    aq_snapshot *exact = cli_policy(AQ_FORMAT_F32, 7);
    aq_snapshot *made = NULL;
    const aq_post_quantize_obs obs = make_obs();
    const aq_post_quantize_plan plan = {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL, .bits = 9}};
    assert_refused(aq_post_quantize(exact, &plan, &obs, &made, &refusal), AQ_E_INVALID, "9 bits");
    assert_null(made);
}

TEST(every_failed_allocation_is_survived)
{
    aq_snapshot *exact = cli_policy(AQ_FORMAT_F32, 7);
    const aq_post_quantize_obs obs = make_obs();
    const aq_post_quantize_plan plan = {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL},
                                        .static_activations = true,
                                        .range_method = AQ_RANGE_PERCENTILE};
    int rc = AQ_E_NOMEM;
    EACH_ALLOCATION_FAILS(rc) {
        aq_snapshot *made = NULL;
        rc = aq_post_quantize(exact, &plan, &obs, &made, &refusal);
        assert_true(rc == 0 || refusal.text[0] != '\0');
        aq_snapshot_unref(made);
    }
}

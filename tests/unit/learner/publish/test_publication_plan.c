/*
 * What the settings come to for a network: formats by layer, and what follows from the rest.
 */
#include "common/config/run_rules.h"
#include "learner/publish/publication.h"
#include "tests/support/config_kit.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"

static aq_run_config config_of(const char *const *assignments)
{
    aq_run_config config = config_defaults();
    for (size_t i = 0; assignments[i] != NULL; i++) {
        config_set(&config, assignments[i]);
    }
    assert_int_equal(aq_run_rules_check(&config, NULL), 0);
    return config;
}

/* 4-8-norm-8-norm-3-dueling: three layers that may have a format. */
static aq_net_spec network(void)
{
    const aq_layer_spec layers[] = {
        aq_layer_linear(4, 8, AQ_ACTIVATION_NONE), aq_layer_norm(8, AQ_ACTIVATION_RELU),
        aq_layer_linear(8, 8, AQ_ACTIVATION_NONE), aq_layer_norm(8, AQ_ACTIVATION_RELU),
        aq_layer_linear(8, 3, AQ_ACTIVATION_NONE), aq_layer_dueling(2, 1)};
    return net_of(layers);
}

/* Up to two assignments; NULL: none. */
static int plan_of(const char *first, const char *second, aq_publication_config *ret_plan,
                   aq_error *error)
{
    const aq_run_config config = config_of((const char *const[]){first, second, NULL});
    const aq_net_spec spec = network();
    return aq_publication_plan(&config, &spec, 5, ret_plan, error);
}

static aq_publication_config planned(const char *first, const char *second)
{
    aq_publication_config plan;
    assert_succeeds(plan_of(first, second, &plan, &refusal));
    return plan;
}

TEST(the_defaults_are_int8_with_changes)
{
    const aq_publication_config plan = planned("learner.algorithm=dqn", NULL);
    assert_int_equal(plan.plan.format, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(plan.plan.bits, 8);
    assert_false(plan.plan.paper);
    assert_int_equal(plan.range_method, 0);
    assert_int_equal(plan.full_period, 32);
    assert_int_equal(plan.error_rows, 256);
    assert_int_equal(plan.cpu_flags, 5);
    for (uint32_t i = 0; i < AQ_NET_LAYERS_MAX; i++) {
        assert_int_equal(plan.plan.layer_formats[i], 0);
    }
}

TEST(layers_are_counted_that_may_have_a_format)
{
    const aq_publication_config plan =
        planned("quantizer.layer_formats=0:fp32,1:int4,-1:bf16", NULL);
    const uint32_t expected[] = {AQ_FORMAT_F32, 0, AQ_FORMAT_INT4, 0, AQ_FORMAT_BF16, 0};
    assert_memory_equal(plan.plan.layer_formats, expected, sizeof(expected));
}

TEST(a_layer_that_normalizes_is_fp32_unless_it_is_said_otherwise)
{
    aq_publication_config plan = planned("learner.normalize_obs=true", NULL);
    assert_int_equal(plan.plan.layer_formats[0], AQ_FORMAT_F32);
    assert_int_equal(plan.plan.layer_formats[2], 0);
    plan = planned("learner.normalize_obs=true", "quantizer.layer_formats=0:int8");
    assert_int_equal(plan.plan.layer_formats[0], AQ_FORMAT_INT8_CHANNEL);
}

TEST(a_first_layer_is_bf16_where_actions_are_numbers)
{
    static const struct {
        const char *first, *second;
        uint32_t format;
    } rows[] = {
        {"learner.algorithm=d4pg", NULL, AQ_FORMAT_BF16},
        {"learner.algorithm=td3", "quantizer.format=int4", AQ_FORMAT_BF16},
        {"learner.algorithm=sac", "quantizer.layer_formats=-1:int8", AQ_FORMAT_BF16},
        {"learner.algorithm=dqn", NULL, 0},
        {"learner.algorithm=td3", "quantizer.layer_formats=0:int8", AQ_FORMAT_INT8_CHANNEL},
        {"learner.algorithm=td3", "learner.qat_bits=8", 0}, /* it is trained for its levels */
        {"learner.algorithm=td3", "quantizer.format=fp16", 0},
        {"quantizer.format=int8-tensor", "quantizer.formula=paper", 0},
        {"quantizer.format=int8", "quantizer.formula=paper", AQ_FORMAT_BF16}, /* is not applied */
    };
    EACH_ROW(i, rows) {
        const aq_publication_config plan = planned(rows[i].first, rows[i].second);
        assert_int_equal(plan.plan.layer_formats[0], rows[i].format);
        assert_int_equal(plan.plan.layer_formats[2], 0);
    }
}

/* Pixels are all of one range: one scale suits them. */
TEST(a_first_layer_that_is_a_convolution_is_as_the_others)
{
    const aq_conv_shape shape = {4, 4, 1, 2, 3, 1, 0};
    const aq_layer_spec layers[] = {aq_layer_conv2d(&shape, AQ_ACTIVATION_RELU),
                                    aq_layer_linear(8, 8, AQ_ACTIVATION_RELU),
                                    aq_layer_linear(8, 3, AQ_ACTIVATION_NONE)};
    const uint32_t expected[] = {0, 0, AQ_FORMAT_F32};
    const aq_run_config config = config_of((const char *const[]){"learner.algorithm=sac", NULL});
    const aq_net_spec spec = net_of(layers);
    aq_publication_config plan;
    assert_succeeds(aq_publication_plan(&config, &spec, 5, &plan, &refusal));
    assert_memory_equal(plan.plan.layer_formats, expected, sizeof(expected));
}

/* Whether it has a head for gSDE, its arrays say: choices have none, nor has sac. */
TEST(a_last_layer_is_fp32_where_it_gives_what_is_drawn_by)
{
    static const struct {
        const char *first, *second;
        uint32_t arrays; /* of three that a head for gSDE has */
        uint32_t format;
    } rows[] = {
        {"learner.algorithm=sac", NULL, 0, AQ_FORMAT_F32},
        {"learner.algorithm=sac", "learner.gsde=true", 0, AQ_FORMAT_F32},
        {"learner.algorithm=ppo", NULL, 1, AQ_FORMAT_F32},
        {"learner.algorithm=ppo", "learner.gsde=true", 0, AQ_FORMAT_F32},
        {"learner.algorithm=ppo", "learner.gsde=true", 3, 0},
        {"learner.algorithm=td3", "learner.gsde=true", 0, 0},
    };
    EACH_ROW(i, rows) {
        aq_run_config config = config_defaults();
        aq_net_spec spec = network();
        aq_publication_config plan;
        config_set(&config, rows[i].first);
        if (rows[i].second != NULL) {
            config_set(&config, rows[i].second);
        }
        spec.array_count = rows[i].arrays;
        assert_succeeds(aq_publication_plan(&config, &spec, 5, &plan, &refusal));
        assert_int_equal(plan.plan.layer_formats[4], rows[i].format);
    }
}

TEST(a_layer_that_is_not_there_is_refused)
{
    static const char *const bad[] = {"quantizer.layer_formats=3:fp32",
                                      "quantizer.layer_formats=-4:fp32"};
    EACH_ROW(i, bad) {
        aq_publication_config plan = {.error_rows = 4711};
        assert_refused(plan_of(bad[i], NULL, &plan, &refusal), AQ_E_INVALID, "0 to 2 or -3 to -1");
        assert_int_equal(plan.error_rows, 4711);
    }
}

TEST(what_is_trained_for_is_published)
{
    assert_int_equal(planned("learner.qat_bits=4", NULL).plan.bits, 4);
    assert_int_equal(planned("quantizer.bits=6", NULL).plan.bits, 6);
}

TEST(as_many_weights_are_kept_as_it_is_said)
{
    assert_true(planned("quantizer.density=0.25", NULL).plan.density == 0.25f);
}

TEST(ranges_count_where_activations_are_static)
{
    static const struct {
        const char *text;
        uint32_t method;
    } rows[] = {{"quantizer.ranges=min-max", AQ_RANGE_MIN_MAX},
                {"quantizer.ranges=moving-average", AQ_RANGE_MOVING_AVERAGE},
                {"quantizer.ranges=percentile", AQ_RANGE_PERCENTILE}};
    EACH_ROW(i, rows) {
        assert_int_equal(planned(rows[i].text, "quantizer.activations=static").range_method,
                         rows[i].method);
    }
}

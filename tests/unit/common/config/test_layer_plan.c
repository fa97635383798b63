/*
 * Whether a run publishes levels at all: of policies that draw, a lone layer is fp32 on purpose.
 */
#include "common/config/layer_plan.h"

#include "common/base/parse.h"
#include "tests/support/test.h"

static const aq_layer_spec layer = {.kind = AQ_LAYER_LINEAR, .inputs = 4, .outputs = 4};

TEST(what_is_quantized_is_told_of_the_layers_that_there_are)
{
    static const struct {
        enum aq_algorithm algorithm;
        const char *layer_formats;
        uint32_t layers;
        bool wanted;
    } rows[] = {
        {AQ_ALGORITHM_DQN, "", 1, true},  {AQ_ALGORITHM_DQN, "0:fp32", 1, false},
        {AQ_ALGORITHM_PPO, "", 1, false}, {AQ_ALGORITHM_PPO, "0:int8", 1, true},
        {AQ_ALGORITHM_PPO, "", 2, true},  {AQ_ALGORITHM_PPO, "0:fp32", 2, false},
    };
    EACH_ROW(i, rows) {
        const aq_net_spec spec = {.layer_count = rows[i].layers, .layers = {layer, layer}};
        aq_run_config config;
        aq_settings_init(aq_run_config_table(), &config);
        config.learner.algorithm = rows[i].algorithm;
        assert_int_equal(
            aq_text_set(config.quantizer.layer_formats, AQ_RUN_TEXT_MAX, rows[i].layer_formats), 0);
        assert_int_equal(aq_layer_plan_quantizes(&config, &spec), rows[i].wanted);
    }
}

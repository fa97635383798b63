/*
 * Hidden layers: the networks that settings make.
 */
#include "learner/nn/hidden_layers.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

static const aq_space obs = {.kind = AQ_SPACE_BOX, .rank = 1, .shape = {7}};

TEST(settings_make_networks)
{
    static const struct {
        const char *settings[3];
        const char *want; /* of a critic where learner.critic_hidden is set */
    } rows[] = {
        {{"learner.hidden="}, "7-3"},
        {{"learner.hidden=64,32", "learner.activation=tanh"}, "7-64t-32t-3"},
        {{"learner.hidden=64,32", "learner.norm=true"}, "7-64-normr-32-normr-3"},
        {{"learner.hidden=64,32", "learner.norm_first=true"}, "7-64-normt-32r-3"},
        {{"learner.hidden=simba:16x1"}, "7-16-norm-64r-16-add(1,4)-norm-3"},
        {{"learner.hidden=simba:8x2", "learner.norm=true", "learner.norm_first=true"},
         "7-8-norm-32r-8-add(1,4)-norm-32r-8-add(5,8)-norm-3"},
        {{"learner.critic_hidden=9,8", "learner.critic_norm_first=true"}, "7-9-normt-8r-3"},
        {{"learner.critic_hidden=9,8", "learner.critic_norm=true", "learner.norm_first=true"},
         "7-9-normr-8-normr-3"},
        {{"learner.critic_hidden=simba:9x1", "learner.critic_activation=elu"},
         "7-9-norm-36e-9-add(1,4)-norm-3"},
    };
    EACH_ROW(i, rows) {
        const aq_layer_spec last = aq_layer_linear(0, 3, AQ_ACTIVATION_NONE);
        aq_hidden_layers hidden;
        aq_net_spec spec;
        char text[128];
        aq_run_config config = config_defaults();
        for (size_t k = 0; k < 3 && rows[i].settings[k] != NULL; k++) {
            config_set(&config, rows[i].settings[k]);
        }
        assert_succeeds((config.learner.critic_hidden[0] != '\0'
                             ? aq_hidden_layers_of_critic
                             : aq_hidden_layers_of)(&config, &obs, &hidden, &refusal));
        assert_succeeds(aq_hidden_layers_network(&hidden, 0, &last, &spec, &refusal));
        assert_string_equal(aq_net_spec_text(&spec, text, sizeof(text)), rows[i].want);
    }
}

TEST(a_torso_stands_before_hidden_layers_and_takes_what_is_seen_alone)
{
    const aq_space picture = {.kind = AQ_SPACE_BOX, .rank = 3, .shape = {5, 4, 2}};
    const aq_layer_spec last = aq_layer_linear(0, 3, AQ_ACTIVATION_NONE);
    aq_hidden_layers hidden;
    aq_net_spec spec;
    char text[128];
    aq_run_config config = config_defaults();
    config_set(&config, "learner.torso=conv:6x3/1");
    for (int is_critic = 0; is_critic < 2; is_critic++) {
        assert_succeeds((is_critic ? aq_hidden_layers_of_critic
                                   : aq_hidden_layers_of)(&config, &picture, &hidden, &refusal));
        assert_succeeds(aq_hidden_layers_network(&hidden, 0, &last, &spec, &refusal));
        assert_string_equal(aq_net_spec_text(&spec, text, sizeof(text)),
                            "5x4x2-conv3/1x6r-64r-64r-3");
    }
    assert_refused(aq_hidden_layers_network(&hidden, 2, &last, &spec, &refusal), AQ_E_UNSUPPORTED,
                   "learner.torso is for networks that take what is seen alone");
}

TEST(as_many_blocks_as_settings_can_ask_for_fit_with_every_head)
{
    const aq_hidden_layers hidden = {.shape = {.count = 1,
                                               .widths = {AQ_NET_WIDTH_MAX / AQ_SIMBA_WIDER},
                                               .blocks = AQ_SIMBA_BLOCKS_MAX},
                                     .activation = AQ_ACTIVATION_RELU,
                                     .torso = "",
                                     .obs = &obs};
    const aq_layer_spec last = aq_layer_linear(0, 2, AQ_ACTIVATION_NONE);
    aq_net_spec spec;
    assert_succeeds(aq_hidden_layers_network(&hidden, 0, &last, &spec, &refusal));
    assert_int_equal(spec.layer_count, 15);
}

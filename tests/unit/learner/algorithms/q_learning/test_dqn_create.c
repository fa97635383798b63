/*
 * Which tasks DQN takes, and that it can be refused memory at any point.
 */
#include "common/base/parse.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

static aq_run_config config_of(const char *hidden, bool has_norms_and_dueling)
{
    aq_run_config config = fixture_config();
    config.learner.norm = config.learner.dueling = has_norms_and_dueling;
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, hidden), 0);
    return config;
}

static void check_refused(const aq_run_config *config, const aq_schema *schema, int code,
                          const char *words)
{
    aq_agent *algorithm = NULL;
    assert_refused(agent_try(&aq_dqn_class, config, schema, 1, &algorithm, &refusal), code, words);
    assert_null(algorithm);
}

TEST(tasks_that_are_not_for_it_are_refused_in_words)
{
    const aq_run_config config = config_of("16,12", false);
    aq_schema schema = fixture_schema(4, 2);
    schema.action = schema.obs;
    check_refused(&config, &schema, AQ_E_UNSUPPORTED, "discrete actions");
    schema = fixture_schema(1, 2);
    schema.obs.shape[0] = AQ_NET_WIDTH_MAX + 1;
    check_refused(&config, &schema, AQ_E_UNSUPPORTED, "16384");
}

TEST(widths_that_are_no_list_or_too_many_are_refused)
{
    aq_schema schema = fixture_schema(4, 2);
    const aq_run_config no_list = config_of("64,x", false);
    aq_run_config too_many = config_of("8", true);
    check_refused(&no_list, &schema, AQ_E_INVALID, "64,x");
    schema.obs.rank = 2;
    schema.obs.shape[1] = 4;
    memcpy(too_many.learner.torso, "residual:1x12", sizeof("residual:1x12"));
    check_refused(&too_many, &schema, AQ_E_INVALID, "48 layers");
}

/* Before there is memory for it. */
TEST(a_network_that_no_policy_can_be_is_refused)
{
    const aq_schema schema = fixture_schema(4, 2);
    const aq_run_config config = config_of("8192,8192", false);
    check_refused(&config, &schema, AQ_E_TOO_BIG, "learner.hidden");
    assert_says(refusal.text, "at most 268435456");
}

TEST(create_survives_the_failure_of_each_allocation)
{
    const aq_schema schema = fixture_schema(4, 2);
    for (int is_quantized = 0; is_quantized < 2; is_quantized++) {
        aq_run_config config = config_of("16,12", is_quantized);
        aq_agent *algorithm;
        config.learner.qat_bits = is_quantized ? 4 : 0;
        assert_made_despite_failures(
            algorithm, agent_try(&aq_dqn_class, &config, &schema, 1, &algorithm, NULL));
        aq_agent_destroy(algorithm);
    }
    aq_agent_destroy(NULL);
}

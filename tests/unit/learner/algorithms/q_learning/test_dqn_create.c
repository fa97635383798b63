/*
 * Which tasks DQN takes, and that it can be refused memory at any point.
 */
#include <string.h>

#include "common/base/memory.h"
#include "common/base/parse.h"
#include "tests/support/test.h"
#include "tests/unit/learner/agent_kit.h"
#include "tests/unit/learner/dqn_fixture.h"

TEST(continuous_actions_are_refused_in_words)
{
    aq_agent *algorithm = NULL;
    aq_error error = {0};
    aq_run_config config;
    aq_schema schema;

    fixture_config(&config);
    fixture_schema(4, 2, &schema);
    schema.action = schema.obs;
    assert_refused(agent_try(&aq_dqn_class, &config, &schema, 1, &algorithm, &error),
                   AQ_E_UNSUPPORTED, &error, "discrete actions");
    assert_null(algorithm);
}

TEST(a_discrete_observation_is_refused_in_words)
{
    aq_agent *algorithm = NULL;
    aq_error error = {0};
    aq_run_config config;
    aq_schema schema;

    fixture_config(&config);
    fixture_schema(4, 2, &schema);
    aq_space_init_discrete(&schema.obs, 48);
    assert_refused(agent_try(&aq_dqn_class, &config, &schema, 1, &algorithm, &error),
                   AQ_E_UNSUPPORTED, &error, "observations");
}

TEST(an_observation_wider_than_a_network_is_refused)
{
    aq_agent *algorithm = NULL;
    aq_error error = {0};
    aq_run_config config;
    aq_schema schema;

    fixture_config(&config);
    fixture_schema(1, 2, &schema);
    schema.obs.shape[0] = AQ_NET_WIDTH_MAX + 1;
    assert_refused(agent_try(&aq_dqn_class, &config, &schema, 1, &algorithm, &error),
                   AQ_E_UNSUPPORTED, &error, "16384");
}

TEST(widths_that_are_no_list_are_refused)
{
    aq_agent *algorithm = NULL;
    aq_error error = {0};
    aq_run_config config;
    aq_schema schema;

    fixture_config(&config);
    fixture_schema(4, 2, &schema);
    assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, "64,x"), 0);
    assert_refused(agent_try(&aq_dqn_class, &config, &schema, 1, &algorithm, &error), AQ_E_INVALID,
                   &error, "64,x");
}

TEST(create_survives_the_failure_of_each_allocation)
{
    aq_agent *algorithm = NULL;
    aq_run_config config;
    aq_schema schema;
    int rc;

    fixture_config(&config);
    fixture_schema(4, 2, &schema);
    EACH_ALLOCATION_FAILS(rc) {
        rc = agent_try(&aq_dqn_class, &config, &schema, 1, &algorithm, NULL);
        assert_true(rc == 0 || algorithm == NULL);
    }
    aq_agent_destroy(algorithm);
    aq_agent_destroy(NULL);
}

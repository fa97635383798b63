/*
 * An evaluation on another thread is the same evaluation.
 */
#include "cli/run/long_evaluation.h"
#include "common/sys/cpu.h"
#include "envs/env_open.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST_ENDING(end_engine, aq_engine_destroy);

static aq_engine *engine_of(uint32_t format)
{
    aq_engine *engine = NULL;
    assert_int_equal(aq_engine_create(cli_policy(format, 7), AQ_EVALUATION_LANES_MAX,
                                      aq_cpu_flags(), &engine, NULL),
                     0);
    at_end(end_engine, engine);
    return engine;
}

TEST(the_result_is_that_of_the_plain_evaluation)
{
    aq_env *env = cli_env("gym:CartPole-v1");
    aq_evaluation plain, threaded;
    aq_engine *engine = engine_of(AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(aq_evaluate(env, engine, 70, 3, &plain, NULL), 0);
    assert_int_equal(aq_long_evaluation(env, engine, 70, 3, &threaded, NULL), 0);
    assert_int_equal(threaded.version, plain.version);
    assert_int_equal(threaded.episodes, 70);
    assert_true(threaded.return_mean == plain.return_mean);
    assert_true(threaded.return_std == plain.return_std);
    assert_true(threaded.return_min == plain.return_min);
    assert_true(threaded.return_max == plain.return_max);
}

TEST(what_the_evaluation_refuses_is_told)
{
    aq_env *cartpole = cli_env("gym:CartPole-v1"), *acrobot = cli_env("gym:Acrobot-v1");
    aq_evaluation result;
    aq_engine *engine = engine_of(AQ_FORMAT_F32);
    assert_refused(aq_long_evaluation(acrobot, engine, 1, 3, &result, &refusal), AQ_E_SCHEMA,
                   "a policy of another schema than gym:Acrobot-v1");
    assert_refused(aq_long_evaluation(cartpole, engine, 0, 3, &result, &refusal), AQ_E_INVALID, "");
}

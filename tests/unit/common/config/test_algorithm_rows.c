/*
 * Algorithm rows: which algorithm is for which actions.
 */
#include "common/config/algorithm_rows.h"
#include "tests/support/test.h"

TEST(several_choices_at_once_are_for_those_on_policy)
{
    const float low = -1, high = 1;
    aq_schema several = {0};
    char words[200];
    aq_space_init_choices(&several.action, 2, (uint32_t[]){2, 3});
    aq_space_init_box(&several.obs, 1, &low, &high);
    for (uint32_t i = 0; i < AQ_ALGORITHM_AUTO; i++) {
        if (i >= AQ_ALGORITHM_PPO && i <= AQ_ALGORITHM_IMPALA) {
            assert_int_equal(aq_algorithm_check_actions(i, "a task", &several, false, NULL), 0);
            continue;
        }
        const bool is_discrete = aq_algorithm_takes(i, &(aq_space){.kind = AQ_SPACE_DISCRETE});
        (void)snprintf(words, sizeof(words),
                       "learner.algorithm %s needs %s; those of a task are several choices at "
                       "once, for which ppo, a2c, reinforce, trpo and impala are made",
                       aq_algorithm_names[i],
                       is_discrete ? "actions that are one choice" : "continuous actions");
        assert_refused(aq_algorithm_check_actions(i, "a task", &several, false, &refusal),
                       AQ_E_UNSUPPORTED, words);
    }
    assert_refused(aq_algorithm_check_actions(AQ_ALGORITHM_DQN, "a task", &several, true, &refusal),
                   AQ_E_UNSUPPORTED, "for which none are made");
    assert_refused(aq_algorithm_check_data_set(AQ_ALGORITHM_PPO, "a task", &several, &refusal),
                   AQ_E_UNSUPPORTED, "nothing learns");
}

/* Whichever way the task shows them. */
TEST(of_states_that_can_be_counted_a_data_set_is_for_tables_too)
{
    const float low = 0, high = 1;
    aq_schema seen = {0};
    aq_space_init_discrete(&seen.action, 4);
    aq_space_init_box(&seen.obs, 1, &low, &high);
    assert_refused(aq_algorithm_check_data_set(AQ_ALGORITHM_PPO, "a task", &seen, &refusal),
                   AQ_E_UNSUPPORTED, "learn dqn, qr_dqn, ");
    assert_null(strstr(refusal.text, "sarsa"));
    assert_refused(
        aq_algorithm_check_data_set(AQ_ALGORITHM_PPO, "a task?one_hot=bytes", &seen, &refusal),
        AQ_E_UNSUPPORTED, ", q, sarsa, expected_sarsa, ");
}

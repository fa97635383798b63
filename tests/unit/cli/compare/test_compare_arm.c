/*
 * What modes of learning in parallel add to a run, and what of a list cannot be.
 */
#include "cli/compare/compare_arm.h"
#include "tests/support/test.h"

static aq_compare_arm arms[AQ_COMPARE_ARMS_MAX];

static size_t make_arms_of(uint32_t algorithm, const char *modes, uint64_t parallel,
                           const char *scales)
{
    aq_compare_request request = {.subject = AQ_COMPARE_MODES, .parallel = parallel};
    const aq_run_config config = {.learner.algorithm = algorithm};
    size_t count = 0;
    assert_succeeds(aq_compare_request_names(&request, modes, &refusal));
    if (scales != NULL) {
        assert_succeeds(aq_compare_request_scales(&request, scales, &refusal));
    }
    assert_succeeds(aq_compare_arms_make(&request, &config, arms, &count, &refusal));
    return count;
}

static size_t make_arms(const char *modes, uint64_t parallel, const char *scales)
{
    return make_arms_of(AQ_ALGORITHM_DQN, modes, parallel, scales);
}

TEST(each_mode_adds_what_actorq_train_would_be_given)
{
    static const struct {
        uint64_t parallel;
        const char *mode, *flags;
    } rows[] = {
        {2, "experience", " --set actor.count=2"},
        {2, "sync", " --set actor.count=2 --learners 2"},
        {2, "async",
         " --set actor.count=2 --set actor.gradients=true --set learner.batch_size=32 --set "
         "learner.n_step=5 --set learner.target_period=200 --set quantizer.publish_period=2"},
        {2, "model", " --set actor.count=2 --set learner.model_ranks=2 --learners 2"},
        {2, "hybrid", " --set actor.count=4 --learners 2"},
        {4, "hybrid", " --set actor.count=4 --set learner.model_ranks=2 --learners 4"},
    };
    char flags[256];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(make_arms(rows[i].mode, rows[i].parallel, NULL), 1);
        assert_string_equal(aq_compare_arm_flags(&arms[0], flags, sizeof(flags)), rows[i].flags);
    }
}

TEST(what_learns_on_policy_needs_no_other_settings_for_gradients)
{
    (void)make_arms_of(AQ_ALGORITHM_A2C, "async", 2, NULL);
    assert_string_equal(arms[0].settings, "actor.count=2 actor.gradients=true");
}

TEST(a_hybrid_of_what_cannot_be_split_has_more_actors)
{
    (void)make_arms_of(AQ_ALGORITHM_PPO, "hybrid", 4, NULL);
    assert_string_equal(arms[0].settings, "actor.count=8");
    (void)make_arms("hybrid", 5, NULL);
    assert_string_equal(arms[0].settings, "actor.count=10");
}

TEST(a_scale_adds_arms_but_for_those_that_there_are)
{
    assert_int_equal(make_arms("experience,sync,async,model", 2, "1,2"), 6);
    assert_string_equal(arms[4].name, "experience-1");
    assert_string_equal(arms[5].name, "async-1");
    assert_int_equal(aq_compare_arms_find(arms, 6, AQ_MODE_SYNC, 1), 4);
    assert_int_equal(aq_compare_arms_find(arms, 6, AQ_MODE_SYNC, 2), 1);
    assert_int_equal(aq_compare_arms_find(arms, 6, AQ_MODE_SYNC, 4), 6);
    assert_int_equal(make_arms("sync", 4, "1,2"), 3);
    assert_string_equal(arms[2].name, "sync-2");
}

TEST(more_arms_than_a_chart_has_lines_are_refused)
{
    aq_compare_request request = {.subject = AQ_COMPARE_MODES, .parallel = 2};
    const aq_run_config config = {.learner.algorithm = AQ_ALGORITHM_DQN};
    size_t count = 0;
    assert_succeeds(
        aq_compare_request_names(&request, "experience,sync,async,model,hybrid", &refusal));
    assert_succeeds(aq_compare_request_scales(&request, "1,4,8", &refusal));
    assert_refused(aq_compare_arms_make(&request, &config, arms, &count, &refusal), AQ_E_INVALID,
                   "these are more than 16 kinds of runs");
}

TEST(lists_that_are_none_are_refused)
{
    static const char *const modes[] = {"", "sync,", "sync,sync", "experience,fast"};
    static const char *const scales[] = {"", "0", "two", "1,2,3,4,5", "65"};
    aq_compare_request request = {.subject = AQ_COMPARE_MODES, .parallel = 2};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_refused(aq_compare_request_names(&request, modes[i], &refusal), AQ_E_INVALID, "");
    }
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        assert_refused(aq_compare_request_scales(&request, scales[i], &refusal), AQ_E_INVALID,
                       "--scaling: ");
    }
}

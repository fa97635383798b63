/*
 * Train settings of a run that is resumed: those in its folder, under the name that it has.
 */
#include "cli/train/train_settings.h"

#include <unistd.h>

#include "envs/env_code.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

/* Resumes the run in the test's folder, whose task is `its`; `typed` as of a command, or NULL. */
static int resume(void **state, const char *its, const char *typed, aq_run_config *ret_config)
{
    char yaml[256];
    aq_train_arguments arguments = {.task = typed, .options = {.resume = true, .quiet = true}};
    (void)snprintf(yaml, sizeof(yaml), "task: %s\npreset: gone-dqn\nlearner: {algorithm: dqn}\n",
                   its);
    file_put_text(cli_path(state, "config.yaml"), yaml);
    (void)snprintf(arguments.options.run_dir, sizeof(arguments.options.run_dir), "%s",
                   (const char *)*state);
    return aq_train_settings_resolve(&arguments, ret_config, &refusal);
}

TEST_IN_FOLDER(a_run_is_resumed_by_the_name_that_it_was_begun_with)
{
    static const char its[] = "gym:FrozenLake-v1?one_hot=bytes";
    static const char *const typed[] = {NULL, "gym:FrozenLake-v1", "FrozenLake-v1", its};
    EACH_ROW(i, typed) {
        aq_run_config config;
        assert_succeeds(resume(state, its, typed[i], &config));
        assert_string_equal(config.task, its);
        assert_string_equal(config.preset, "gone-dqn");
    }
}

TEST_IN_FOLDER(a_run_of_another_task_is_not_resumed)
{
    aq_run_config config;
    assert_refused(resume(state, "gym:CartPole-v1", "gym:Acrobot-v1", &config), AQ_E_INVALID,
                   "is gym:CartPole-v1, not gym:Acrobot-v1");
    assert_refused(resume(state, "gym:FrozenLake-v1?one_hot=yes", "gym:FrozenLake-v1", &config),
                   AQ_E_INVALID, "not gym:FrozenLake-v1?one_hot=bytes");
}

/* As a learner was told it; `actorq train` begins runs of whole paths. */
TEST_IN_FOLDER(a_plugin_at_a_relative_path_keeps_its_name)
{
    static const char its[] = "so:./plugin_good.so:good";
    static const char *const typed[] = {NULL, its};
    char before[PATH_MAX];
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(AQ_TEST_PLUGIN_DIR), 0);
    aq_env_allow_code(its);
    EACH_ROW(i, typed) {
        aq_run_config config;
        assert_succeeds(resume(state, its, typed[i], &config));
        assert_string_equal(config.task, its);
    }
    assert_int_equal(chdir(before), 0);
}

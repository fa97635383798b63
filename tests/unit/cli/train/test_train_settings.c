/*
 * Train settings: what does not go together, and those of a run that is resumed: those in its
 * folder, under the name that it has.
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

TEST_IN_FOLDER(a_file_beside_a_resumed_run_counts_over_its_settings)
{
    aq_run_config config;
    aq_train_arguments arguments = {.config_path = cli_path(state, "given.yaml"),
                                    .options = {.resume = true, .quiet = true}};
    file_put_text(cli_path(state, "config.yaml"),
                  "task: gym:CartPole-v1\npreset: gone-dqn\n"
                  "learner: {algorithm: dqn, n_step: 3, batch_size: 96}\n");
    file_put_text(arguments.config_path, "learner: {n_step: 7}\n");
    (void)snprintf(arguments.options.run_dir, sizeof(arguments.options.run_dir), "%s",
                   (const char *)*state);
    assert_succeeds(aq_train_settings_resolve(&arguments, &config, &refusal));
    assert_string_equal(config.preset, "gone-dqn");
    assert_int_equal(config.learner.n_step, 7);
    assert_int_equal(config.learner.batch_size, 96);
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

TEST(what_would_count_for_nothing_is_refused)
{
    static const struct {
        const char *set, *axis; /* NULL: none */
        aq_train_arguments rest;
        const char *words; /* NULL: it goes together */
    } rows[] = {
        {"learner.n_step=5",
         "learner.n_step=1,3",
         {0},
         "--set learner.n_step: that is what --grid"},
        {"learner.n_step=5", "learner.discount=0.9,0.99", {0}, NULL},
        {"actor.count=4", NULL, {.actors = "2"}, "--set actor.count: that is what --actors says"},
        {NULL, "actor.count=1,2", {.actors = "2"}, "--grid actor.count: that is what --actors"},
        {"actor.count=4", NULL, {.gradients = true}, NULL},
        {"actor.gradients=false", NULL, {.gradients = true}, "that is what --gradients says"},
        {"seed=4", NULL, {.seed = "3"}, "--set seed: that is what --seed says"},
        {"seed=4", NULL, {.seed = NULL}, NULL},
        {"seed=4", "learner.n_step=1,3", {0}, "leave --set seed out"},
        {NULL, "seed=1,2", {0}, "--grid seed: that is what --seeds says"},
        {"preset=none", NULL, {.preset = "any-ppo"}, "--set preset: that is what --preset says"},
        {NULL,
         NULL,
         {.preset = "any-ppo", .options = {.resume = true}},
         "has its settings already: leave --preset out"},
        {NULL,
         NULL,
         {.preset = "any-ppo", .new_settings = true, .options = {.resume = true}},
         NULL},
        {NULL, NULL, {.new_settings = true}, "--new-settings is for a run that is resumed"},
    };
    EACH_ROW(i, rows) {
        aq_train_arguments arguments = rows[i].rest;
        if (rows[i].set != NULL) {
            assert_succeeds(
                aq_settings_assignments_add(&arguments.overrides, rows[i].set, &refusal));
        }
        if (rows[i].axis != NULL) {
            assert_succeeds(aq_train_grid_take(&arguments.grid, rows[i].axis, &refusal));
        }
        const int rc = aq_train_settings_check(&arguments, &refusal);
        if (rows[i].words == NULL) {
            assert_succeeds(rc);
        } else {
            assert_refused(rc, AQ_E_INVALID, rows[i].words);
        }
    }
}

/*
 * What may change while a run goes on, and what is refused; and what a start with the arguments of
 * before keeps of it.
 */
#include "common/sys/file.h"
#include "learner/run/live_plan.h"
#include "learner/run/live_settings.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

static aq_run_plan plan_of_defaults(void)
{
    aq_run_plan plan;
    aq_run_config config = config_defaults();
    assert_succeeds(aq_run_plan_make(&config, &plan, &refusal));
    return plan;
}

static aq_run_plan changed(const aq_run_plan *plan, const char *assignment)
{
    aq_run_plan next;
    assert_succeeds(aq_live_settings_change(plan, &assignment, 1, &next, &refusal));
    return next;
}

static void expect_refusal(const char *const *assignments, size_t count, int code, const char *word)
{
    static aq_run_plan before, next, untouched;
    before = plan_of_defaults();
    memset(&next, 0x5a, sizeof(next));
    memset(&untouched, 0x5a, sizeof(untouched));
    assert_refused(aq_live_settings_change(&before, assignments, count, &next, &refusal), code,
                   word);
    assert_memory_equal(&next, &untouched, sizeof(next));
}

TEST(a_change_reaches_what_members_are_told)
{
    aq_run_plan plan = plan_of_defaults();
    plan = changed(&plan, "actor.noise=0.125");
    plan = changed(&plan, "evaluator.episodes=7");
    plan = changed(&plan, "log.level=debug");
    assert_true(plan.config.actor.noise == 0.125 && plan.settings.config.actor.noise == 0.125);
    assert_int_equal(plan.settings.config.evaluator.episodes, 7);
    assert_int_equal(plan.settings.config.log.level, 1);
}

TEST(the_rest_of_the_plan_stays)
{
    aq_run_plan plan = plan_of_defaults();
    aq_run_plan next = changed(&plan, "actor.noise=0.125");
    next.config.actor.noise = plan.config.actor.noise;
    next.settings.config.actor.noise = plan.settings.config.actor.noise;
    assert_int_equal(next.config.seed, plan.config.seed); /* the one that was drawn */
    assert_memory_equal(&next.settings.tables, &plan.settings.tables, sizeof(plan.settings.tables));
    assert_ptr_equal(next.algorithm_class, plan.algorithm_class);
    assert_int_equal(next.settings.schema_hash, plan.settings.schema_hash);
}

TEST(auto_is_the_environments_threshold_again)
{
    aq_run_plan plan = plan_of_defaults();
    double own = plan.threshold;
    plan = changed(&plan, "evaluator.threshold=100");
    assert_true(plan.threshold == 100 && plan.settings.evaluation_threshold == 100);
    plan = changed(&plan, "evaluator.threshold=auto");
    assert_true(plan.threshold == own);
}

TEST(a_fixed_setting_is_refused_with_what_to_do)
{
    static const char *const fixed[] = {"replay.capacity=50000"};
    expect_refusal(fixed, 1, AQ_E_UNSUPPORTED,
                   "replay.capacity is fixed while the run goes on (it is 100000): stop the run, "
                   "and resume it with --set replay.capacity=50000");
}

TEST(what_no_resume_takes_is_for_another_run)
{
    static const char *const algorithm[] = {"learner.algorithm=ppo"};
    static const char *const network[] = {"learner.hidden=32"};
    static const char *const gradients[] = {"actor.gradients=true"};
    expect_refusal(network, 1, AQ_E_UNSUPPORTED,
                   "learner.hidden is of a run from its beginning (it is \"64,64\"): start another "
                   "run with --set learner.hidden=\"32\"");
    expect_refusal(algorithm, 1, AQ_E_UNSUPPORTED, "start another run");
    expect_refusal(gradients, 1, AQ_E_UNSUPPORTED, "start another run");
    static const char *const preset[] = {"preset=none"};
    expect_refusal(preset, 1, AQ_E_UNSUPPORTED, "start another run");
}

/* Actors' gradients are of so many steps of a row. */
TEST(what_rows_of_gradients_are_made_of_is_for_another_run)
{
    static const char *const steps[] = {"replay.sequence_length=40"};
    static const char *const words[] = {"stop the run, and resume it", "start another run"};
    aq_run_plan plan = plan_of_defaults();
    aq_run_plan next;
    EACH_ROW(i, words) {
        plan.config.actor.gradients = i == 1;
        assert_int_equal(aq_live_settings_change(&plan, steps, 1, &next, &refusal),
                         AQ_E_UNSUPPORTED);
        assert_says(refusal.text, words[i]);
    }
}

TEST(what_no_resume_takes_depends_on_the_run)
{
    static const char *const value_max[] = {"learner.value_max=300"};
    aq_run_plan plan = plan_of_defaults();
    aq_run_plan next;
    assert_int_equal(aq_live_settings_change(&plan, value_max, 1, &next, &refusal),
                     AQ_E_UNSUPPORTED);
    assert_says(refusal.text, "stop the run, and resume it");
    static const enum aq_algorithm of_atoms[] = {AQ_ALGORITHM_C51, AQ_ALGORITHM_DSAC};
    EACH_ROW(i, of_atoms) {
        plan.config.learner.algorithm = of_atoms[i];
        assert_int_equal(aq_live_settings_change(&plan, value_max, 1, &next, &refusal),
                         AQ_E_UNSUPPORTED);
        assert_says(refusal.text, "start another run");
    }
}

TEST(a_temperature_that_is_learned_is_of_the_beginning_alone)
{
    static const char *const temperature[] = {"learner.temperature=0.3"};
    static const char *const words[] = {"stop the run, and resume it", "start another run"};
    aq_run_plan plan = plan_of_defaults();
    aq_run_plan next;
    EACH_ROW(i, words) {
        plan.config.learner.learn_temperature = i == 1;
        assert_int_equal(aq_live_settings_change(&plan, temperature, 1, &next, &refusal),
                         AQ_E_UNSUPPORTED);
        assert_says(refusal.text, words[i]);
    }
}

TEST(a_fixed_setting_may_be_given_as_it_is)
{
    aq_run_plan plan = plan_of_defaults();
    aq_run_plan next = changed(&plan, "replay.capacity=100000");
    assert_memory_equal(&next.config, &plan.config, sizeof(plan.config));
}

TEST(one_that_is_refused_refuses_all)
{
    static const char *const bounds[] = {"actor.noise=0.1", "quantizer.publish_period=0"};
    static const char *const unknown[] = {"actor.noise=0.1", "actor.nose=1"};
    static const char *const no_value[] = {"actor.noise"};
    expect_refusal(bounds, 2, AQ_E_INVALID, "quantizer.publish_period: '0' is out of bounds");
    expect_refusal(unknown, 2, AQ_E_INVALID, "did you mean actor.noise?");
    expect_refusal(no_value, 1, AQ_E_INVALID, "KEY=VALUE");
}

TEST(what_contradicts_is_refused_as_at_a_start)
{
    static const char *const threshold[] = {"evaluator.threshold=high"};
    expect_refusal(threshold, 1, AQ_E_INVALID, "evaluator.threshold is \"high\"");
}

/* ---- over a restart ------------------------------------------------------------------------- */

static aq_run_folder folder_with(const char *path, const aq_run_config *config)
{
    aq_run_folder folder;
    assert_succeeds(aq_run_folder_open(path, config, false, 0, &folder, &refusal));
    assert_succeeds(aq_run_folder_begin(&folder, config, &refusal));
    return folder;
}

/* What a start with `given` comes to in the folder. */
static aq_run_config resumed_with(const run_dir *dir, const aq_run_config *given)
{
    aq_live_plan live = {.text = NULL};
    assert_succeeds(aq_live_plan_make(given, dir->path, &live, &refusal));
    aq_live_plan_fini(&live);
    return live.now.config;
}

TEST_IN(run_dir, dir, a_change_outlives_a_start_with_the_arguments_of_before)
{
    aq_live_plan live = {.text = NULL};
    aq_run_config given = plan_of_defaults().config;
    assert_succeeds(aq_live_plan_make(&given, NULL, &live, &refusal));
    const aq_run_folder folder = folder_with(dir->path, &given);
    const aq_run_plan next = changed(&live.now, "actor.noise=0.5");
    assert_succeeds(aq_live_plan_change(&live, &folder, &next, &refusal));
    assert_says(live.text, "noise: 0.5\n");
    aq_live_plan_fini(&live);

    assert_true(resumed_with(dir, &given).actor.noise == 0.5);
    given.actor.noise = 0.75; /* somebody gives another value than at first */
    assert_true(resumed_with(dir, &given).actor.noise == 0.75);
}

TEST_IN(run_dir, dir, the_file_goes_when_nothing_is_changed_any_more)
{
    const char *file = run_dir_path(dir, "config.given.yaml");
    aq_live_plan live = {.now = plan_of_defaults()};
    live.given = live.now.config;
    const aq_run_folder folder = folder_with(dir->path, &live.given);
    const aq_run_plan next = changed(&live.now, "actor.noise=0.5");
    const aq_live_plan other = {.now = next, .given = live.given};
    const aq_live_plan same = {.now = next, .given = next.config};
    assert_succeeds(aq_live_plan_settle(&other, &folder, &refusal));
    assert_false(aq_path_exists(file)); /* there was no change to keep it for */
    assert_succeeds(aq_live_plan_change(&live, &folder, &next, &refusal));
    assert_succeeds(aq_live_plan_settle(&other, &folder, &refusal));
    assert_true(aq_path_exists(file));
    assert_succeeds(aq_live_plan_settle(&same, &folder, &refusal));
    assert_false(aq_path_exists(file));
    aq_live_plan_fini(&live);
}

TEST_IN(run_dir, dir, without_a_change_a_start_is_as_it_is_given)
{
    const aq_run_config before = plan_of_defaults().config;
    const aq_run_config config = resumed_with(dir, &before);
    assert_memory_equal(&config, &before, sizeof(config));
}

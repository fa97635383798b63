/*
 * SPEC.yaml: what it says, and what is wrong with one that is wrong, by its line.
 */
#include "tests/unit/cli/sweep/sweep_kit.h"

#define HEAD  "task: gym:CartPole-v1\ntrials: 4\n"
#define SPACE "space: {learner.n_step: [1, 3]}\n"

TEST(a_spec_says_what_is_tried)
{
    aq_sweep_spec spec;
    sweep_spec("task: gym:CartPole-v1\n"
               "preset: cartpole-dqn\n"
               "trials: 64\n"
               "method: random\n"
               "settings:\n"
               "  learner.hidden: [32, 32]\n"
               "  actor: {count: 1}\n"
               "space:\n"
               "  learner.learning_rate: {log: [1e-4, 1e-2]}\n"
               "  learner.batch_size: {pow2: [16, 128]}\n"
               "seeds: {tune: 2, report: [7, 8, 9]}\n"
               "objective: {score: area, cost: cpu_s}\n"
               "rungs: {env_steps: [1k, 4k], keep: 4}\n"
               "round: 12\n"
               "seed: 5\n",
               &spec);
    assert_string_equal(spec.fixed[0], "learner.hidden=32,32");
    assert_string_equal(spec.fixed[1], "actor.count=1");
    assert_int_equal(spec.method, AQ_SWEEP_RANDOM);
    assert_int_equal(spec.space.count, 2);
    assert_true(spec.space.dims[1].is_whole);
    assert_int_equal(spec.tune.count, 2);
    assert_int_equal(spec.report.seeds[2], 9);
    assert_int_equal(spec.score, AQ_SWEEP_AREA);
    assert_int_equal(spec.cost, AQ_SWEEP_CPU);
    assert_int_equal(spec.rungs[1], 4000);
    assert_near(spec.keep, 4, 0);
    assert_int_equal(spec.round, 12);
}

TEST(seeds_for_the_report_are_others)
{
    aq_sweep_spec spec;
    sweep_spec(HEAD SPACE "seeds: {tune: 3, report: 3}\n", &spec);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            assert_int_not_equal(spec.tune.seeds[i], spec.report.seeds[j]);
        }
    }
}

TEST(what_is_wrong_is_said_with_its_line)
{
    static const struct {
        const char *yaml, *words;
    } rows[] = {
        {"", "s.yaml:1: lines of the form 'key: value' are expected"},
        {"task: [\n", "s.yaml:"},
        {HEAD, "s.yaml:1: 'space' is missing: which settings are to be varied?"},
        {SPACE "trials: 4\n", "'task' is missing"},
        {"task: x\n" SPACE, "'trials' is missing: how many are to be tried?"},
        {HEAD SPACE "methd: tpe\n", "s.yaml:4: 'methd' is not known here; did you mean method?"},
        {HEAD SPACE "method: gp\n", "s.yaml:4: 'gp' is no method; there are grid, random, sobol"},
        {HEAD SPACE "trials: 4\n", "s.yaml:4: trials: given twice, first in line 2"},
        {HEAD "space:\n  learner.n_stp: [1, 3]\n",
         "s.yaml:4: learner.n_stp: no such setting; did you mean learner.n_step?"},
        {HEAD "space:\n  learner.n_step: [1, 300]\n",
         "s.yaml:4: learner.n_step: '300' is out of bounds (allowed: 1 to 64 steps, default 3)"},
        {HEAD "space:\n  learner.n_step: [1, 1]\n", "'1' is given twice"},
        {HEAD "space:\n  learner.hidden: [[64, 64], \"\"]\n",
         "s.yaml:4: learner.hidden: an empty value can be fixed in 'settings', but not varied"},
        {HEAD "space:\n  learner.hidden: [[64, 64], []]\n", "learner.hidden: an empty value"},
        {HEAD "space:\n  learner.n_step: 3\n", "what is fixed stands in 'settings'"},
        {HEAD "space:\n  learner.n_step: {log: [1, 4], linear: [1, 4]}\n", "one of linear, log"},
        {HEAD "space:\n  learner.n_step: {linear: [4, 1]}\n", "ends before it begins"},
        {HEAD "space:\n  learner.batch_size: {pow2: [10, 64]}\n", "no powers of two"},
        {HEAD "space:\n  learner.learning_rate: {log: [0, 1]}\n", "out of bounds"},
        {HEAD "space:\n  learner.discount: {logit: [0.5, 1]}\n", "between 0 and 1, without either"},
        {HEAD "space:\n  learner.activation: {linear: [relu, tanh]}\n",
         "give its values as a list"},
        {HEAD "space:\n  limits.env_steps: [100, 1000]\n", "a key of its own in this file: rungs"},
        {HEAD "space:\n  preset: [none, paper-dqn]\n", "a key of its own in this file: preset"},
        {HEAD "space:\n  learner.n_step: {choice: [1, 3], when: {learner.norm: true}}\n",
         "which stands above with a list of choices in no line"},
        {HEAD "space:\n  learner.norm: [true, false]\n"
              "  learner.n_step: {choice: [1, 3], when: {learner.norm: on}}\n",
         "s.yaml:5: learner.n_step: 'on' is no choice of learner.norm"},
        {HEAD SPACE "settings: {learner.n_step: 5}\n", "learner.n_step is fixed, and varied"},
        {HEAD SPACE "settings: {learner: {batch_size: 0}}\n", "s.yaml:4: learner.batch_size: '0'"},
        {HEAD SPACE "settings: {'task=so:/x.so:x': 1}\n",
         "s.yaml:4: task=so:/x.so:x: no such setting"},
        {HEAD "space: {'task=so:/x.so:x': [1, 2]}\n", "task=so:/x.so:x: no such setting"},
        {HEAD SPACE "seeds: {tune: [1, 2], report: [2, 3]}\n",
         "s.yaml:4: seed 2 tunes and reports: what chose the settings must not judge them"},
        {HEAD SPACE "seeds: [5, 5]\n", "seed 5 is given twice"},
        {HEAD SPACE "seeds: 0\n", "'0' is no whole number from 1 to 64"},
        {HEAD SPACE "rungs: [5000, 4000]\n", "'4000' is no whole number from 5001"},
        {HEAD SPACE "objective: speed\n", "'speed' is no score; there are return, area"},
        {HEAD SPACE "objective: {cost: return}\n", "'return' is no cost; there are env_steps"},
        {HEAD SPACE "population: {mutate: 1}\n", "'population' is for method: pbt"},
        {HEAD SPACE "method: pbt\n", "method pbt needs 2 to 256 trials"},
        {HEAD SPACE "rungs: {env_steps: [100], times: 3}\n", "either 'env_steps', or 'every' and"},
        {HEAD SPACE "rungs: {keep: 3}\n", "s.yaml:4: either 'env_steps', or 'every' and 'times'"},
        {HEAD SPACE "rungs: {every: 300}\n", "s.yaml:4: either 'env_steps', or 'every' and"},
        {HEAD SPACE "rungs: {times: 3}\n", "s.yaml:4: either 'env_steps', or 'every' and"},
        {HEAD SPACE "method: pbt\nrungs: [100, 200]\nround: 4\n",
         "s.yaml:6: 'round' is not for method: pbt"},
        {HEAD SPACE "method: pbt\nrungs: {env_steps: [100, 200], keep: 2}\n",
         "s.yaml:5: 'keep' is not for method: pbt"},
    };
    EACH_ROW(i, rows) {
        aq_sweep_spec spec;
        assert_refused(
            aq_sweep_spec_read("s.yaml", rows[i].yaml, strlen(rows[i].yaml), &spec, &refusal),
            AQ_E_INVALID, rows[i].words);
    }
}

TEST(a_task_that_cannot_be_trained_so_is_refused)
{
    aq_sweep_spec spec;
    aq_sweep_plan plan;
    sweep_spec("task: gym:CartPoll-v1\ntrials: 1\n" SPACE, &spec);
    assert_refused(aq_sweep_spec_check(&spec, &plan, &refusal), AQ_E_NOT_FOUND, "gym:CartPole-v1");
    sweep_spec(HEAD SPACE "settings: {learner.algorithm: td3}\n", &spec);
    assert_refused(aq_sweep_spec_check(&spec, &plan, &refusal), AQ_E_UNSUPPORTED, "td3");
}

TEST(a_sweep_goes_on_under_the_settings_that_it_was_begun_with)
{
    aq_sweep_spec spec;
    aq_sweep_plan plan;
    sweep_spec(HEAD SPACE, &spec);
    assert_succeeds(aq_sweep_spec_check(&spec, &plan, &refusal));
    assert_succeeds(aq_sweep_spec_check_same(&spec, plan.settings_sum, &refusal));
    assert_succeeds(aq_sweep_spec_check_same(&spec, 0, &refusal)); /* of a journal without it */
    sweep_spec(HEAD SPACE "preset: cartpole-c51\n", &spec);
    assert_refused(aq_sweep_spec_check_same(&spec, plan.settings_sum, &refusal), AQ_E_FOREIGN,
                   "other presets");
}

/* Presets are chosen by the states as they are counted, and random actions see one of many. */
TEST(a_task_whose_states_are_counted_can_be_tried)
{
    aq_sweep_spec spec;
    aq_sweep_plan plan;
    sweep_spec("task: gym:CliffWalking-v1\ntrials: 1\nspace: {learner.discount: [0.9, 1]}\n",
               &spec);
    assert_succeeds(aq_sweep_spec_check(&spec, &plan, &refusal));
    assert_true(plan.least_return < -100);
}

TEST(a_run_whose_steps_shrink_with_its_limit_is_not_gone_on_with)
{
    aq_sweep_spec spec;
    aq_sweep_plan plan;
    sweep_spec(HEAD SPACE, &spec);
    assert_succeeds(aq_sweep_spec_check(&spec, &plan, &refusal));
    assert_true(plan.is_resumed);
    assert_true(plan.steps > 0);
    assert_near(plan.least_return, 12, 5);
    sweep_spec(HEAD SPACE "settings: {learner.learning_rate_end: 0.1}\n", &spec);
    assert_succeeds(aq_sweep_spec_check(&spec, &plan, &refusal));
    assert_false(plan.is_resumed);
    sweep_spec(HEAD SPACE "settings: {learner.importance_end: 1}\n", &spec);
    assert_succeeds(aq_sweep_spec_check(&spec, &plan, &refusal));
    assert_false(plan.is_resumed);
}

/* A choice may take another preset, with a limit or a schedule of its own. */
TEST(each_choice_counts_and_not_the_middle_one_alone)
{
    static const char *const spaces[] = {"space: {learner.algorithm: [ppo, dqn]}\n",
                                         "space: {learner.algorithm: [dqn, ppo]}\n"};
    EACH_ROW(i, spaces) {
        char yaml[256];
        aq_sweep_spec spec;
        aq_sweep_plan plan;
        (void)snprintf(yaml, sizeof(yaml), HEAD "%s", spaces[i]);
        sweep_spec(yaml, &spec);
        assert_refused(aq_sweep_spec_check(&spec, &plan, &refusal), AQ_E_INVALID, "500000");
        const char *hint = strstr(refusal.text, "rungs: [");
        assert_non_null(hint);
        (void)snprintf(yaml, sizeof(yaml), HEAD "%s%.*s]\n", spaces[i], (int)strcspn(hint, "]"),
                       hint);
        sweep_spec(yaml, &spec);
        assert_succeeds(aq_sweep_spec_check(&spec, &plan, &refusal));
        assert_false(plan.is_resumed);
    }
}

/* Its members go on at each rung, whatever the limit was before. */
TEST(a_population_takes_nothing_that_changes_with_the_limit)
{
    aq_sweep_spec spec;
    aq_sweep_plan plan;
    sweep_spec("task: gym:CartPole-v1\ntrials: 4\nmethod: pbt\n"
               "rungs: {every: 1000, times: 3}\n" SPACE
               "settings: {learner.learning_rate_end: 0.1}\n",
               &spec);
    assert_refused(aq_sweep_spec_check(&spec, &plan, &refusal), AQ_E_INVALID,
                   "learner.learning_rate_end: 1");
}

/*
 * What came of a run, by what it left: its score has nothing in it that was not seen.
 */
#include "cli/sweep/training/sweep_training.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/train/train_settings.h"
#include "common/base/parse.h"
#include "common/sys/file.h"
#include "common/sys/folder_lock.h"
#include "tests/support/file_kit.h"
#include "tests/unit/cli/sweep/sweep_kit.h"
#include "tests/unit/common/sys/stderr_capture.h"

/* Chance returns 20 at least: see sweep_found(). */
static const char study_text[] = "task: gym:CartPole-v1\n"
                                 "preset: cartpole-dqn\n"
                                 "trials: 1\n"
                                 "seeds: 1\n"
                                 "rungs: [1000, 4000]\n"
                                 "space:\n"
                                 "  learner.learning_rate: {log: [1e-5, 1e-1]}\n"
                                 "  learner.batch_size: {pow2: [16, 128]}\n";

#define SEEN(wall, steps, mean)                                                                    \
    "{\"event\": \"evaluation\", \"wall_s\": " #wall ", \"env_steps\": " #steps                    \
    ", \"return_mean\": " #mean "}\n"
#define ENDED(steps, mean, solved)                                                                 \
    "{\"state\": \"budget\", \"env_steps\": " #steps ", \"return_mean\": " #mean                   \
    ", \"solved\": " #solved "}"

/* As `actorq train` leaves it. */
static void leave(const aq_sweep_study *study, const char *dir, size_t run, const char *metrics,
                  const char *result)
{
    char folder[CLI_PATH_MAX + 64], path[CLI_PATH_MAX + 96];
    aq_sweep_training_folder(study, dir, run, folder, sizeof(folder));
    assert_succeeds(aq_dir_create(folder, &refusal));
    file_put_text(file_in(folder, "metrics.jsonl"), metrics);
    (void)snprintf(path, sizeof(path), "%s.json", folder);
    file_put_text(path, result);
}

/* Of a new study, by `hand`. */
static const aq_sweep_study *take_first(sweep_hand *hand, const char *dir)
{
    sweep_found(dir, study_text);
    sweep_hire(hand, dir, "hand");
    (void)sweep_step(hand, 0);
    return aq_sweep_desk_study(hand->desk);
}

TEST_IN_FOLDER(the_area_has_what_was_shown_from_when_it_was_shown)
{
    static const struct {
        const char *metrics, *result;
        double area; /* over 1000 steps */
    } rows[] = {
        /* An evaluation that comes late says nothing of the time before it. */
        {SEEN(1, 600, 500), ENDED(1000, 500, false), 0.6 * 20 + 0.4 * 500},
        {SEEN(1, 1200, 500), ENDED(1200, 500, false), 20},
        {"", ENDED(1000, 500, false), 20},
        /* One counts until the next. */
        {SEEN(1, 0, 10) SEEN(2, 500, 100) SEEN(3, 750, 300), ENDED(1000, 300, false),
         0.5 * 10 + 0.25 * 100 + 0.25 * 300},
        {SEEN(1, 0, 10) SEEN(2, 500, 100) SEEN(3, 500, 300), ENDED(1000, 300, false),
         0.5 * 10 + 0.5 * 300},
        /* What was kept is better than what was seen last, and is not what was seen. */
        {SEEN(1, 100, 300) SEEN(2, 200, 50), ENDED(1000, 300, false),
         0.1 * 20 + 0.1 * 300 + 0.8 * 50},
        /* A run that is solved needs no more steps. */
        {SEEN(1, 100, 300), ENDED(400, 480, true), 0.1 * 20 + 0.3 * 300 + 0.6 * 480},
        {"", ENDED(400, 480, true), 0.4 * 20 + 0.6 * 480},
        /* Another limit ended it. */
        {SEEN(1, 100, 300) SEEN(2, 400, 50), ENDED(400, 300, false),
         0.1 * 20 + 0.3 * 300 + 0.6 * 50},
        /* Resumed from before its last evaluation. */
        {SEEN(1, 100, 300) SEEN(9, 200, 50) SEEN(2, 200, 400), ENDED(1000, 400, false),
         0.1 * 20 + 0.1 * 300 + 0.8 * 400},
    };
    const char *dir = cli_path(state, "study");
    sweep_hand hand;
    const aq_sweep_study *study = take_first(&hand, dir);
    EACH_ROW(i, rows) {
        aq_sweep_outcome outcome;
        leave(study, dir, 0, rows[i].metrics, rows[i].result);
        assert_true(aq_sweep_training_outcome(study, dir, 0, &outcome));
        assert_false(outcome.is_failed);
        assert_near(outcome.figures[AQ_SWEEP_AREA], rows[i].area, 1e-9);
    }
    sweep_dismiss(&hand);
}

/* What somebody ended, and not the worker, is nothing to score yet; trouble never is. */
TEST_IN_FOLDER(a_run_that_was_stopped_has_not_ended_and_one_in_trouble_has_failed)
{
    static const struct {
        const char *result;
        bool has_ended, is_failed;
    } rows[] = {
        {"{\"state\": \"interrupted\", \"env_steps\": 400, \"return_mean\": 480}", false, true},
        {"{\"state\": \"stopped\", \"env_steps\": 400, \"return_mean\": 480}", false, true},
        {"{\"state\": \"diverged\", \"env_steps\": 400, \"cpu_s\": 7}", true, true},
        {"{\"state\": \"unknown\", \"env_steps\": 400, \"return_mean\": 480}", true, true},
        {"{\"state\": \"budget\", \"env_steps\": 1000, \"return_mean\": 480, \"trouble\": "
         "\"full\"}",
         true, true},
        {"{\"state\": \"budget\", \"env_steps\": 1000, \"return_mean\": 480, \"trouble\": null}",
         true, false},
        {"{\"state\": \"budget\", \"env_steps\": 1000, \"return_mean\": 480}", true, false},
        {"{\"state\": \"solved\", \"env_steps\": 1000, \"return_mean\": 480}", true, false},
    };
    const char *dir = cli_path(state, "study");
    sweep_hand hand;
    const aq_sweep_study *study = take_first(&hand, dir);
    EACH_ROW(i, rows) {
        aq_sweep_outcome outcome;
        leave(study, dir, 0, SEEN(1, 100, 300), rows[i].result);
        assert_int_equal(aq_sweep_training_outcome(study, dir, 0, &outcome), rows[i].has_ended);
        assert_int_equal(outcome.is_failed, rows[i].is_failed);
        assert_true(outcome.figures[AQ_SWEEP_STEPS] >= 400); /* what it took is known */
    }
    sweep_dismiss(&hand);
}

/* A learner that is solved would train on. */
TEST_IN_FOLDER(what_came_to_a_good_end_before_its_worker_was_lost_is_not_trained_on)
{
    static const struct {
        const char *result;
        bool is_over;
    } rows[] = {
        {ENDED(400, 480, true), true},
        {ENDED(1000, 480, false), true},
        {ENDED(400, 480, false), false}, /* of the rung before */
        {"{\"state\": \"interrupted\", \"env_steps\": 400, \"return_mean\": 480}", false},
        {"{\"state\": \"diverged\", \"env_steps\": 400}", false},
        {"{\"state\": \"sol", false},
    };
    const char *dir = cli_path(state, "study");
    sweep_hand hand;
    const aq_sweep_study *study = take_first(&hand, dir);
    leave(study, dir, 0, SEEN(1, 100, 300), rows[0].result);
    assert_false(aq_sweep_training_is_over(study, dir, 0)); /* nobody has trained it yet */
    assert_succeeds(
        aq_sweep_desk_release(hand.desk, (aq_sweep_now){0}, 0, hand.attempt, false, &refusal));
    hand.is_busy = false;
    (void)sweep_step(&hand, 1);
    EACH_ROW(i, rows) {
        leave(study, dir, 0, SEEN(1, 100, 300), rows[i].result);
        assert_int_equal(aq_sweep_training_is_over(study, dir, 0), rows[i].is_over);
    }
    sweep_dismiss(&hand);
}

/* Machines of one sweep may differ in what they can measure; a model there is of each. */
TEST_IN_FOLDER(joules_are_the_models)
{
    const char *dir = cli_path(state, "study");
    sweep_hand hand;
    aq_sweep_outcome outcome;
    const aq_sweep_study *study = take_first(&hand, dir);
    leave(study, dir, 0, SEEN(1, 100, 300),
          "{\"state\": \"budget\", \"env_steps\": 1000, \"return_mean\": 480, \"energy_j\": 7, "
          "\"energy_source\": \"rapl\", \"energy_model_j\": 9}");
    assert_true(aq_sweep_training_outcome(study, dir, 0, &outcome));
    assert_near(outcome.figures[AQ_SWEEP_JOULES], 9, 0);
    sweep_dismiss(&hand);
}

/* A promoted run's clock begins with the one that it goes on from, and so does what it is said to
 * have taken: the last session alone would be less than that. */
TEST_IN_FOLDER(a_run_that_diverged_took_the_time_of_all_its_sessions)
{
    const char *dir = cli_path(state, "study");
    sweep_hand hand;
    aq_sweep_outcome outcome;
    const aq_sweep_study *study = take_first(&hand, dir);
    leave(study, dir, 0,
          SEEN(1, 100, 300) "{\"event\": \"end\", \"wall_s\": 70, \"env_steps\": 400, \"state\": "
                            "\"diverged\"}\n",
          "{\"state\": \"diverged\", \"env_steps\": 400, \"wall_s\": 7}");
    assert_true(aq_sweep_training_outcome(study, dir, 0, &outcome));
    assert_true(outcome.is_failed);
    assert_near(outcome.figures[AQ_SWEEP_WALL], 70, 0);
    assert_true(isnan(outcome.figures[AQ_SWEEP_AREA]));
    sweep_dismiss(&hand);
}

/* At the next rung it counts over more steps, and is worth there what it was worth in the end. */
TEST_IN_FOLDER(a_solved_run_is_scored_alike_at_each_rung)
{
    const double areas[] = {0.1 * 20 + 0.3 * 300 + 0.6 * 480, (2 + 90 + 0.6 * 480 + 3 * 480) / 4};
    sweep_hand hand;
    const char *dir = cli_path(state, "study");
    sweep_found(dir, study_text);
    sweep_hire(&hand, dir, "hand");
    const aq_sweep_study *study = aq_sweep_desk_study(hand.desk);
    EACH_ROW(i, areas) {
        const aq_sweep_now now = {(double)i, (int64_t)i};
        aq_sweep_outcome outcome;
        aq_sweep_errand errand;
        assert_succeeds(
            aq_sweep_desk_claim(hand.desk, now, &errand, &hand.run, &hand.attempt, &refusal));
        assert_int_equal(errand, AQ_SWEEP_RUN_IT);
        leave(study, dir, hand.run, SEEN(1, 100, 300), ENDED(400, 480, true));
        assert_true(aq_sweep_training_outcome(study, dir, hand.run, &outcome));
        assert_near(outcome.figures[AQ_SWEEP_AREA], areas[i], 1e-9);
        assert_succeeds(
            aq_sweep_desk_report(hand.desk, now, hand.run, hand.attempt, &outcome, &refusal));
    }
    sweep_dismiss(&hand);
}

TEST_IN_FOLDER(a_run_goes_on_from_its_checkpoint_or_begins_anew)
{
    static const char *const files[] = {"run.json", "checkpoints/step-000000000099.aqc"};
    const char *dir = cli_path(state, "study");
    char folder[CLI_PATH_MAX + 64], path[CLI_PATH_MAX + 128];
    sweep_hand hand;
    const aq_sweep_study *study = take_first(&hand, dir);
    aq_sweep_training_folder(study, dir, 0, folder, sizeof(folder));
    for (size_t count = 1; count <= 2; count++) {
        (void)snprintf(path, sizeof(path), "%s/checkpoints", folder);
        assert_succeeds(aq_dir_create(path, &refusal));
        for (size_t i = 0; i < count; i++) {
            (void)snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
            file_put_text(path, "");
        }
        assert_succeeds(aq_sweep_training_prepare(study, dir, 0, &refusal));
        assert_int_equal(aq_path_exists(folder), count == 2);
    }
    sweep_dismiss(&hand);
}

TEST_IN_FOLDER(a_run_whose_checkpoints_cannot_be_listed_stays_as_it_is)
{
    const char *dir = cli_path(state, "study");
    char folder[CLI_PATH_MAX + 64];
    aq_own_child child = {.ended = NULL};
    sweep_hand hand;
    const aq_sweep_study *study = take_first(&hand, dir);
    aq_sweep_training_folder(study, dir, 0, folder, sizeof(folder));
    leave(study, dir, 0, "", "{}");
    assert_int_equal(symlink("checkpoints", file_in(folder, "checkpoints")), 0);
    assert_refused(aq_sweep_training_prepare(study, dir, 0, &refusal), AQ_E_INVALID,
                   "checkpoints: can't list it");
    assert_true(aq_path_exists_in(folder, "metrics.jsonl"));
    assert_int_equal(aq_sweep_training_start(study, dir, 0, "/bin/echo", -1, uv_default_loop(),
                                             &child, &refusal),
                     AQ_E_INVALID);
    sweep_dismiss(&hand);
}

/* That is what a lost worker leaves; one that stands still fills another part than the next one. */
TEST_IN_FOLDER(a_promoted_run_is_copied_in_a_part_of_its_attempt_and_older_ones_go)
{
    const char *dir = cli_path(state, "study");
    const aq_sweep_outcome outcome = {.figures = {0}};
    char folder[CLI_PATH_MAX + 64], old[CLI_PATH_MAX + 80];
    sweep_hand hand;
    const aq_sweep_study *study = take_first(&hand, dir);
    leave(study, dir, 0, "", "{}");
    assert_succeeds(aq_sweep_desk_report(hand.desk, (aq_sweep_now){0}, hand.run, hand.attempt,
                                         &outcome, &refusal));
    for (uint32_t attempt = 1; attempt <= 2; attempt++) {
        hand.is_busy = false;
        assert_true(sweep_step(&hand, attempt));
        assert_int_equal(hand.run, 1);
        assert_int_equal(hand.attempt, attempt);
        if (attempt == 1) {
            assert_succeeds(aq_sweep_desk_release(hand.desk, (aq_sweep_now){0}, hand.run, attempt,
                                                  true, &refusal));
        }
    }
    aq_sweep_training_folder(study, dir, 1, folder, sizeof(folder));
    (void)snprintf(old, sizeof(old), "%s.part-1", folder);
    cli_make_folder(old);
    file_put_text(file_in(old, "half"), "");
    assert_succeeds(aq_sweep_training_prepare(study, dir, 1, &refusal));
    assert_true(aq_path_exists_in(folder, "metrics.jsonl"));
    assert_false(aq_path_exists_in(folder, "half"));
    assert_false(aq_path_exists(old));
    sweep_dismiss(&hand);
}

static void on_echoed(aq_own_child *child, int signal_number, int64_t status)
{
    (void)child;
    assert_int_equal(signal_number, 0);
    assert_int_equal(status, 0);
}

/* What `actorq` is started with. */
static const char *words_of(const aq_sweep_study *study, const char *dir)
{
    char path[CLI_PATH_MAX + 96];
    aq_own_child child = {.ended = on_echoed};
    aq_sweep_training_folder(study, dir, 0, path, sizeof(path));
    assert_succeeds(aq_sweep_training_start(study, dir, 0, "/bin/echo", -1, uv_default_loop(),
                                            &child, &refusal));
    (void)uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    aq_text_append(path, sizeof(path), ".json");
    return file_text(path);
}

/* Its folder may be a copy of a run's that had one more: what does not count is as in a new run. */
TEST_IN_FOLDER(a_run_that_goes_on_takes_no_setting_from_its_folder)
{
    const char *dir = cli_path(state, "study");
    char folder[CLI_PATH_MAX + 64], path[CLI_PATH_MAX + 128];
    sweep_hand hand;
    char said[256];
    aq_run_config config;
    aq_train_arguments arguments = {.task = "gym:CartPole-v1",
                                    .preset = "cartpole-dqn",
                                    .new_settings = true,
                                    .options = {.resume = true, .quiet = true}};
    const aq_sweep_study *study = take_first(&hand, dir);
    aq_sweep_training_folder(study, dir, 0, folder, sizeof(folder));
    (void)snprintf(path, sizeof(path), "%s/checkpoints", folder);
    assert_succeeds(aq_dir_create(path, &refusal));
    file_put_text(file_in(folder, "config.yaml"), "task: gym:CartPole-v1\n"
                                                  "preset: cartpole-dqn\n"
                                                  "learner: {algorithm: dqn, n_step: 9}\n");
    assert_null(strstr(words_of(study, dir), "--resume"));
    aq_text_append(path, sizeof(path), "/step-000000000099.aqc");
    file_put_text(path, "");
    const char *words = words_of(study, dir);
    assert_says(words, " --resume --new-settings --preset cartpole-dqn ");
    assert_true(aq_path_exists_in(folder, "config.yaml"));
    (void)snprintf(arguments.options.run_dir, sizeof(arguments.options.run_dir), "%s", folder);
    assert_succeeds(aq_train_settings_check(&arguments, &refusal));
    stderr_capture_begin();
    const int rc = aq_train_settings_resolve(&arguments, &config, &refusal);
    assert_int_equal(stderr_capture_end(said, sizeof(said)), 0);
    assert_succeeds(rc);
    assert_string_equal(config.preset, "cartpole-dqn");
    assert_int_not_equal(config.learner.n_step, 9);
    sweep_dismiss(&hand);
}

/* Its learner has ended, and it evaluates, or it has not made one yet; or its shard lives on. */
TEST_IN_FOLDER(a_folder_that_a_training_still_has_is_waited_for)
{
    const char *dir = cli_path(state, "study");
    char folder[CLI_PATH_MAX + 64], shard[CLI_PATH_MAX + 80];
    aq_folder_lock *lock;
    sweep_hand hand;
    const aq_sweep_study *study = take_first(&hand, dir);
    aq_sweep_training_folder(study, dir, 0, folder, sizeof(folder));
    assert_succeeds(aq_dir_create(folder, &refusal));
    const int training = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(training, LOCK_EX), 0);
    assert_int_equal(aq_sweep_training_prepare(study, dir, 0, &refusal), AQ_E_AGAIN);
    assert_true(aq_path_exists(folder));
    (void)close(training);
    (void)snprintf(shard, sizeof(shard), "%s/replay-1", folder);
    cli_make_folder(shard);
    assert_succeeds(aq_folder_lock_take(shard, &lock, &refusal));
    assert_int_equal(aq_sweep_training_prepare(study, dir, 0, &refusal), AQ_E_AGAIN);
    assert_true(aq_path_exists(shard));
    aq_folder_lock_release(lock);
    assert_succeeds(aq_sweep_training_prepare(study, dir, 0, &refusal));
    assert_false(aq_path_exists(folder));
    sweep_dismiss(&hand);
}

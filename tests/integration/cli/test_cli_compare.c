/*
 * actorq compare as its users run it: a small comparison on the real cartpole, killed and gone on
 * with, and what cannot be compared.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/checkpoint_folder.h"
#include "common/base/clock.h"
#include "common/sys/file.h"
#include "common/sys/folder_lock.h"
#include "tests/integration/cli/program.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static const char *folder;

static int setup(void **state)
{
    int rc = cli_fixture_setup(state);
    folder = cli_path(state, "compared");
    return rc;
}

static void pause_briefly(void)
{
    aq_clock_wait_until(aq_clock_monotonic_ns() + 10 * AQ_NS_PER_MS);
}

/* A run that is under way gets a limit that it has passed; not before it has a return, since steps
 * are made before the evaluator is there, where others use the machine. */
static void end_when_evaluated(const char *run)
{
    const char *dir = file_in(folder, run);
    while (shell("grep -qs '\"event\":\"evaluation\".*\"fell_back\":false' '%s/metrics.jsonl'",
                 dir) != 0) {
        pause_briefly();
    }
    shell_succeeds("'%s' set '%s' limits.env_steps=1000 --timeout-ms 240000 >/dev/null",
                   program_path(), dir);
}

static json_t *row_of(json_t *json, size_t row)
{
    return json_array_get(json_object_get(json, "rows"), row);
}

TEST_WITH(two_precisions_are_compared, setup, cli_fixture_teardown)
{
    program_start("compare", "gym:CartPole-v1", "--precisions=fp32,int8", "--seeds=1",
                  "--preset=none", "--set=limits.env_steps=100000000", "--threshold=20", "--output",
                  folder, "-q", "--json", NULL);
    end_when_evaluated("fp32-s1");
    end_when_evaluated("int8-s1");
    program_wait();
    program_assert_success();
    json_t *json = program_json();
    for (size_t i = 0; i < 2; i++) {
        json_t *row = row_of(json, i);
        assert_int_equal(json_integer_value(json_object_get(row, "seeds")), 1);
        assert_true(json_number_value(json_object_get(row, "env_steps_per_s")) > 0);
        assert_true(json_number_value(json_object_get(row, "return_mean")) > 0);
        assert_true(json_number_value(json_object_get(row, "broadcast_bytes")) > 0);
        assert_true(json_is_null(json_object_get(row, "speedup")));
        assert_string_equal(json_string_value(json_object_get(row, "speedup_missing")),
                            "fewer than 3 seeds");
    }
    const char *page = file_text(file_in(folder, "report.html"));
    assert_says(page, "fewer than 3 seeds");
    assert_says(page, "<svg");
}

TEST_WITH(modes_are_compared, setup, cli_fixture_teardown)
{
    program_run("compare", "gym:CartPole-v1", "--modes=experience,sync", "--parallel=2",
                "--seeds=1", "--preset=none", "--set=limits.env_steps=6000", "--threshold=20",
                "--output", folder, "-q", "--json", NULL);
    program_assert_success();
    json_t *json = program_json();
    for (size_t i = 0; i < 2; i++) {
        json_t *row = row_of(json, i);
        assert_string_equal(json_string_value(json_object_get(row, "mode")),
                            i == 0 ? "experience" : "sync");
        assert_int_equal(json_integer_value(json_object_get(row, "seeds")), 1);
        assert_true(json_number_value(json_object_get(row, "updates_per_s")) > 0);
        assert_true(json_is_null(json_object_get(row, "efficiency")));
        assert_int_equal(json_array_size(json_object_get(row, "rank_waiting_shares")), i + 1);
    }
    const char *page = file_text(file_in(folder, "report.html"));
    assert_says(page, "--learners 2");
    assert_says(page, "Which problems each suits");
}

TEST_WITH(a_folder_that_another_command_has_is_left_alone, setup, cli_fixture_teardown)
{
    assert_succeeds(aq_dir_create(folder, &refusal));
    const int held = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(held >= 0);
    assert_int_equal(flock(held, LOCK_EX), 0);
    program_refuses("compared: in use by another command", "compare", "gym:CartPole-v1", "--output",
                    folder, "-q", NULL);
    program_refuses("compared: in use by another command", "compare", "--output", folder,
                    "--resume", "-q", NULL);
    assert_int_equal(close(held), 0);
    assert_false(aq_path_exists_in(folder, "plan.json"));
}

/* How often a run was gone on with. */
static json_int_t resumed(const char *result)
{
    json_t *json = json_load_file(file_in(folder, result), 0, NULL);
    assert_true(json_is_integer(json_object_get(json, "resumed")));
    json_int_t count = json_integer_value(json_object_get(json, "resumed"));
    json_decref(json);
    return count;
}

/* The lock of a run's folder, once its learner has ended, which it does soon after its command. */
static aq_folder_lock *lock_of(const char *run)
{
    const int64_t end_ns = aq_clock_monotonic_ns() + 60 * AQ_NS_PER_S;
    aq_folder_lock *lock;
    int rc;
    while ((rc = aq_folder_lock_take(file_in(folder, run), &lock, &refusal)) != 0 &&
           aq_clock_monotonic_ns() < end_ns) {
        pause_briefly();
    }
    assert_succeeds(rc);
    return lock;
}

TEST_WITH(a_killed_comparison_goes_on_where_it_was, setup, cli_fixture_teardown)
{
    struct stat before, after;
    uint64_t step;
    program_start("compare", "gym:CartPole-v1", "--precisions", "fp32,int8", "--seeds", "1",
                  "--preset", "none", "--set", program_short_run(60000),
                  "--set=evaluator.threshold=1e9", "--set=learner.checkpoint_period_s=0.1",
                  "--output", folder, NULL);
    program_wait_for_words("[2/2] int8");
    assert_int_equal(stat(file_in(folder, "fp32-s1/result.json"), &before), 0);
    while (aq_checkpoint_newest_step(file_in(folder, "int8-s1"), &step, NULL) != 0) {
        pause_briefly();
    }
    assert_int_equal(kill(program_pid(), SIGKILL), 0);
    assert_int_equal(program_wait()->exit_status, -1);
    assert_int_not_equal(stat(file_in(folder, "int8-s1/result.json"), &after), 0);
    aq_folder_lock *lock = lock_of("int8-s1");
    program_refuses("int8-s1: in use by pid", "compare", "--output", folder, "--resume", "-q",
                    NULL);
    aq_folder_lock_release(lock);

    program_start("compare", "--output", folder, "--resume", NULL);
    while (!aq_path_exists_in(folder, "int8-s1/result.json")) {
        pause_briefly();
    }
    assert_int_equal(kill(program_pid(), SIGKILL), 0);
    assert_int_equal(program_wait()->exit_status, -1);
    aq_folder_lock_release(lock_of("int8-s1"));

    json_t *json = program_gives("compare", "--output", folder, "--resume", "-q", "--json", NULL);
    assert_int_equal(json_integer_value(json_object_get(row_of(json, 0), "seeds")), 1);
    assert_int_equal(json_integer_value(json_object_get(row_of(json, 1), "seeds")), 1);
    assert_int_equal(stat(file_in(folder, "fp32-s1/result.json"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino); /* that run was not touched */
    assert_int_equal(resumed("int8-s1/result.json"), 2);
}

/* Its port was busy, say, and is free now. */
TEST_WITH(a_run_that_was_refused_and_has_no_checkpoint_begins_anew, setup, cli_fixture_teardown)
{
    program_run("compare", "gym:CartPole-v1", "--precisions=int8", "--seeds=1", "--preset=none",
                "--set", program_short_run(20000), "--threshold=20", "--output", folder, "-q",
                "--json", NULL);
    program_assert_success();
    const char *checkpoints = file_in(folder, "int8-s1/checkpoints");
    aq_dir_remove(checkpoints);
    file_put_text(file_in(folder, "int8-s1/result.json"), "{\"outcome\": \"refused\"}");
    assert_int_equal(symlink("checkpoints", checkpoints), 0); /* which nobody can list */
    program_refuses("checkpoints: can't list it", "compare", "--output", folder, "--resume", "-q",
                    NULL);
    assert_true(aq_path_exists_in(folder, "int8-s1/metrics.jsonl"));
    assert_int_equal(unlink(checkpoints), 0);
    json_t *json = program_gives("compare", "--output", folder, "--resume", "-q", "--json", NULL);
    assert_int_equal(json_integer_value(json_object_get(row_of(json, 0), "seeds")), 1);
    assert_int_equal(resumed("int8-s1/result.json"), 0);
}

static char path_of_all[4096]; /* where programs are */

static void find_programs_again(void *unused)
{
    (void)unused;
    setenv("PATH", path_of_all, 1);
}

/* What is installed meanwhile is there when the comparison goes on. */
TEST_WITH(without_mpirun_the_machine_is_at_fault, setup, cli_fixture_teardown)
{
    (void)snprintf(path_of_all, sizeof(path_of_all), "%s", getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    at_end(find_programs_again, NULL);
    program_run("compare", "gym:CartPole-v1", "--modes=sync", "--seeds=1", "--preset=none",
                "--set=limits.env_steps=6000", "--output", folder, "-q", "--json", NULL);
    json_t *json = json_load_file(file_in(folder, "sync-s1/result.json"), 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json, "outcome")), "failed");
    assert_says(json_string_value(json_object_get(json, "reason")), "apt-get install openmpi-bin");
    json_decref(json);
}

TEST_WITH(nothing_is_overwritten_without_a_word, setup, cli_fixture_teardown)
{
    cli_make_folder(folder);
    file_put_text(file_in(folder, "notes.txt"), "mine");
    program_refuses("exists already and is no comparison", "compare", "gym:CartPole-v1", "--output",
                    folder, NULL);
    file_put_text(file_in(folder, "plan.json"), "{}");
    program_refuses("exists already; give --resume", "compare", "gym:CartPole-v1", "--output",
                    folder, NULL);
}

TEST_WITH(mistakes_are_said_before_anything_is_trained, setup, cli_fixture_teardown)
{
    program_refuses("which task", "compare", NULL);
    program_refuses("'paper'?", "compare", "gym:CartPole-v1", "--preset", "papper", "--output",
                    folder, NULL);
    program_refuses("from 1 to", "compare", "gym:CartPole-v1", "--seeds", "0", "--output", folder,
                    NULL);
    program_refuses("twice", "compare", "gym:CartPole-v1", "--precisions", "fp32,fp32", "--output",
                    folder, NULL);
    program_refuses("precision foo", "compare", "gym:CartPole-v1", "--precisions", "int8,foo",
                    "--output", folder, NULL);
    program_refuses("no mode fast", "compare", "gym:CartPole-v1", "--modes", "sync,fast",
                    "--output", folder, NULL);
    program_refuses("either", "compare", "gym:CartPole-v1", "--modes", "sync", "--precisions",
                    "int8", "--output", folder, NULL);
    program_refuses("are for --modes", "compare", "gym:CartPole-v1", "--scaling", "1", "--output",
                    folder, NULL);
    program_refuses("no limit ends the runs", "compare", "gym:CartPole-v1", "--set",
                    "limits.env_steps=0", "--output", folder, NULL);
    program_refuses("is no number", "compare", "gym:CartPole-v1", "--threshold", "high", "--output",
                    folder, NULL);
    program_refuses("dqn needs", "compare", "gym:Pendulum-v1", "--set", "learner.algorithm=dqn",
                    "--output", folder, NULL);
    assert_false(aq_path_exists(folder));
    program_refuses("--output", "compare", "--resume", NULL);
    program_refuses("no comparison", "compare", "--resume", "--output", folder, NULL);
    program_refuses("as it was begun", "compare", "gym:CartPole-v1", "--resume", "--output", folder,
                    NULL);
    program_refuses("learner.algorithm", "compare", "gym:CartPole-v1", "--set",
                    "learner.algorthm=d4pg", "--output", folder, NULL);
}

TEST_WITH(what_a_daemon_refused_is_said_in_its_words_and_the_command_fails, setup,
          cli_fixture_teardown)
{
    const program_result *result =
        program_run("compare", "gym:CartPole-v1", "--precisions", "int8", "--seeds", "1", "--set",
                    "quantizer.layer_formats=9:bf16", "--output", folder, "-q", NULL);
    assert_int_equal(result->exit_status, 1);
    assert_says(result->err, "no run came to its end");
    const char *page = file_text(file_in(folder, "report.html"));
    assert_says(page, "0 of 1 finished; refused: learner: quantizer.layer_formats: there is no "
                      "layer 9");
}

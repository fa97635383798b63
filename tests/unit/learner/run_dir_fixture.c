/*
 * A temporary run folder, and checkpoints to put into it.
 */
#include <inttypes.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/support/file_kit.h"
#include "tests/support/kept_arrays.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

static const aq_metric metric_rows[] = {
    {"loss", "loss", "", "what is lost", AQ_METRIC_MEAN, true},
    {"q_mean", "mean value", "", "what it expects", AQ_METRIC_MEAN, false},
};

const aq_metric_list fixture_metrics = {metric_rows, 2};

void run_dir_setup(run_dir *dir)
{
    dir->path = file_folder_make();
}

void run_dir_teardown(run_dir *dir)
{
    file_folder_remove(dir->path);
}

const char *run_dir_path(const run_dir *dir, const char *name)
{
    return file_in(dir->path, name);
}

const char *run_dir_checkpoint_path(const run_dir *dir, uint64_t step)
{
    char name[64];
    snprintf(name, sizeof(name), "checkpoints/step-%012" PRIu64 ".aqc", step);
    return run_dir_path(dir, name);
}

unsigned run_dir_checkpoint_files(const run_dir *dir)
{
    return (unsigned)file_count(run_dir_path(dir, "checkpoints"), "");
}

static float number_of(uint64_t step, unsigned array, size_t i)
{
    return (float)step + 0.25f * (float)array + (float)i / 1024;
}

void fixture_checkpoint(uint64_t step, aq_checkpoint *ret_checkpoint)
{
    static const uint32_t hidden[] = {8};
    static const float low[] = {-1, -1, -1, -1}, high[] = {1, 1, 1, 1};
    static float arrays[4][FIXTURE_PARAMETERS];
    static uint64_t adam_step;
    memset(ret_checkpoint, 0, sizeof(*ret_checkpoint));
    for (unsigned a = 0; a < 4; a++) {
        for (size_t i = 0; i < FIXTURE_PARAMETERS; i++) {
            arrays[a][i] = number_of(step, a, i);
        }
    }
    ret_checkpoint->run_id = 77;
    strcpy(ret_checkpoint->task, "gym:CartPole-v1");
    strcpy(ret_checkpoint->algorithm, "dqn");
    aq_space_init_box(&ret_checkpoint->schema.obs, 4, low, high);
    aq_space_init_discrete(&ret_checkpoint->schema.action, 2);
    assert_int_equal(
        aq_net_spec_init_mlp(4, hidden, 1, 2, AQ_ACTIVATION_RELU, &ret_checkpoint->spec, NULL), 0);
    ret_checkpoint->learner_step = step;
    ret_checkpoint->env_steps = 10 * step;
    ret_checkpoint->policy_version = step / 2 + 1;
    ret_checkpoint->policies.versions = step / 2 + 1;
    adam_step = step;
    kept_arrays(FIXTURE_PARAMETERS, (float *const[4]){arrays[0], arrays[1], arrays[2], arrays[3]},
                &adam_step, &ret_checkpoint->arrays);
    ret_checkpoint->wall_s = 1.5;
    ret_checkpoint->best_return = NAN;
    ret_checkpoint->config = "task: gym:CartPole-v1\n";
}

void fixture_assert_checkpoint(const aq_checkpoint *checkpoint, uint64_t step)
{
    static const char *const names[] = {"parameters", "target", "adam_m", "adam_v"};
    assert_int_equal(checkpoint->learner_step, step);
    assert_int_equal(kept_adam_step(&checkpoint->arrays), step);
    assert_int_equal(checkpoint->env_steps, 10 * step);
    assert_string_equal(checkpoint->config, "task: gym:CartPole-v1\n");
    for (unsigned a = 0; a < 4; a++) {
        const float *values = kept_floats(&checkpoint->arrays, names[a]);
        for (size_t i = 0; i < FIXTURE_PARAMETERS; i++) {
            assert_true(values[i] == number_of(step, a, i));
        }
    }
}

void fixture_limit_file_size(size_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes > 0 ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

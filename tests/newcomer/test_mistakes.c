/*
 * What goes wrong on the first day: each mistake is answered with one line that says what to do
 * instead, and leaves nothing behind.
 */
#include <dirent.h>

#include "tests/integration/cli/program.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

typedef struct mistake {
    const char *typed;
    const char *answer; /* what its line has to say */
} mistake;

/* A folder with a file that is no policy, a folder that is no run, a run, and nothing else. */
static int mistakes_setup(void **state)
{
    (void)cli_fixture_setup(state);
    cli_make_folder(cli_path(state, "folder"));
    cli_make_folder(cli_path(state, "run"));
    cli_write_run(cli_path(state, "run"));
    cli_write_text(cli_path(state, "text.txt"), "hello\n");
    cli_write_text(cli_path(state, "tab.yaml"), "learner:\n\tbatch_size: 3\n");
    cli_write_text(cli_path(state, "flat.yaml"), "learner.batch_size: 3\n");
    cli_write_text(cli_path(state, "list.yaml"), "learner:\n  batch_size: [3]\n");
    return chdir(*state);
}

static int mistakes_teardown(void **state)
{
    return chdir("/") != 0 || cli_fixture_teardown(state) != 0;
}

#define TEST_MISTAKES(name) TEST_WITH(name, mistakes_setup, mistakes_teardown)

/* How many files and folders there are in this one and below. */
static size_t count_entries(const char *folder)
{
    char path[CLI_PATH_MAX];
    size_t count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            count += 1 + count_entries(path); /* none below a file */
        }
    }
    (void)(entries != NULL && closedir(entries));
    return count;
}

static void make_each(const mistake *mistakes, size_t count)
{
    const size_t before = count_entries(".");
    for (size_t i = 0; i < count; i++) {
        print_message("actorq %s\n", mistakes[i].typed);
        program_run_line(mistakes[i].typed);
        program_assert_failure(1, mistakes[i].answer);
        assert_int_equal(count_entries("."), before);
    }
}

#define MAKE_EACH(mistakes) make_each((mistakes), sizeof(mistakes) / sizeof((mistakes)[0]))

TEST_MISTAKES(a_command_that_is_misspelt)
{
    static const mistake mistakes[] = {
        {"trian gym:CartPole-v1", "did you mean 'train'?"},
        {"Train gym:CartPole-v1", "did you mean 'train'?"},
        {"ls", "'actorq --help' lists them"},
        {"--train gym:CartPole-v1", "did you mean 'train'?"},
        {"help trian", "did you mean 'train'?"},
        {"env bnch gym:CartPole-v1", "did you mean 'bench'?"},
        {"bench kernel", "did you mean 'kernels'?"},
        {"replay exprt run/replay-0 steps.aqds", "did you mean 'export'?"},
    };
    MAKE_EACH(mistakes);
}

TEST_MISTAKES(an_option_that_is_not_there)
{
    static const mistake mistakes[] = {
        {"train gym:CartPole-v1 --actros 3", "did you mean --actors?"},
        {"train gym:CartPole-v1 --cfg text.txt", "--help lists all"},
        {"train gym:CartPole-v1 --lr 0.001", "--help lists all"},
        {"train gym:CartPole-v1 --set", "--set needs a value: --set KEY=VALUE"},
        {"train gym:CartPole-v1 --seed --quiet", "--seed needs a value: --seed S"},
        {"train gym:CartPole-v1 --resume=yes", "--resume takes no value"},
        {"train gym:CartPole-v1 gym:Taxi-v4", "one argument too many after 'gym:CartPole-v1'"},
        {"eval run --episods 3", "did you mean --episodes?"},
        {"eval", "RUN, POLICY or random is missing"},
        {"drain", "RUN and MEMBER are missing"},
    };
    MAKE_EACH(mistakes);
}

TEST_MISTAKES(a_setting_that_is_not_there)
{
    static const mistake mistakes[] = {
        {"train --set learner.lr=0.001", "did you mean learner.learning_rate?"},
        {"train --set lr=0.001", "did you mean learner.learning_rate?"},
        {"train --set gamma=0.99", "did you mean learner.discount?"},
        {"train --set learner.batch=64", "did you mean learner.batch_size?"},
        {"train --set leaner.batch_size=64", "did you mean learner.batch_size?"},
        {"train --set batch_size=64", "did you mean learner.batch_size?"},
        {"train --set env_step=64", "did you mean limits.env_steps?"},
        {"train --set color=red", "--print-config lists them all"},
        {"train --set learner.batch_size", "is not of the form KEY=VALUE"},
        {"train --config tab.yaml", "tab.yaml:2: indented by a tab; YAML wants blanks"},
        {"train --config flat.yaml", "'batch_size' stands below the line 'learner:', indented"},
        {"train --config list.yaml", "a value is expected, not a list"},
        {"train --config text.txt", "lines of the form 'key: value' are expected"},
    };
    MAKE_EACH(mistakes);
}

TEST_MISTAKES(a_value_that_cannot_be)
{
    static const mistake mistakes[] = {
        {"train --set learner.batch_size=1.5", "'1.5' is not a whole number (allowed: 1 to 65536"},
        {"train --set replay.capacity=1T", "'1T' is not a whole number"},
        {"train --set limits.env_steps=1e30", "'1e30' is out of bounds"},
        {"train --actors -2", "'-2' is out of bounds (allowed: 1 to 4096 actors"},
        {"train --seed seven", "'seven' is not a whole number"},
        {"train --set learner.learning_rate=fast", "is not a finite decimal number"},
        {"train --set learner.hidden=64x64", "such as \"64,64\""},
        {"train --set learner.norm=maybe", "allowed: true or false"},
        {"train --set learner.algorithm=ppo", "allowed: dqn, c51, d4pg, ddpg, td3 or auto"},
        {"train --set quantizer.format=int3", "allowed: int8, fp32,"},
        {"eval run --precision int3", "there are fp32, int8,"},
        {"eval run --episodes 0", "'0' is not a whole number from 1 to 1000000"},
        {"play random --env gym:CartPole-v1 --size big --png a.png", "is no size such as 640x480"},
        {"logs run --level loud", "is not one of debug, info, warn, error"},
    };
    MAKE_EACH(mistakes);
}

TEST_MISTAKES(a_task_that_is_not_there)
{
    static const mistake mistakes[] = {
        {"train gym:CartPoel-v1", "did you mean 'gym:CartPole-v1'?"},
        {"train CartPoel", "did you mean 'CartPole'?"},
        {"train gym:mountain", "there are gym:MountainCar-v0, gym:MountainCarContinuous-v0"},
        {"train atari:Pong", "'actorq envs' lists those that are"},
        {"train gym:CartPole-v1?gravity=3", "there is no option gravity; there are time_limit"},
        {"train gym:CartPole-v1?time_limit=lots", "is not a whole number from"},
        {"train gym:CartPole-v1?time_limit", "options are written key=value"},
        {"train so:nothing.so", "nothing.so"},
        {"envs gym:CartPoel", "did you mean 'gym:CartPole'?"},
        {"play random", "random play needs a task: --env TASK"},
        {"train gym:CartPole-v1 --set learner.algorithm=d4pg",
         "those of gym:CartPole-v1 are choices, for which dqn and c51 are made"},
    };
    MAKE_EACH(mistakes);
}

TEST_MISTAKES(a_file_that_is_not_there_or_is_another)
{
    static const mistake mistakes[] = {
        {"train --config missing.yaml", "missing.yaml: can't open: No such file"},
        {"train --run folder", "folder exists already; give --resume to go on with it, or another"},
        {"train --run missing --resume", "missing holds no run to resume"},
        {"train --resume", "--resume needs --run DIR"},
        {"train --offline missing.aqds", "missing.aqds: No such file"},
        {"train --offline text.txt", "text.txt: not a data set"},
        {"eval missing", "missing: can't open: No such file"},
        {"eval folder", "folder has no policy.aq: it is no run folder, or its run has"},
        {"eval text.txt", "text.txt: not a message of ours"},
        {"inspect folder", "folder is no run folder"},
        {"plot folder", "folder is no run folder"},
        {"plot run --output curve.jpg", "'curve.jpg' is neither FILE.svg nor FILE.png"},
        {"quantize run", "OUT is missing"},
        {"logs folder", "folder holds no logs"},
    };
    MAKE_EACH(mistakes);
}

TEST_MISTAKES(an_address_where_nobody_is)
{
    static const mistake mistakes[] = {
        {"status missing", "is neither a URL (tcp://host:port, ipc:///path) nor a run folder"},
        {"status run", "no live run is driven from this folder"},
        {"status htp://host:5550", "allowed are tcp://host:port, ipc:///path"},
        {"status tcp://localhost", "it has no port (tcp://host:port)"},
        {"status tcp://localhost:http", "its port is not a number from 0 to 65535"},
        {"status ipc:///nonexistent/aq --timeout-ms 100", "could not be reached within 100 ms"},
        {"call run Operations/Statu", "did you mean 'Operations/Status'?"},
        {"health tcp://127.0.0.1:8080", "expected is host:port"},
    };
    MAKE_EACH(mistakes);
}

int main(int argc, char **argv)
{
    char here[CLI_PATH_MAX] = "", program[2 * CLI_PATH_MAX];
    const char *path = argc > 1 ? argv[1] : "actorq";
    if (path[0] != '/' && getcwd(here, sizeof(here)) == NULL) { /* each test has its own folder */
        return 1;
    }
    (void)snprintf(program, sizeof(program), "%s/%s", here, path);
    program_choose(program);
    return aq_test_run(NULL);
}

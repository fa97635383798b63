/*
 * A folder becomes a run's, is taken up again, and is refused where it is another's.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/sys/file.h"
#include "common/wire/wire_policy.h"
#include "learner/run/run_folder.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"
#include "tests/unit/learner/run_dir_fixture.h"

static aq_run_config config_of(uint64_t seed)
{
    aq_run_config config;
    aq_settings_init(aq_run_config_table(), &config);
    config.seed = seed;
    return config;
}

static int open_folder(void **state, bool resume, aq_run_folder *ret_folder, aq_error *error)
{
    aq_run_config config = config_of(5);
    return aq_run_folder_open(*state, &config, resume, ret_folder, error);
}

static aq_run_folder begin(void **state)
{
    aq_run_folder folder = {.run_id = 0};
    assert_int_equal(open_folder(state, false, &folder, NULL), 0);
    return folder;
}

static void says(const aq_error *error, const char *word)
{
    if (!strstr(error->text, word)) {
        fail_msg("'%s' does not say '%s'", error->text, word);
    }
}

/* ---- a new run ----------------------------------------------------------------------------- */

TEST_WITH(a_new_folder_becomes_a_run, run_dir_setup, run_dir_teardown)
{
    aq_run_folder folder = begin(state);
    char id[24];
    assert_string_equal(folder.path, *state);
    assert_false(folder.resumed);
    assert_true(folder.run_id != 0);
    assert_true(aq_path_exists(run_dir_path(state, "checkpoints")));

    json_t *identity = json_load_file(run_dir_path(state, "run.json"), 0, NULL);
    snprintf(id, sizeof(id), "%016" PRIx64, folder.run_id);
    assert_string_equal(json_string_value(json_object_get(identity, "run_id")), id);
    assert_string_equal(json_string_value(json_object_get(identity, "task")), "gym:CartPole-v1");
    assert_int_equal(json_integer_value(json_object_get(identity, "seed")), 5);
    assert_string_equal(json_string_value(json_object_get(identity, "software")), AQ_VERSION);
    const char *made = json_string_value(json_object_get(identity, "made"));
    assert_int_equal(strlen(made), strlen("2026-01-01T00:00:00Z"));
    json_decref(identity);
}

TEST_WITH(its_configuration_can_be_read_again, run_dir_setup, run_dir_teardown)
{
    aq_run_config config;
    begin(state);
    aq_settings_init(aq_run_config_table(), &config);
    assert_int_equal(aq_settings_read_file(aq_run_config_table(),
                                           run_dir_path(state, "config.yaml"), &config, NULL),
                     0);
    assert_int_equal(config.seed, 5);
    assert_string_equal(config.task, "gym:CartPole-v1");
}

TEST_WITH(a_folder_and_its_parents_are_made, run_dir_setup, run_dir_teardown)
{
    aq_run_config config = config_of(5);
    aq_run_folder folder;
    char path[FIXTURE_PATH_MAX];
    snprintf(path, sizeof(path), "%s", run_dir_path(state, "a"));
    assert_int_equal(aq_run_folder_open(path, &config, false, &folder, NULL), 0);
    assert_true(aq_path_exists(run_dir_path(state, "a/run.json")));
}

TEST_WITH(two_runs_have_two_ids, run_dir_setup, run_dir_teardown)
{
    aq_run_folder first = begin(state);
    assert_int_equal(unlink(run_dir_path(state, "run.json")), 0);
    aq_run_folder second = begin(state);
    assert_true(first.run_id != second.run_id);
}

/* ---- an old one ---------------------------------------------------------------------------- */

TEST_WITH(a_folder_with_a_run_needs_resume, run_dir_setup, run_dir_teardown)
{
    aq_run_folder folder = {.run_id = 4711};
    aq_error error = {0};
    begin(state);
    assert_int_equal(open_folder(state, false, &folder, &error), AQ_E_EXISTS);
    assert_int_equal(folder.run_id, 4711);
    says(&error, *state);
    says(&error, "--resume");
}

TEST_WITH(a_resumed_run_is_the_same, run_dir_setup, run_dir_teardown)
{
    aq_run_folder again;
    aq_run_folder first = begin(state);
    assert_int_equal(open_folder(state, true, &again, NULL), 0);
    assert_int_equal(again.run_id, first.run_id);
    assert_true(again.resumed);
}

TEST_WITH(resume_of_an_empty_folder_begins_a_run, run_dir_setup, run_dir_teardown)
{
    aq_run_folder folder;
    assert_int_equal(open_folder(state, true, &folder, NULL), 0);
    assert_false(folder.resumed);
    assert_true(folder.run_id != 0);
}

static uint64_t env_steps_on_disk(void **state)
{
    aq_run_config config;
    aq_settings_init(aq_run_config_table(), &config);
    assert_int_equal(aq_settings_read_file(aq_run_config_table(),
                                           run_dir_path(state, "config.yaml"), &config, NULL),
                     0);
    return config.limits.env_steps;
}

TEST_WITH(a_resumed_run_keeps_the_new_configuration_once_it_is_told_to, run_dir_setup,
          run_dir_teardown)
{
    aq_run_config config = config_of(5);
    aq_run_folder folder;
    begin(state);
    uint64_t before = env_steps_on_disk(state);
    config.limits.env_steps = 7777;
    assert_int_equal(aq_run_folder_open(*state, &config, true, &folder, NULL), 0);
    assert_int_equal(env_steps_on_disk(state), before);
    assert_int_equal(aq_run_folder_write_config(&folder, &config, NULL), 0);
    assert_int_equal(env_steps_on_disk(state), 7777);
}

TEST_WITH(a_run_of_another_task_is_refused, run_dir_setup, run_dir_teardown)
{
    aq_run_config config = config_of(5);
    aq_run_folder folder = {.run_id = 4711};
    aq_error error = {0};
    begin(state);
    strcpy(config.task, "gym:Acrobot-v1");
    assert_int_equal(aq_run_folder_open(*state, &config, true, &folder, &error), AQ_E_INVALID);
    assert_int_equal(folder.run_id, 4711);
    says(&error, "run.json");
    says(&error, "gym:CartPole-v1");
    says(&error, "gym:Acrobot-v1");

    /* The configuration of the run that is there is as it was. */
    aq_settings_init(aq_run_config_table(), &config);
    assert_int_equal(aq_settings_read_file(aq_run_config_table(),
                                           run_dir_path(state, "config.yaml"), &config, NULL),
                     0);
    assert_string_equal(config.task, "gym:CartPole-v1");
}

TEST_WITH(a_run_json_that_is_not_ours_is_named, run_dir_setup, run_dir_teardown)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"run_id\": \"00000000000000ab\"}",
        "{\"run_id\": 171, \"task\": \"gym:CartPole-v1\"}",
        "{\"run_id\": \"\", \"task\": \"gym:CartPole-v1\"}",
        "{\"run_id\": \"0000000000000000\", \"task\": \"gym:CartPole-v1\"}",
        "{\"run_id\": \"ab\", \"task\": \"gym:CartPole-v1\"}",
        "{\"run_id\": \"-0000000000000ab\", \"task\": \"gym:CartPole-v1\"}",
        "{\"run_id\": \"              ab\", \"task\": \"gym:CartPole-v1\"}",
        "{\"run_id\": \"0x000000000000ab\", \"task\": \"gym:CartPole-v1\"}",
        "{\"run_id\": \"00000000000000abc\", \"task\": \"gym:CartPole-v1\"}",
        "{\"run_id\": \"00000000000000ag\", \"task\": \"gym:CartPole-v1\"}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        aq_run_folder folder = {.run_id = 4711};
        aq_error error = {0};
        fixture_write_bytes(run_dir_path(state, "run.json"), texts[i], strlen(texts[i]));
        int rc = open_folder(state, true, &folder, &error);
        if (rc != AQ_E_CORRUPT) {
            fail_msg("%s gives %s", texts[i], aq_error_name(rc));
        }
        says(&error, "run.json");
        assert_int_equal(folder.run_id, 4711);
    }
}

TEST_WITH(a_run_json_that_is_far_too_long_is_refused, run_dir_setup, run_dir_teardown)
{
    static char text[100000];
    aq_run_folder folder;
    aq_error error = {0};
    memset(text, ' ', sizeof(text));
    fixture_write_bytes(run_dir_path(state, "run.json"), text, sizeof(text));
    assert_int_equal(open_folder(state, true, &folder, &error), AQ_E_TOO_BIG);
    says(&error, "run.json");
}

/* ---- trouble ------------------------------------------------------------------------------- */

TEST_WITH(a_run_that_could_not_begin_leaves_the_folder_free, run_dir_setup, run_dir_teardown)
{
    aq_run_folder folder;
    aq_error error = {0};
    assert_int_equal(mkdir(run_dir_path(state, "config.yaml"), 0777), 0); /* in its way */
    assert_true(open_folder(state, false, &folder, &error) != 0);
    says(&error, "config.yaml");
    assert_false(aq_path_exists(run_dir_path(state, "run.json")));
    assert_int_equal(rmdir(run_dir_path(state, "config.yaml")), 0);
    begin(state); /* without resume */
}

TEST_WITH(a_file_in_the_place_of_the_folder_is_named, run_dir_setup, run_dir_teardown)
{
    aq_run_config config = config_of(5);
    aq_run_folder folder;
    aq_error error = {0};
    char path[FIXTURE_PATH_MAX];
    snprintf(path, sizeof(path), "%s", run_dir_path(state, "file"));
    fixture_write_bytes(path, "x", 1);
    assert_true(aq_run_folder_open(path, &config, false, &folder, &error) != 0);
    says(&error, path);
}

TEST_WITH(a_path_that_is_too_long_is_refused, run_dir_setup, run_dir_teardown)
{
    static char path[2 * AQ_PATH_MAX];
    aq_run_config config = config_of(5);
    aq_run_folder folder;
    memset(path, 'x', sizeof(path) - 1);
    assert_int_equal(aq_run_folder_open(path, &config, false, &folder, NULL), AQ_E_TOO_BIG);
    path[AQ_PATH_MAX - 5] = '\0'; /* itself not, but with a name below it */
    assert_int_equal(aq_run_folder_open(path, &config, false, &folder, NULL), AQ_E_TOO_BIG);
}

TEST_WITH(opening_survives_every_failed_allocation, run_dir_setup, run_dir_teardown)
{
    int rc = AQ_E_NOMEM;
    for (uint64_t nth = 1; rc; nth++) {
        aq_run_folder folder = {.run_id = 4711};
        aq_memory_fail_at(nth, 0);
        rc = open_folder(state, false, &folder, NULL);
        aq_memory_fail_at(0, 0);
        if (rc) {
            assert_int_equal(rc, AQ_E_NOMEM);
            assert_int_equal(folder.run_id, 4711);
        }
    }
    int untouched = open_folder(state, false, &(aq_run_folder){.run_id = 0}, NULL);
    assert_int_equal(untouched, AQ_E_EXISTS);
}

/* ---- the policy ---------------------------------------------------------------------------- */

TEST_WITH(the_policy_is_written_in_both_forms_and_replaced, run_dir_setup, run_dir_teardown)
{
    learner_kit kit;
    aq_run_folder folder = begin(state);
    learner_kit_init(&kit, 1);
    for (uint64_t version = 3; version <= 4; version++) {
        aq_publication publication;
        aq_snapshot *read = NULL;
        learner_kit_publication(&kit, version, AQ_FORMAT_INT8_CHANNEL, &publication);
        assert_int_equal(aq_run_folder_write_policy(&folder, &publication, NULL), 0);
        assert_int_equal(aq_policy_file_read(run_dir_path(state, "policy.aq"), &read, NULL), 0);
        assert_int_equal(read->version, version);
        assert_int_equal(read->layers[0].format, AQ_FORMAT_INT8_CHANNEL);
        aq_snapshot_unref(read);
        assert_int_equal(aq_policy_file_read(run_dir_path(state, "policy.fp32.aq"), &read, NULL),
                         0);
        assert_int_equal(read->version, version);
        assert_int_equal(read->layers[0].format, AQ_FORMAT_F32);
        aq_snapshot_unref(read);
        aq_publication_fini(&publication);
    }
    learner_kit_fini(&kit);
}

TEST_WITH(a_policy_that_can_not_be_written_is_named, run_dir_setup, run_dir_teardown)
{
    learner_kit kit;
    aq_publication publication;
    aq_error error = {0};
    aq_run_folder folder = begin(state);
    learner_kit_init(&kit, 1);
    learner_kit_publication(&kit, 3, AQ_FORMAT_INT8_CHANNEL, &publication);
    assert_int_equal(mkdir(run_dir_path(state, "policy.aq"), 0777), 0);
    assert_true(aq_run_folder_write_policy(&folder, &publication, &error) != 0);
    says(&error, "policy.aq");
    aq_publication_fini(&publication);
    learner_kit_fini(&kit);
}

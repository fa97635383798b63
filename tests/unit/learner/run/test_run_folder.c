/*
 * A folder becomes a run's, is taken up again, and is refused where it is another's.
 */
#include <inttypes.h>
#include <jansson.h>
#include <sys/stat.h>

#include "common/sys/file.h"
#include "common/wire/wire_policy.h"
#include "learner/run/run_folder.h"
#include "tests/support/config_kit.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"
#include "tests/unit/learner/run_dir_fixture.h"

static aq_run_config config_of(uint64_t seed)
{
    aq_run_config config = config_defaults();
    config.seed = seed;
    return config;
}

static int open_folder(run_dir *dir, bool resume, aq_run_folder *ret_folder, aq_error *error)
{
    aq_run_config config = config_of(5);
    return aq_run_folder_open(dir->path, &config, resume, 0, ret_folder, error);
}

static int begin_in(const aq_run_folder *folder, aq_error *error)
{
    const aq_run_config config = config_of(5);
    return aq_run_folder_begin(folder, &config, error);
}

static aq_run_folder begin(run_dir *dir)
{
    aq_run_folder folder = {.run_id = 0};
    assert_int_equal(open_folder(dir, false, &folder, NULL), 0);
    assert_int_equal(begin_in(&folder, NULL), 0);
    return folder;
}

static aq_run_config config_on_disk(const run_dir *dir)
{
    aq_run_config config = config_defaults();
    assert_succeeds(aq_settings_read_file(aq_run_config_table(), run_dir_path(dir, "config.yaml"),
                                          &config, NULL));
    return config;
}

/* ---- a new run ----------------------------------------------------------------------------- */

TEST_IN(run_dir, dir, a_new_folder_becomes_a_run)
{
    aq_run_folder folder = begin(dir);
    char id[24];
    assert_string_equal(folder.path, dir->path);
    assert_false(folder.resumed);
    assert_true(folder.run_id != 0);
    assert_true(aq_path_exists(run_dir_path(dir, "checkpoints")));

    json_t *identity = json_load_file(run_dir_path(dir, "run.json"), 0, NULL);
    snprintf(id, sizeof(id), "%016" PRIx64, folder.run_id);
    assert_string_equal(json_string_value(json_object_get(identity, "run_id")), id);
    assert_string_equal(json_string_value(json_object_get(identity, "task")), "gym:CartPole-v1");
    assert_int_equal(json_integer_value(json_object_get(identity, "seed")), 5);
    assert_string_equal(json_string_value(json_object_get(identity, "software")), AQ_VERSION);
    const char *made = json_string_value(json_object_get(identity, "made"));
    assert_int_equal(strlen(made), strlen("2026-01-01T00:00:00Z"));
    json_decref(identity);
}

TEST_IN(run_dir, dir, its_configuration_can_be_read_again)
{
    begin(dir);
    const aq_run_config config = config_on_disk(dir);
    assert_int_equal(config.seed, 5);
    assert_string_equal(config.task, "gym:CartPole-v1");
}

TEST_IN(run_dir, dir, a_folder_and_its_parents_are_made)
{
    aq_run_config config = config_of(5);
    aq_run_folder folder;
    const char *path = run_dir_path(dir, "a");
    assert_int_equal(aq_run_folder_open(path, &config, false, 0, &folder, NULL), 0);
    assert_int_equal(begin_in(&folder, NULL), 0);
    assert_true(aq_path_exists(run_dir_path(dir, "a/run.json")));
}

/* So that what was refused on its way can be begun again. */
TEST_IN(run_dir, dir, a_folder_that_was_only_opened_is_no_run_s_yet)
{
    aq_run_folder folder;
    assert_int_equal(open_folder(dir, false, &folder, NULL), 0);
    assert_false(aq_path_exists(run_dir_path(dir, "run.json")));
    assert_false(aq_path_exists(run_dir_path(dir, "config.yaml")));
    begin(dir); /* without resume */
}

TEST_IN(run_dir, dir, two_runs_have_two_ids)
{
    aq_run_folder first = begin(dir);
    assert_int_equal(unlink(run_dir_path(dir, "run.json")), 0);
    aq_run_folder second = begin(dir);
    assert_true(first.run_id != second.run_id);
}

/* ---- an old one ---------------------------------------------------------------------------- */

TEST_IN(run_dir, dir, a_folder_with_a_run_needs_resume)
{
    aq_run_folder folder = {.run_id = 4711};
    begin(dir);
    assert_int_equal(open_folder(dir, false, &folder, &refusal), AQ_E_EXISTS);
    assert_int_equal(folder.run_id, 4711);
    assert_says(refusal.text, dir->path);
    assert_says(refusal.text, "--resume");
}

TEST_IN(run_dir, dir, a_resumed_run_is_the_same)
{
    aq_run_folder again;
    aq_run_folder first = begin(dir);
    assert_int_equal(open_folder(dir, true, &again, NULL), 0);
    assert_int_equal(again.run_id, first.run_id);
    assert_true(again.resumed);
}

TEST_IN(run_dir, dir, resume_of_an_empty_folder_begins_a_run)
{
    aq_run_folder folder;
    assert_int_equal(open_folder(dir, true, &folder, NULL), 0);
    assert_false(folder.resumed);
    assert_true(folder.run_id != 0);
}

TEST_IN(run_dir, dir, a_resumed_run_keeps_the_new_configuration_once_it_is_told_to)
{
    aq_run_config config = config_of(5);
    aq_run_folder folder;
    begin(dir);
    uint64_t before = config_on_disk(dir).limits.env_steps;
    config.limits.env_steps = 7777;
    assert_int_equal(aq_run_folder_open(dir->path, &config, true, 0, &folder, NULL), 0);
    assert_int_equal(config_on_disk(dir).limits.env_steps, before);
    assert_int_equal(aq_run_folder_write_config(&folder, &config, NULL), 0);
    assert_int_equal(config_on_disk(dir).limits.env_steps, 7777);
}

TEST_IN(run_dir, dir, a_run_of_another_task_is_refused)
{
    aq_run_config config = config_of(5);
    aq_run_folder folder = {.run_id = 4711};
    begin(dir);
    strcpy(config.task, "gym:Acrobot-v1");
    assert_int_equal(aq_run_folder_open(dir->path, &config, true, 0, &folder, &refusal),
                     AQ_E_INVALID);
    assert_int_equal(folder.run_id, 4711);
    assert_says(refusal.text, "run.json");
    assert_says(refusal.text, "gym:CartPole-v1");
    assert_says(refusal.text, "gym:Acrobot-v1");

    /* The configuration of the run that is there is as it was. */
    assert_string_equal(config_on_disk(dir).task, "gym:CartPole-v1");
}

TEST_IN(run_dir, dir, a_run_json_that_is_not_ours_is_named)
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
    EACH_ROW(i, texts) {
        aq_run_folder folder = {.run_id = 4711};
        file_put(run_dir_path(dir, "run.json"), texts[i], strlen(texts[i]));
        assert_refused(open_folder(dir, true, &folder, &refusal), AQ_E_CORRUPT, "run.json");
        assert_int_equal(folder.run_id, 4711);
    }
}

TEST_IN(run_dir, dir, a_run_json_that_is_far_too_long_is_refused)
{
    static char text[100000];
    aq_run_folder folder;
    memset(text, ' ', sizeof(text));
    file_put(run_dir_path(dir, "run.json"), text, sizeof(text));
    assert_refused(open_folder(dir, true, &folder, &refusal), AQ_E_TOO_BIG, "run.json");
}

TEST_IN(run_dir, dir, checkpoints_without_the_run_that_they_are_of_are_refused)
{
    aq_run_folder folder = {.run_id = 4711};
    begin(dir);
    assert_int_equal(unlink(run_dir_path(dir, "run.json")), 0);
    file_put(run_dir_checkpoint_path(dir, 7), "x", 1);
    assert_refused(open_folder(dir, true, &folder, &refusal), AQ_E_CORRUPT, "run.json");
    assert_int_equal(folder.run_id, 4711);
    assert_true(aq_path_exists(run_dir_checkpoint_path(dir, 7)));
}

TEST_IN(run_dir, dir, a_configuration_that_is_there_is_not_written_again)
{
    struct stat before, after;
    aq_run_config config = config_of(5);
    const aq_run_folder folder = begin(dir);
    assert_int_equal(stat(run_dir_path(dir, "config.yaml"), &before), 0);
    assert_int_equal(aq_run_folder_write_config(&folder, &config, NULL), 0);
    assert_int_equal(stat(run_dir_path(dir, "config.yaml"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
}

/* ---- trouble ------------------------------------------------------------------------------- */

TEST_IN(run_dir, dir, a_run_that_could_not_begin_leaves_the_folder_free)
{
    aq_run_folder folder;
    assert_int_equal(mkdir(run_dir_path(dir, "config.yaml"), 0777), 0); /* in its way */
    assert_int_equal(open_folder(dir, false, &folder, NULL), 0);
    assert_true(begin_in(&folder, &refusal) != 0);
    assert_says(refusal.text, "config.yaml");
    assert_false(aq_path_exists(run_dir_path(dir, "run.json")));
    assert_int_equal(rmdir(run_dir_path(dir, "config.yaml")), 0);
    begin(dir); /* without resume */
}

TEST_IN(run_dir, dir, a_file_in_the_place_of_the_folder_is_named)
{
    aq_run_config config = config_of(5);
    aq_run_folder folder;
    const char *path = run_dir_path(dir, "file");
    file_put(path, "x", 1);
    assert_true(aq_run_folder_open(path, &config, false, 0, &folder, &refusal) != 0);
    assert_says(refusal.text, path);
}

TEST_IN(run_dir, dir, a_path_that_is_too_long_is_refused)
{
    static char path[2 * PATH_MAX];
    aq_run_config config = config_of(5);
    aq_run_folder folder;
    memset(path, 'x', sizeof(path) - 1);
    assert_int_equal(aq_run_folder_open(path, &config, false, 0, &folder, NULL), AQ_E_TOO_BIG);
    path[PATH_MAX - 5] = '\0'; /* itself not, but with a name below it */
    assert_int_equal(aq_run_folder_open(path, &config, false, 0, &folder, NULL), AQ_E_TOO_BIG);
}

TEST_IN(run_dir, dir, a_configuration_for_which_memory_is_short_is_named)
{
    const aq_run_config config = config_of(5);
    const aq_run_folder folder = begin(dir);
    assert_fails_without_memory(aq_run_folder_write_config(&folder, &config, &refusal));
    assert_says(refusal.text, "config.yaml");
}

TEST_IN(run_dir, dir, opening_survives_every_failed_allocation)
{
    aq_run_folder folder = {.run_id = 4711};
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        assert_int_equal(folder.run_id, 4711); /* untouched */
        rc = open_folder(dir, false, &folder, NULL);
    }
    EACH_ALLOCATION_FAILS(rc) {
        rc = begin_in(&folder, NULL);
    }
    assert_int_equal(open_folder(dir, false, &folder, NULL), AQ_E_EXISTS);
}

/* ---- the policy ---------------------------------------------------------------------------- */

TEST_IN(run_dir, dir, the_policy_is_written_in_both_forms_and_replaced)
{
    learner_kit kit;
    aq_run_folder folder = begin(dir);
    learner_kit_init(&kit, 1);
    for (uint64_t version = 3; version <= 4; version++) {
        aq_publication publication;
        aq_snapshot *read = NULL;
        learner_kit_publication(&kit, version, AQ_FORMAT_INT8_CHANNEL, &publication);
        assert_int_equal(
            aq_run_folder_write_policy(&folder, publication.snapshot, publication.twin, NULL), 0);
        assert_int_equal(aq_policy_file_read(run_dir_path(dir, "policy.aq"), &read, NULL), 0);
        assert_int_equal(read->version, version);
        assert_int_equal(read->layers[0].format, AQ_FORMAT_INT8_CHANNEL);
        aq_snapshot_unref(read);
        assert_int_equal(aq_policy_file_read(run_dir_path(dir, "policy.fp32.aq"), &read, NULL), 0);
        assert_int_equal(read->version, version);
        assert_int_equal(read->layers[0].format, AQ_FORMAT_F32);
        aq_snapshot_unref(read);
        aq_publication_fini(&publication);
    }
    learner_kit_fini(&kit);
}

TEST_IN(run_dir, dir, a_policy_without_its_fp32_form_leaves_no_other_version_beside_it)
{
    learner_kit kit;
    aq_publication publication;
    aq_run_folder folder = begin(dir);
    learner_kit_init(&kit, 1);
    learner_kit_publication(&kit, 3, AQ_FORMAT_INT8_CHANNEL, &publication);
    assert_int_equal(
        aq_run_folder_write_policy(&folder, publication.snapshot, publication.twin, NULL), 0);
    assert_int_equal(aq_run_folder_write_policy(&folder, publication.snapshot, NULL, NULL), 0);
    assert_true(aq_path_exists(run_dir_path(dir, "policy.aq")));
    assert_false(aq_path_exists(run_dir_path(dir, "policy.fp32.aq")));
    aq_publication_fini(&publication);
    learner_kit_fini(&kit);
}

TEST_IN(run_dir, dir, a_policy_that_can_not_be_written_is_named)
{
    learner_kit kit;
    aq_publication publication;
    aq_run_folder folder = begin(dir);
    learner_kit_init(&kit, 1);
    learner_kit_publication(&kit, 3, AQ_FORMAT_INT8_CHANNEL, &publication);
    assert_int_equal(mkdir(run_dir_path(dir, "policy.aq"), 0777), 0);
    assert_true(
        aq_run_folder_write_policy(&folder, publication.snapshot, publication.twin, &refusal) != 0);
    assert_says(refusal.text, "policy.aq");
    aq_publication_fini(&publication);
    learner_kit_fini(&kit);
}

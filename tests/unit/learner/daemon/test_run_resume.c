/*
 * A run is taken up from its checkpoint, and its folder then holds what the checkpoint says.
 */
#include "common/sys/log.h"
#include "common/wire/wire_policy.h"
#include "learner/daemon/configure_call.h"
#include "learner/daemon/energy_account.h"
#include "learner/daemon/run_resume.h"
#include "tests/support/config_kit.h"
#include "tests/support/file_kit.h"
#include "tests/support/must.h"
#include "tests/support/test.h"
#include "tests/unit/common/sys/stderr_capture.h"
#include "tests/unit/learner/learner_kit.h"
#include "tests/unit/learner/run_dir_fixture.h"

typedef struct resume_desk {
    run_dir dir;
    aq_run_plan plan;
    aq_run_folder folder;
    aq_agent *agent;
    aq_coordinator *coordinator;
    aq_policy_shelf *shelf;
    aq_best_policy best;
    aq_checkpoint_store *store;
    learner_kit kit;
    const char *config; /* of checkpoints */
    double best_return; /* likewise */
    aq_resumed resumed;
} resume_desk;

static const aq_policy_totals totals = {.versions = 9,
                                        .deltas = 5,
                                        .fallbacks = 2,
                                        .bytes = 900,
                                        .bytes_fp32 = 3600,
                                        .packed_bytes_fp32 = 3000};

static void resume_desk_setup(resume_desk *desk)
{
    aq_run_config config = config_defaults();
    desk->config = "";
    desk->best_return = 10.0;
    run_dir_setup(&desk->dir);
    learner_kit_init(&desk->kit, 1);
    must(aq_run_plan_make(&config, &desk->plan, NULL));
    must(aq_run_folder_open(desk->dir.path, &config, false, 0, &desk->folder, NULL));
    must(aq_run_folder_begin(&desk->folder, &config, NULL));
    must(aq_checkpoint_store_open(desk->dir.path, 3, &desk->store, NULL));
    const aq_coordinator_config limits = aq_configure_limits(&desk->plan);
    must(aq_coordinator_create(&limits, 0, &desk->coordinator));
    must(aq_policy_shelf_create(&desk->shelf));
    const aq_algorithm_setup setup = {.config = &desk->plan.config,
                                      .schema = &desk->plan.settings.schema,
                                      .sequence_length = desk->plan.table.sequence_length,
                                      .seed = 1};
    must(aq_agent_create(desk->plan.algorithm_class, &setup, &desk->agent, NULL));
    aq_params_fini(&desk->kit.params); /* its policies are of the agent's network instead */
    desk->kit.spec = *aq_agent_spec(desk->agent);
    desk->kit.schema = desk->plan.settings.schema;
    must(aq_params_init(&desk->kit.spec, &desk->kit.params));
    aq_params_randomize(&desk->kit.spec, &desk->kit.params, &desk->kit.rng);
}

static void resume_desk_teardown(resume_desk *desk)
{
    aq_agent_destroy(desk->agent);
    aq_best_policy_fini(&desk->best);
    aq_policy_shelf_destroy(desk->shelf);
    aq_coordinator_destroy(desk->coordinator);
    aq_checkpoint_store_close(desk->store);
    learner_kit_fini(&desk->kit);
    run_dir_teardown(&desk->dir);
}

/* A checkpoint whose best policy is `best`. */
static void write_checkpoint(resume_desk *desk, aq_snapshot *best)
{
    aq_checkpoint checkpoint = {
        .run_id = desk->folder.run_id,
        .schema = desk->plan.settings.schema,
        .spec = *aq_agent_spec(desk->agent),
        .learner_step = 70,
        .env_steps = 500,
        .env_steps_base = 100,
        .shard_count = 1,
        .shards = {{.store = 3, .inserted = 400}},
        .policy_version = best->version + 2,
        .policies = totals,
        .gap_versions = 4,
        .gap_episodes = 40,
        .gap_mean = 0.5,
        .gap_squares = 0.25,
        .wall_s = 60.0,
        .best_policy = best,
        .best_return = desk->best_return,
        .best_std = 3.0,
        .best_episodes = 20,
        .best_confirmed = true,
        .config = desk->config,
    };
    const char *path;
    (void)snprintf(checkpoint.task, sizeof(checkpoint.task), "%s", desk->plan.settings.task);
    (void)snprintf(checkpoint.algorithm, sizeof(checkpoint.algorithm), "%s",
                   desk->plan.algorithm_class->name);
    aq_agent_arrays(desk->agent, &checkpoint.arrays);
    assert_succeeds(aq_checkpoint_store_write(desk->store, &checkpoint, &path, &refusal));
}

static int resume(resume_desk *desk, aq_error *error)
{
    const aq_resume_into into = {.folder = &desk->folder,
                                 .plan = &desk->plan,
                                 .agent = desk->agent,
                                 .coordinator = desk->coordinator,
                                 .shelf = desk->shelf,
                                 .best = &desk->best};
    return aq_run_resume(&into, desk->store, &desk->resumed, error);
}

static uint64_t version_in(const resume_desk *desk, const char *name)
{
    aq_snapshot *policy = NULL;
    if (aq_policy_file_read(run_dir_path(&desk->dir, name), &policy, NULL) != 0) {
        return 0;
    }
    const uint64_t version = policy->version;
    aq_snapshot_unref(policy);
    return version;
}

/* The learner died between the two: policy.aq is of version 2, the checkpoint's best is 7. */
static void die_between(resume_desk *desk)
{
    aq_publication older, newer;
    learner_kit_publication(&desk->kit, 2, AQ_FORMAT_INT8_CHANNEL, &older);
    learner_kit_publication(&desk->kit, 7, AQ_FORMAT_INT8_CHANNEL, &newer);
    must(aq_run_folder_write_policy(&desk->folder, older.snapshot, older.twin, NULL));
    write_checkpoint(desk, newer.snapshot);
    aq_publication_fini(&older);
    aq_publication_fini(&newer);
}

TEST_IN(resume_desk, desk, what_is_restored_is_written)
{
    die_between(desk);
    assert_succeeds(resume(desk, &refusal));
    assert_int_equal(version_in(desk, "policy.aq"), 7);
    assert_int_equal(version_in(desk, "policy.fp32.aq"), 0); /* which was of version 2 */
    assert_false(desk->best.is_unwritten);
}

TEST_IN(resume_desk, desk, the_run_goes_on_from_all_that_was_counted)
{
    die_between(desk);
    assert_succeeds(resume(desk, &refusal));
    assert_int_equal(desk->resumed.step, 70);
    assert_int_equal(desk->resumed.last_version, 9);
    assert_int_equal(desk->resumed.gap.versions, 4);
    assert_int_equal(desk->resumed.gap.episodes, 40);
    assert_true(desk->resumed.gap.mean == 0.5);
    assert_true(desk->resumed.gap.squares == 0.25);
    assert_int_equal(aq_coordinator_env_steps(desk->coordinator), 500);
    assert_true(aq_coordinator_wall_s(desk->coordinator, 0) == 60.0);
    const aq_policy_totals restored = aq_policy_shelf_totals(desk->shelf);
    assert_memory_equal(&restored, &totals, sizeof(totals));
}

TEST_IN(resume_desk, desk, the_best_is_known_with_all_that_was_found_of_it)
{
    die_between(desk);
    assert_succeeds(resume(desk, &refusal));
    const aq_evaluation_result *told[] = {aq_coordinator_best(desk->coordinator),
                                          &desk->best.result};
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(told[i]);
        assert_int_equal(told[i]->version, 7);
        assert_true(told[i]->return_mean == 10.0);
        assert_true(told[i]->return_std == 3.0);
        assert_int_equal(told[i]->episodes, 20);
        assert_true(told[i]->confirmed);
    }
}

/* A stand-in that nobody has played stays nothing. */
TEST_IN(resume_desk, desk, a_best_policy_of_another_format_is_told_if_it_was_judged)
{
    static const struct {
        double best_return;
        bool is_told;
    } rows[] = {{10.0, true}, {NAN, false}};
    char log[4096];
    desk->config = "quantizer: {format: fp16}";
    EACH_ROW(i, rows) {
        desk->best_return = rows[i].best_return;
        die_between(desk);
        stderr_capture_begin();
        aq_log_set_level(AQ_LOG_WARN);
        const int rc = resume(desk, NULL);
        aq_log_set_level(AQ_LOG_INFO);
        stderr_capture_end(log, sizeof(log));
        assert_int_equal(rc, 0);
        assert_int_equal(strstr(log, "event=best_policy_kept format=fp16") != NULL,
                         rows[i].is_told);
    }
}

TEST_IN(resume_desk, desk, what_cannot_be_written_now_comes_with_the_next_checkpoint)
{
    die_between(desk);
    fixture_limit_file_size(1);
    const int rc = resume(desk, NULL);
    fixture_limit_file_size(0);
    assert_int_equal(rc, 0);
    assert_int_equal(version_in(desk, "policy.aq"), 2);
    assert_true(desk->best.is_unwritten);
}

TEST_IN(resume_desk, desk, checkpoints_that_cannot_be_read_are_no_fresh_start)
{
    file_put(run_dir_checkpoint_path(&desk->dir, 5), "x", 1);
    assert_refused(resume(desk, &refusal), AQ_E_CORRUPT, "none of its 1 checkpoints");
    assert_int_equal(unlink(run_dir_checkpoint_path(&desk->dir, 5)), 0);
    assert_succeeds(resume(desk, &refusal));
}

TEST_IN(resume_desk, desk, energy_of_another_format_is_left_as_it_was)
{
    static const char newer[] = "{\"format\": 2, \"joules\": \"some\"}";
    const char *path = run_dir_path(&desk->dir, "energy.json");
    const aq_run_config *config = &desk->plan.config;
    aq_energy_account *account;
    file_put_text(path, newer);
    desk->folder.resumed = true;
    assert_int_equal(aq_energy_account_create(config, &desk->folder, &account), 0);
    aq_energy_account_write(account, "{\"format\": 1}");
    aq_energy_account_destroy(account);
    assert_string_equal(file_text(path), newer);
}

TEST_IN(resume_desk, desk, another_kind_of_row_is_refused_by_name)
{
    static const struct {
        const char *theirs, *words; /* NULL: none, it is the same */
    } rows[] = {
        {"actor: {gradients: false}", "actor.gradients is false in this run"},
        {"actor: {gradients: true}\nlearner: {gradient_format: bf16, batch_size: 64}",
         "learner.gradient_format is bf16 in this run"},
        {"actor: {gradients: true}\nlearner: {batch_size: 32}",
         "gradients of this run are of 32 steps, not of 64"},
        {"actor: {gradients: true}\nlearner: {batch_size: 64}", NULL},
        {"actor: {gradients: true}\nlearner: {batch_size: 64}\nnobody: knows", NULL},
        {"actor: {colour: red, gradients: false}\nnobody: {knows: it}",
         "actor.gradients is false in this run"},
        {"actor: {gradients: perhaps}",
         "settings of the checkpoint:1: actor.gradients: 'perhaps' is"},
    };
    desk->plan.config.actor.gradients = true;
    desk->plan.config.learner.batch_size = 64;
    EACH_ROW(i, rows) {
        desk->config = rows[i].theirs;
        die_between(desk);
        if (rows[i].words != NULL) {
            assert_refused(resume(desk, &refusal), AQ_E_INVALID, rows[i].words);
            assert_int_equal(version_in(desk, "policy.aq"), 2); /* as it was */
        } else {
            assert_succeeds(resume(desk, &refusal));
        }
    }
}

TEST_IN(resume_desk, desk, what_a_checkpoint_has_already_is_refused_by_name)
{
    static const struct {
        enum aq_algorithm ours;
        const char *theirs, *words; /* NULL: none, it may change */
    } rows[] = {
        {AQ_ALGORITHM_D4PG, "learner: {value_max: 50}", "learner.value_max is 50 in this run"},
        {AQ_ALGORITHM_DQN, "learner: {value_max: 50}", NULL},
        {AQ_ALGORITHM_D4PG, "learner: {critic_activation: tanh}", "learner.critic_activation is"},
        {AQ_ALGORITHM_PPO, "learner: {deviation: 0.3}", "learner.deviation is 0.3 in this run"},
        {AQ_ALGORITHM_SAC, "learner: {temperature: 0.3}", "learner.temperature is 0.3"},
        {AQ_ALGORITHM_R2D2, "learner: {rescale_values: true}", "learner.rescale_values is true"},
        {AQ_ALGORITHM_SAC, "learner: {learning_rate: 0.125, hidden: \"[64, 64]\"}", NULL},
    };
    EACH_ROW(i, rows) {
        desk->plan.config.learner.algorithm = rows[i].ours;
        desk->config = rows[i].theirs;
        die_between(desk);
        if (rows[i].words != NULL) {
            assert_refused(resume(desk, &refusal), AQ_E_INVALID, rows[i].words);
        } else {
            assert_succeeds(resume(desk, &refusal));
        }
    }
}

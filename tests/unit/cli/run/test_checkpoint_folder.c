/*
 * The newest whole checkpoint is read, and what had to be passed over is named.
 */
#include "cli/run/checkpoint_folder.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static char passed[4][AQ_ERROR_TEXT_MAX];
static size_t passed_count;

static void on_passed(void *user, const aq_error *error)
{
    assert_string_equal(user, "user");
    assert_true(passed_count < 4);
    memcpy(passed[passed_count++], error->text, AQ_ERROR_TEXT_MAX);
}

static int newest(const char *folder, aq_checkpoint_found *ret_found, aq_error *error)
{
    char user[] = "user";
    passed_count = 0;
    return aq_checkpoint_folder_newest(folder, on_passed, user, ret_found, error);
}

static void assert_newest(void **state, uint64_t step, size_t passed_over)
{
    aq_checkpoint_found found;
    assert_succeeds(newest(*state, &found, &refusal));
    assert_int_equal(found.checkpoint.learner_step, step);
    assert_int_equal(passed_count, passed_over);
    aq_checkpoint_fini(&found.checkpoint);
}

static void write_steps(void **state)
{
    cli_write_checkpoint(cli_path(state, "step-000000000900.aqc"), 900);
    cli_write_checkpoint(cli_path(state, "step-000000001000.aqc"), 1000);
    cli_write_checkpoint(cli_path(state, "step-000000002000.aqc"), 2000);
}

TEST_IN_FOLDER(the_greatest_step_is_the_newest)
{
    write_steps(state);
    assert_newest(state, 2000, 0);
}

TEST_IN_FOLDER(a_damaged_file_is_named_and_passed_over)
{
    write_steps(state);
    file_flip(cli_path(state, "step-000000002000.aqc"), -100);
    assert_newest(state, 1000, 1);
    assert_says(passed[0], "step-000000002000.aqc");
}

TEST_IN_FOLDER(a_file_that_is_cut_off_is_passed_over)
{
    write_steps(state);
    cli_truncate(cli_path(state, "step-000000002000.aqc"), 1000);
    cli_truncate(cli_path(state, "step-000000001000.aqc"), 0);
    assert_newest(state, 900, 2);
}

TEST_IN_FOLDER(other_names_are_no_checkpoints)
{
    write_steps(state);
    file_put_text(cli_path(state, "step-000000009999.aqc.tmp-0123456789abcdef"), "x");
    file_put_text(cli_path(state, "step-.aqc"), "x");
    file_put_text(cli_path(state, "step-x.aqc"), "x");
    file_put_text(cli_path(state, "best.aqc"), "x");
    file_put_text(cli_path(state, "step-99999999999999999999999999.aqc"), "x");
    assert_newest(state, 2000, 0);
}

TEST_IN_FOLDER(a_folder_of_damaged_files_has_none)
{
    aq_checkpoint_found found;
    file_put_text(cli_path(state, "step-000000000000.aqc"), "not ours");
    file_put_text(cli_path(state, "step-000000000001.aqc"), "");
    assert_int_equal(newest(*state, &found, &refusal), AQ_E_NOT_FOUND);
    assert_int_equal(passed_count, 2);
    assert_says(refusal.text, *state);
}

TEST_IN_FOLDER(no_folder_has_none)
{
    aq_checkpoint_found found;
    assert_int_equal(newest(cli_path(state, "none"), &found, NULL), AQ_E_NOT_FOUND);
    assert_int_equal(passed_count, 0);
}

TEST_IN_FOLDER(the_newest_step_is_told_by_names_alone)
{
    uint64_t step = 0;
    assert_int_equal(aq_checkpoint_newest_step(*state, &step, NULL), AQ_E_NOT_FOUND);
    cli_make_folder(cli_path(state, "checkpoints"));
    assert_refused(aq_checkpoint_newest_step(*state, &step, &refusal), AQ_E_NOT_FOUND,
                   "checkpoints holds no checkpoint");
    file_put_text(cli_path(state, "checkpoints/step-000000000900.aqc"), "");
    file_put_text(cli_path(state, "checkpoints/step-000000001000.aqc"), "");
    assert_succeeds(aq_checkpoint_newest_step(*state, &step, &refusal));
    assert_int_equal(step, 1000);
}

TEST_IN_FOLDER(what_cannot_be_listed_is_not_taken_for_nothing)
{
    uint64_t step;
    aq_checkpoint_found found;
    const char *folder = cli_path(state, "checkpoints");
    assert_int_equal(symlink("checkpoints", folder), 0);
    assert_refused(aq_checkpoint_newest_step(*state, &step, &refusal), AQ_E_INVALID,
                   "checkpoints: can't list it");
    assert_refused(newest(folder, &found, &refusal), AQ_E_INVALID, "checkpoints: can't list it");
}

/*
 * Run paths: how far down runs are found.
 */
#include "cli/run/run_paths.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST_IN_FOLDER(runs_are_found_where_seeds_and_grids_lay_them_out)
{
    static const char *const made[] = {"runs",
                                       "runs/one",
                                       "runs/g",
                                       "runs/g/n=1",
                                       "runs/g/n=1/seed-1",
                                       "runs/g/n=1/s",
                                       "runs/g/n=1/s/too-far"};
    static const char *const found[] = {"runs/g/n=1/seed-1", "runs/one"};
    aq_run_paths paths = {0};
    EACH_ROW(i, made) {
        cli_make_folder(cli_path(state, made[i]));
    }
    file_put_text(cli_path(state, "runs/one/run.json"), "{}");
    file_put_text(cli_path(state, "runs/g/n=1/seed-1/run.json"), "{}");
    file_put_text(cli_path(state, "runs/g/n=1/s/too-far/run.json"), "{}");
    assert_succeeds(aq_run_paths_add(&paths, cli_path(state, "runs"), 10, &refusal));
    assert_int_equal(paths.count, 2);
    EACH_ROW(i, found) {
        assert_string_equal(paths.paths[i], cli_path(state, found[i]));
    }
    aq_run_paths_fini(&paths);
}

/*
 * A folder's copy: all of it, or nothing; and nobody's lock.
 */
#include "cli/sweep/training/folder_copy.h"

#include <sys/stat.h>

#include "common/sys/file.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST_IN_FOLDER(everything_but_the_lock_is_copied)
{
    const char *to = cli_path(state, "to"), *part = cli_path(state, "part");
    cli_make_folder(cli_path(state, "from"));
    cli_make_folder(cli_path(state, "from/deep"));
    file_put_text(cli_path(state, "from/deep/file"), "something");
    file_put_text(cli_path(state, "from/lock"), "pid 1");
    assert_succeeds(aq_folder_copy(cli_path(state, "from"), part, to, &refusal));
    assert_string_equal(file_text(file_in(to, "deep/file")), "something");
    assert_false(aq_path_exists(file_in(to, "lock")));
    assert_false(aq_path_exists(part));
}

TEST_IN_FOLDER(what_is_for_its_owner_stays_so)
{
    struct stat status;
    cli_make_folder(cli_path(state, "from"));
    file_put_text(cli_path(state, "from/secret"), "of the run");
    assert_int_equal(chmod(cli_path(state, "from/secret"), 0600), 0);
    assert_succeeds(aq_folder_copy(cli_path(state, "from"), cli_path(state, "part"),
                                   cli_path(state, "to"), &refusal));
    assert_int_equal(stat(cli_path(state, "to/secret"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

TEST_IN_FOLDER(what_is_not_there_makes_no_copy)
{
    assert_refused(aq_folder_copy(cli_path(state, "none"), cli_path(state, "part"),
                                  cli_path(state, "to"), &refusal),
                   AQ_E_NOT_FOUND, "none");
    assert_false(aq_path_exists(cli_path(state, "to")));
    assert_false(aq_path_exists(cli_path(state, "part")));
}

TEST_IN_FOLDER(what_is_there_already_stays_as_it_is)
{
    cli_make_folder(cli_path(state, "from"));
    file_put_text(cli_path(state, "from/file"), "late");
    cli_make_folder(cli_path(state, "to"));
    file_put_text(cli_path(state, "to/file"), "first");
    assert_int_equal(aq_folder_copy(cli_path(state, "from"), cli_path(state, "part"),
                                    cli_path(state, "to"), &refusal),
                     AQ_E_EXISTS);
    assert_string_equal(file_text(cli_path(state, "to/file")), "first");
    assert_false(aq_path_exists(cli_path(state, "part")));
}

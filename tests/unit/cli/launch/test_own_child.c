/*
 * A child of our own that cannot be started says what is in its way.
 */
#include "cli/launch/own_child.h"

#include "tests/support/test.h"

TEST(a_file_that_cannot_be_written_is_named)
{
    const char *const args[] = {"train", NULL};
    const aq_own_child_spec spec = {
        .program = "/bin/true", .args = args, .log_path = "/nowhere/run.log", .lent_file = -1};
    aq_own_child child = {0};
    assert_refused(aq_own_child_start(uv_default_loop(), &child, &spec, &refusal), AQ_E_NOT_FOUND,
                   "/nowhere/run.log: can't write: No such file or directory");
    assert_false(child.is_running);
}

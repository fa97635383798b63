/*
 * A child of our own that cannot be started says what is in its way.
 */
#include "cli/launch/own_child.h"

#include "cli/launch/own_loop.h"
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

static void on_signal(void *user, int number)
{
    (void)user;
    (void)number;
}

TEST(a_program_that_is_not_there_is_named_and_leaves_nothing_in_the_loop)
{
    const char *const args[] = {"train", NULL};
    const aq_own_child_spec spec = {.program = "/nowhere/actorq", .args = args, .lent_file = -1};
    aq_own_loop loop;
    aq_own_child child = {0};
    assert_succeeds(aq_own_loop_init(&loop, on_signal, NULL, &refusal));
    assert_refused(aq_own_child_start(&loop.uv, &child, &spec, &refusal), AQ_E_IO,
                   "actorq train could not be started: no such file or directory");
    assert_true(aq_loop_close(&loop.uv));
}

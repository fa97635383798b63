/*
 * `actorq bench replay` as its users run it, with a real shard. Figures are never asserted: the
 * machine is shared.
 */
#include <signal.h>

#include "tests/integration/cli/program.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

/* What the project's own figures are read from. */
static const char *const figures[] = {
    "insert_steps_per_s",   "insert_bytes_per_s",
    "sample_batches_per_s", "prioritized_batches_per_s",
    "sample_p99_ms",        "inprocess_batches_per_s",
    "bytes_per_step",       "inprocess_prioritized_batches_per_s",
};

static void assert_positive(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_number(value) || !(json_number_value(value) > 0.0)) {
        fail_msg("%s is no number above 0", name);
    }
}

TEST(mistakes_are_answered_in_words)
{
    program_refuses("there is no command 'repla'; did you mean 'replay'?", "bench", "repla", NULL);
    program_refuses("'pigeons' is neither ipc nor tcp", "bench", "replay", "--transport", "pigeons",
                    NULL);
    program_refuses("actorq bench replay: --soak", "bench", "replay", "--soak", "0", NULL);
    program_refuses("'more': this command takes options only", "bench", "replay", "more", NULL);
    program_refuses("/tmp/is/not/there: no folder can be made there", "bench", "replay", "--folder",
                    "/tmp/is/not/there", NULL);
}

TEST(help_says_what_is_measured)
{
    program_succeeds("bench", "replay", "--help", NULL);
    program_assert_out("Usage: actorq bench replay [options]");
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        program_assert_out(figures[i]);
    }
}

TEST(programs_get_every_figure_and_nothing_is_left)
{
    const char *folder = file_folder();
    json_t *object =
        program_gives("bench", "replay", "--quick", "--json", "--folder", folder, NULL);
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        assert_positive(object, figures[i]);
    }
    const json_t *beside = json_object_get(object, "beside");
    assert_positive(beside, "row_copy_batches_per_s");
    assert_positive(json_object_get(beside, "insert_messages"), "raw_bytes_per_s");
    assert_positive(json_object_get(beside, "large_insert_messages"), "ratio");
    assert_positive(json_object_get(beside, "sample_answers"), "ratio");
    assert_int_equal(rmdir(folder), 0); /* it is empty */
}

TEST(who_ends_it_finds_nothing_left)
{
    const char *folder = file_folder();
    program_start("bench", "replay", "--soak", "60", "--folder", folder, NULL);
    shell_succeeds("for i in $(seq 600); do ls -R %s | grep -q segment- && exit; sleep 0.1; done; "
                   "exit 1",
                   folder);
    assert_int_equal(kill(program_pid(), SIGTERM), 0);
    assert_int_equal(program_wait()->exit_status, 128 + SIGTERM);
    assert_int_equal(rmdir(folder), 0);
}

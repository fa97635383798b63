/*
 * `actorq bench replay` as its users run it, with a real shard. Figures are never asserted: the
 * machine is shared.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include <stdlib.h>
#include <unistd.h>

#include "tests/integration/cli/program.h"
#include "tests/support/test.h"

/* What the project's own figures are read from. */
static const char *const figures[] = {
    "insert_steps_per_s",   "insert_bytes_per_s",
    "sample_batches_per_s", "prioritized_batches_per_s",
    "sample_p99_ms",        "inprocess_batches_per_s",
    "bytes_per_step",       "inprocess_prioritized_batches_per_s",
};

static char folder[] = "/tmp/aq-bench-replay-XXXXXX";

static void assert_positive(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_number(value) || !(json_number_value(value) > 0.0)) {
        fail_msg("%s is no number above 0", name);
    }
}

TEST(mistakes_are_answered_in_words)
{
    program_run("bench", "repla", NULL);
    program_assert_failure(1, "there is no benchmark 'repla'; did you mean 'replay'?");
    program_run("bench", "replay", "--transport", "pigeons", NULL);
    program_assert_failure(1, "'pigeons' is neither ipc nor tcp");
    program_run("bench", "replay", "--soak", "0", NULL);
    program_assert_failure(1, "actorq bench replay: --soak");
    program_run("bench", "replay", "more", NULL);
    program_assert_failure(1, "'more': this command takes options only");
    program_run("bench", "replay", "--folder", "/tmp/is/not/there", NULL);
    program_assert_failure(1, "/tmp/is/not/there: no folder can be made there");
}

TEST(help_says_what_is_measured)
{
    program_run("bench", "replay", "--help", NULL);
    program_assert_success();
    program_assert_out("Usage: actorq bench replay [options]");
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        program_assert_out(figures[i]);
    }
}

TEST(programs_get_every_figure_and_nothing_is_left)
{
    program_run("bench", "replay", "--quick", "--json", "--folder", folder, NULL);
    program_assert_success();
    json_t *object = program_json();
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        assert_positive(object, figures[i]);
    }
    const json_t *beside = json_object_get(object, "beside");
    assert_positive(beside, "row_copy_batches_per_s");
    assert_positive(json_object_get(beside, "insert_messages"), "raw_bytes_per_s");
    assert_positive(json_object_get(beside, "large_insert_messages"), "ratio");
    assert_positive(json_object_get(beside, "sample_answers"), "ratio");
    json_decref(object);
    assert_int_equal(rmdir(folder), 0); /* it is empty */
}

int main(int argc, char **argv)
{
    program_choose(argc > 1 ? argv[1] : "actorq");
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    return aq_test_run(NULL);
}

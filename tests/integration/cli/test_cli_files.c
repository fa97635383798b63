/*
 * A seed plays the same again, what is written is what was asked for, and damage is never taken for
 * data.
 */
#include <glob.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/integration/cli/program.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/gif_reader.h"

/* ---- eval ----------------------------------------------------------------------------------- */

/* The object that `actorq eval --json` prints for these arguments. */
static json_t *eval(const char *source, const char *precision, const char *seed)
{
    if (precision) {
        program_run("eval", source, "--episodes", "50", "--seed", seed, "--json", "--precision",
                    precision, NULL);
    } else {
        program_run("eval", source, "--episodes", "50", "--seed", seed, "--json", NULL);
    }
    program_assert_success();
    return program_json();
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static double number_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

TEST_IN_FOLDER(an_evaluation_has_every_figure)
{
    cli_write_run(*state);
    json_t *object = eval(*state, NULL, "7");
    double mean = number_in(object, "return_mean");
    assert_true(number_in(object, "return_min") <= mean);
    assert_true(mean <= number_in(object, "return_max"));
    assert_true(number_in(object, "return_min") >= 1);
    assert_true(number_in(object, "return_max") <= 500);
    assert_true(number_in(object, "return_std") >= 0);
    assert_true(number_in(object, "episodes") == 50);
    assert_true(number_in(object, "seed") == 7);
    assert_true(number_in(object, "policy_version") == 31);
    assert_string_equal(text_in(object, "precision"), "int8");
    assert_string_equal(text_in(object, "task"), "gym:CartPole-v1");
}

TEST_IN_FOLDER(a_seed_plays_the_same_episodes_again)
{
    cli_write_run(*state);
    json_t *first = eval(*state, NULL, "7");
    json_t *again = eval(*state, NULL, "7");
    json_t *other = eval(*state, NULL, "8");
    assert_true(json_equal(first, again));
    assert_false(
        json_equal(json_object_get(first, "return_mean"), json_object_get(other, "return_mean")));
}

TEST_IN_FOLDER(a_seed_that_was_not_given_is_told)
{
    cli_write_run(*state);
    json_t *first = program_gives("eval", *state, "--episodes", "2", "--json", NULL);
    program_run("eval", *state, "--episodes", "2", "--json", NULL);
    json_t *second = program_json();
    assert_false(json_equal(json_object_get(first, "seed"), json_object_get(second, "seed")));
}

TEST_IN_FOLDER(a_run_is_played_in_both_precisions)
{
    cli_write_run(*state);
    json_t *rounded = eval(*state, "int8", "7");
    json_t *exact = eval(*state, "fp32", "7");
    assert_string_equal(text_in(rounded, "precision"), "int8");
    assert_string_equal(text_in(exact, "precision"), "fp32");
    assert_non_null(strstr(text_in(exact, "policy"), "policy.fp32.aq"));
}

TEST_IN_FOLDER(a_file_quantized_here_plays_as_one_that_was_broadcast)
{
    const char *file = cli_path(state, "policy.fp32.aq");
    cli_write_run(*state);
    json_t *broadcast = eval(*state, "int8", "7");
    json_t *quantized = eval(file, "int8", "7");
    assert_true(json_equal(json_object_get(broadcast, "return_mean"),
                           json_object_get(quantized, "return_mean")));
}

/* ---- inspect -------------------------------------------------------------------------------- */

TEST_IN_FOLDER(every_damaged_byte_is_found)
{
    const char *path = cli_path(state, "a.aq");
    cli_write_policy(path, AQ_FORMAT_INT8_CHANNEL, 7);
    const aq_buffer *bytes = file_bytes(path);
    /* All of the frame's header, then here and there. */
    for (size_t at = 0; at < bytes->size; at += at < 20 ? 1 : 97) {
        file_put(path, bytes->data, bytes->size);
        file_flip(path, (long)at);
        program_refuses("a.aq", "inspect", path, NULL);
    }
}

TEST_IN_FOLDER(a_file_that_is_cut_off_anywhere_is_refused)
{
    const char *path = cli_path(state, "a.aqc");
    static const size_t sizes[] = {2000, 1000, 100, 17, 16, 15, 4, 1, 0};
    cli_write_checkpoint(path, 3000);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        cli_truncate(path, sizes[i]);
        program_refuses(sizes[i] < 16 ? "a.aqc is neither" : "a.aqc was cut short: ", "inspect",
                        path, "--json", NULL);
    }
}

/* ---- what is written ------------------------------------------------------------------------ */

TEST_IN_FOLDER(every_format_is_written_and_plays)
{
    static const char *const formats[] = {"fp32",        "fp16", "bf16", "int8",
                                          "int8-tensor", "int4", "int2", "int8-sparse"};
    const char *precision;
    cli_write_run(*state);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        program_succeeds("quantize", *state, cli_path(state, "out.aq"), "--format", formats[i],
                         "--rows", "100", NULL);
        json_t *object =
            program_gives("eval", cli_path(state, "out.aq"), "--episodes", "2", "--json", NULL);
        assert_int_equal(json_unpack(object, "{s:s}", "precision", &precision), 0);
        assert_string_equal(precision, formats[i]);
    }
}

/* A link of the test's own: where it were replaced, no more than that would be lost. */
TEST_IN_FOLDER(standard_output_is_a_file_like_others)
{
    struct stat status;
    const char *link = cli_path(state, "out");
    const char *policy = cli_path(state, "int8.aq");
    cli_write_policy(policy, AQ_FORMAT_INT8_CHANNEL, 7);
    assert_int_equal(symlink("/dev/stdout", link), 0);
    program_succeeds("export", policy, "-o", cli_path(state, "p.c"), NULL);
    const program_result *result = program_run("export", policy, "-o", link, NULL);
    assert_int_equal(result->exit_status, 0);
    assert_string_equal(result->out, file_text(cli_path(state, "p.c")));
    assert_non_null(strstr(result->err, "gym:CartPole-v1, version 31, int8")); /* not in the file */
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    cli_write_run(*state);
    result = program_run("dashboard", *state, "-o", link, NULL);
    assert_string_equal(strstr(result->out, "</html>"), "</html>\n");
    assert_says(result->err, ": 1 run, ");
}

/* The policy stays, whatever the file is called that is to be written. */
TEST_IN_FOLDER(nothing_is_written_over_what_was_read)
{
    const char *words = "fp32.aq would be written over itself";
    const char *policy = cli_path(state, "fp32.aq"), *link = cli_path(state, "link");
    const char *folder = cli_path(state, "folder");
    cli_write_policy(policy, AQ_FORMAT_F32, 7);
    assert_int_equal(symlink(policy, link), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    const aq_buffer *before = file_bytes(policy);
    program_refuses(words, "export", policy, "-o", policy, NULL);
    program_refuses(words, "export", policy, "--format", "onnx", "-o", link, NULL);
    program_refuses(words, "import", policy, "--task", "gym:CartPole-v1", "-o", link, NULL);
    program_refuses(words, "quantize", policy, link, NULL);
    program_refuses(words, "play", policy, "--gif", link, NULL);
    program_refuses(words, "play", policy, "--png", policy, NULL);
    program_refuses("is a folder; a file is written", "export", policy, "-o", folder, NULL);
    assert_same_buffers(before, file_bytes(policy));
}

/* Whichever of them was read, and whether it is there. */
TEST_IN_FOLDER(nor_over_a_policy_of_the_run)
{
    const char *words = "is the run's own policy, and would be written over";
    const char *policy = cli_path(state, "policy.aq"), *exact = cli_path(state, "policy.fp32.aq");
    cli_write_run(*state);
    program_refuses(words, "quantize", *state, exact, NULL);
    program_refuses(words, "quantize", *state, policy, NULL);
    program_refuses(words, "quantize", exact, policy, NULL);
    program_refuses(words, "play", *state, "--gif", exact, NULL);
    program_refuses(words, "export", *state, "-o", exact, NULL);
    program_refuses(words, "export", *state, "-o", cli_path(state, "p.c"), "--header", policy,
                    NULL);
    assert_int_equal(unlink(exact), 0);
    program_refuses(words, "export", *state, "-o", exact, NULL);
}

TEST_IN_FOLDER(two_files_of_one_name_are_refused)
{
    const char *film = file_in(*state, "film");
    for (int i = 0; i < 2; i++) { /* before it is there, and then */
        program_refuses("film would be written twice, as two different files", "play", "random",
                        "--env", "gym:CartPole-v1", "--gif", film, "--png",
                        file_in(*state, "./film"), NULL);
        file_put_text(film, "x");
    }
}

TEST_IN_FOLDER(the_same_seed_writes_the_same_file)
{
    cli_write_run(*state);
    program_succeeds("quantize", *state, cli_path(state, "a.aq"), "--rows", "100", NULL);
    program_succeeds("quantize", *state, cli_path(state, "b.aq"), "--rows", "100", NULL);
    assert_same_buffers(file_bytes(cli_path(state, "a.aq")), file_bytes(cli_path(state, "b.aq")));
}

TEST_IN_FOLDER(the_same_seed_shows_the_same)
{
    static char first[PROGRAM_TEXT_MAX];
    const program_result *result = program_run("play", "random", "--env", "game:miner", "--seed",
                                               "3", "--size", "10x10", "-n", "3", NULL);
    memcpy(first, result->out, sizeof(first));
    result = program_run("play", "random", "--env", "game:miner", "--seed", "3", "--size", "10x10",
                         "-n", "3", NULL);
    assert_string_equal(first, result->out);
}

TEST_IN_FOLDER(a_policy_is_played_into_an_animation_with_a_frame_a_step)
{
    static gif_reader reader;
    const char *policy = cli_path(state, "p.aq"), *gif = cli_path(state, "run.gif");
    size_t frames = 0;
    cli_write_policy(policy, AQ_FORMAT_INT8_CHANNEL, 7);
    json_t *object = program_gives("play", policy, "--seed", "5", "--gif", gif, "--size", "48x32",
                                   "--fps", "20", "--json", NULL);
    const json_t *episode = json_array_get(json_object_get(object, "episodes"), 0);
    const json_int_t steps = json_integer_value(json_object_get(episode, "steps"));
    assert_string_equal(json_string_value(json_object_get(object, "task")), "gym:CartPole-v1");
    const aq_buffer *bytes = file_bytes(gif);
    gif_reader_open(&reader, bytes->data, bytes->size);
    while (gif_reader_next(&reader)) {
        frames++;
    }
    assert_int_equal(reader.width, 48);
    assert_int_equal(reader.height, 32);
    assert_int_equal(reader.delay_cs, 5 + 50); /* the last one for half a second more */
    assert_int_equal(frames, steps + 1);
}

/* Of one that was written before a version existed there is nothing to play. */
TEST_IN_FOLDER(what_a_checkpoint_holds_can_be_played_before_it_was_evaluated)
{
    glob_t found;
    size_t played = 0;
    const char *run = cli_path(state, "run");
    program_succeeds("train", "gym:CartPole-v1", "--run", run, "--quiet", "--no-evaluator", "--set",
                     "learner.checkpoint_period_s=0.1", "--set", "learner.checkpoints_kept=100",
                     "--set", program_short_run(100000), NULL);
    assert_int_equal(glob(file_in(run, "checkpoints/step-*.aqc"), 0, NULL, &found), 0);
    for (size_t i = 0; i + 1 < found.gl_pathc; i++) { /* the last is of the end */
        const json_t *held = program_gives("inspect", found.gl_pathv[i], "--json", NULL);
        const bool is_published = number_in(held, "policy_versions") > 0;
        assert_true(is_published == json_is_object(json_object_get(held, "best_policy")));
        if (is_published && played++ == 0) {
            (void)program_gives("eval", found.gl_pathv[i], "--episodes", "2", "--json", NULL);
        }
    }
    globfree(&found);
    assert_true(played > 0);
}

TEST_IN_FOLDER(a_folder_is_made_once_and_renewed)
{
    struct stat before, after;
    const char *folder = cli_path(state, "certs");
    const char *file = file_in(folder, "learner/cert.pem");
    program_succeeds("certs", folder, "--days", "30", NULL);
    program_assert_out("valid for 30 days");
    program_assert_out("/operator");
    program_assert_out("--certs DIR");
    assert_int_equal(stat(file, &before), 0);
    program_refuses("is not empty", "certs", folder, NULL);
    program_succeeds("certs", folder, "--renew", NULL);
    program_assert_out("one after the other");
    assert_int_equal(stat(file, &after), 0);
    assert_true(before.st_ino != after.st_ino);
}

/* ---- logs ----------------------------------------------------------------------------------- */

static void restore_limit(void *limit)
{
    (void)setrlimit(RLIMIT_NOFILE, limit);
}

/* As those of a run with hundreds of actors. */
TEST_IN_FOLDER(more_logs_are_read_than_there_are_descriptors_at_first)
{
    static struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit few = {.rlim_cur = 48, .rlim_max = limit.rlim_max};
    for (int i = 0; i < 64; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "actor-%d.log", i);
        file_put_text(cli_path(state, name), "words\n");
    }
    at_end(restore_limit, &limit);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    program_succeeds("logs", *state, NULL);
    program_assert_out("actor-63");
}

/*
 * Sessions: what actorq answers to what is typed, whole. Each tests/golden/sessions/NAME.txt is a
 * test: behind "$ " is what is typed, below it the answer, in which "…" stands for anything. An
 * answer that begins with "!", or "!76" for another exit status than 1, is a refusal: one line on
 * standard error, nothing else, and no file. "#" begins a comment.
 *
 * All are typed in a folder with what make_things writes. With AQ_WRITE_GOLDEN=1 in the environment
 * answers that are others are written to the file instead, for `git diff` to show.
 */
#include <dirent.h>

#include "common/sys/folder_lock.h"
#include "tests/integration/cli/program.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { SESSION_BYTES_MAX = 1 << 17 };

/* The last run in the form of an answer. */
static const char *answer_of(const program_result *result)
{
    static char answer[2 * PROGRAM_TEXT_MAX + 32];
    char status[12] = "";
    if (result->exit_status != 1) {
        (void)snprintf(status, sizeof(status), "%d", result->exit_status);
    }
    (void)snprintf(answer, sizeof(answer), "%s%s%s%s%s",
                   result->exit_status != 0 || result->err[0] != '\0' ? "!" : "",
                   result->exit_status != 0 ? status : "",
                   result->exit_status != 0 || result->err[0] != '\0' ? " " : "", result->err,
                   result->out);
    return answer;
}

/* How many files and folders there are in this one and below. */
static size_t count_entries(const char *folder)
{
    size_t count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            count += 1 + count_entries(file_in(folder, entry->d_name)); /* none below a file */
        }
    }
    (void)(entries != NULL && closedir(entries));
    return count;
}

/* A refusal is one sentence, and leaves nothing behind. */
static const char *answer_to(const char *typed)
{
    const size_t before = count_entries(".");
    const program_result *result = program_run_line(typed);
    if (result->exit_status != 0) {
        program_assert_failure(result->exit_status, "");
        assert_int_equal(count_entries("."), before);
    }
    return answer_of(result);
}

/* From here to the next line with a sign of its own, but for a blank one before it. */
static size_t answer_length(const char *text)
{
    const char *end = text;
    while (*end != '\0' && *end != '$' && *end != '#' &&
           !(*end == '\n' && (end[1] == '$' || end[1] == '#' || end[1] == '\0'))) {
        end = strchr(end, '\n') + 1;
    }
    return (size_t)(end - text);
}

/* Plays the session; what it should have been goes to `out`. True: it is the same. */
static bool play(const char *text, FILE *out)
{
    static char expected[SESSION_BYTES_MAX];
    char line[1024];
    bool is_same = true;
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        const bool is_command = *text == '$';
        assert_true(length < sizeof(line) && text[length] == '\n');
        (void)snprintf(line, sizeof(line), "%.*s", (int)length, text);
        (void)fprintf(out, "%s\n", line);
        text += length + 1;
        if (!is_command) {
            continue;
        }
        const size_t size = answer_length(text);
        (void)snprintf(expected, sizeof(expected), "%.*s", (int)size, text);
        assert_string_not_equal(expected, "…\n"); /* would fit every answer */
        text += size;
        const char *answer = answer_to(line + strlen("$ "));
        if (cli_fits(expected, answer)) {
            (void)fputs(expected, out);
            continue;
        }
        is_same = false;
        (void)fputs(answer, out);
        print_error("%s\nis answered with\n%sinstead of\n%s", line, answer, expected);
    }
    return is_same;
}

static void assert_session(const char *name)
{
    char path[CLI_PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/sessions/%s.txt", AQ_GOLDEN_DIR, name);
    const bool is_same = play(file_text(path), cli_print_begin());
    const char *played = cli_print_end();
    if (!is_same && getenv("AQ_WRITE_GOLDEN") != NULL) {
        file_put_text(path, played);
    }
    assert_true(is_same);
}

/* ---- the folder ----------------------------------------------------------------------------- */

static void make_plot_run(const char *name, const char *config)
{
    cli_make_folder(name);
    file_put_text(file_in(name, "config.yaml"), config);
    file_put_text(file_in(name, "metrics.jsonl"),
                  "{\"event\":\"evaluation\",\"wall_s\":1,\"env_steps\":0,\"return_mean\":"
                  "20}\n{\"event\":\"evaluation\",\"wall_s\":9,\"env_steps\":1000,"
                  "\"return_mean\":195}\n");
}

/* A learner's, as long as this program runs. */
static aq_folder_lock *young_lock;

static int make_things(void **state)
{
    int rc = cli_fixture_setup(state);
    assert_int_equal(chdir(*state), 0);
    cli_make_folder("run");
    cli_write_run("run");
    cli_make_folder("damaged");
    cli_write_run("damaged");
    file_flip("damaged/checkpoints/step-000000003000.aqc", 200);
    cli_make_folder("empty");
    cli_write_policy("int8.aq", AQ_FORMAT_INT8_CHANNEL, 7);
    cli_write_policy("fp32.aq", AQ_FORMAT_F32, 7);
    cli_write_policy("int4.aq", AQ_FORMAT_INT4, 7);
    cli_write_checkpoint("a.aqc", 3000);
    cli_write_policy("cut.aq", AQ_FORMAT_F32, 7);
    assert_int_equal(truncate("cut.aq", 1000), 0);
    file_put_text("notes.txt", "The quick brown fox jumps over the lazy dog.\n");
    file_put_text("tab.yaml", "learner:\n\tbatch_size: 3\n");
    file_put_text("flat.yaml", "learner.batch_size: 3\n");
    file_put_text("list.yaml", "learner:\n  batch_size: [3]\n");
    cli_make_folder("young");
    file_put_text("young/run.json",
                  "{\"run_id\": \"1122334455667788\", \"task\": \"gym:CartPole-v1\", "
                  "\"seed\": 42, \"made\": \"2026-01-31T12:00:00Z\", \"software\": \"0.1.0\"}\n");
    file_put_text("young/config.yaml", "task: gym:CartPole-v1\nlearner: {algorithm: dqn}\n");
    assert_int_equal(aq_folder_lock_take("young", &young_lock, NULL), 0);
    make_plot_run("seed-1", "seed: 1\n");
    make_plot_run("seed-2", "seed: 2\n");
    make_plot_run("fp32", "quantizer:\n  format: fp32\n");
    make_plot_run("late", "seed: 3\n");
    file_put_text("late/metrics.jsonl", "{\"event\":\"evaluation\",\"wall_s\":20,"
                                        "\"env_steps\":2000,\"return_mean\":200}\n");
    cli_make_folder("seeds");
    file_put_text("seeds/config.yaml", "seed: 1\n");
    make_plot_run("seeds/seed-1", "seed: 1\n");
    make_plot_run("seeds/seed-2", "seed: 2\n");
    file_put_text("seeds/seed-1/run.json", "{}");
    file_put_text("seeds/seed-2/run.json", "{}");
    return rc;
}

TEST_GROUP(make_things, cli_fixture_teardown);

#define SESSION(name)                                                                              \
    TEST(name)                                                                                     \
    {                                                                                              \
        assert_session(#name);                                                                     \
    }

SESSION(arguments)
SESSION(call)
SESSION(certs)
SESSION(env)
SESSION(envs)
SESSION(eval)
SESSION(import)
SESSION(inspect)
SESSION(mistakes)
SESSION(quantize)
SESSION(runs)

static void assert_png(const char *path)
{
    const aq_buffer *written = file_bytes(path);
    assert_true(written->size > 100);
    assert_memory_equal(written->data, "\x89PNG\r\n\x1a\n", 8);
}

TEST(export)
{
    assert_session("export");
    program_run_line("export run --output pole.c --name pole --json");
    json_t *object = program_json();
    const char *written = file_text("pole.c");
    assert_int_equal(json_integer_value(json_object_get(object, "bytes")), strlen(written));
    assert_says(written, "uint32_t pole_act(const float *obs);");
    assert_says(written, "version 31: 4-16r-8t-2");
}

TEST(play)
{
    assert_session("play");
    assert_png("sheet.png");
}

TEST(plot)
{
    assert_session("plot");
    assert_png("kinds.png");
    const char *written = file_text("a.svg");
    assert_memory_equal(written, "<svg ", 5);
    assert_says(written, ">environment steps</text>");
    assert_says(written, "aq-level");
}

/* The folder is another, where a path from this one would not lead anywhere. */
int main(int argc, char **argv)
{
    static char program[2 * CLI_PATH_MAX];
    char here[CLI_PATH_MAX];
    assert_true(argc == 2);
    assert_non_null(getcwd(here, sizeof(here)));
    (void)snprintf(program, sizeof(program), "%s/%s", argv[1][0] == '/' ? "" : here, argv[1]);
    program_choose(program);
    return aq_test_run(NULL);
}

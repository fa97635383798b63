/*
 * Runs whose quantizer breaks its budget: every figure says which format was played.
 */
#include "tests/integration/cli/program.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

/* Int4 changes a tenth of this network's actions; few versions of a young run change none. */
#define OVER_BUDGET "quantizer.error_budget=0.0001"

#define QUICK_LOOKS "evaluator.screen_episodes=1"

enum { ENV_STEPS = 30000, LINE_MAX_BYTES = 1 << 16 };

/* An evaluator that gets no processor sees few versions of a run: then again, of a longer one. */
static const char *const tries[] = {"short", "longer", "long"};
enum { LONGER = 4 };

/* What the evaluations of a run's metrics.jsonl say. */
typedef struct played {
    size_t int4, fp32;     /* screenings; fresh episodes are no points of a curve */
    double fallback_share; /* at the end */
} played;

static bool is_text(const json_t *object, const char *key, const char *text)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found != NULL && strcmp(found, text) == 0;
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void count_line(const json_t *line, played *sum)
{
    if (is_text(line, "event", "end")) {
        sum->fallback_share =
            number_of(line, "policy_fallbacks") / number_of(line, "policy_versions");
    }
    if (!is_text(line, "event", "evaluation")) {
        return;
    }
    const bool is_int4 = is_text(line, "format", "int4");
    assert_true(is_int4 || is_text(line, "format", "fp32"));
    assert_true(json_is_boolean(json_object_get(line, "fell_back")));
    assert_true(json_is_true(json_object_get(line, "fell_back")) == !is_int4);
    if (!json_is_true(json_object_get(line, "confirmed"))) {
        sum->int4 += is_int4;
        sum->fp32 += !is_int4;
    }
}

static played played_in(const char *run)
{
    static char text[LINE_MAX_BYTES];
    played sum = {0};
    FILE *file = fopen(file_in(run, "metrics.jsonl"), "r");
    assert_non_null(file);
    while (fgets(text, sizeof(text), file) != NULL) {
        json_t *line = json_loads(text, 0, NULL);
        assert_non_null(line);
        count_line(line, &sum);
        json_decref(line);
    }
    (void)fclose(file);
    return sum;
}

/* The format that is told is the kept policy's. One that was broadcast in int4 is kept before those
 * that fell back, if the learner still had it when it was screened, which slow hosts let pass. */
static void check_kept(const json_t *told, const char *run, const played *sum)
{
    json_t *inspected = program_gives("inspect", file_in(run, "policy.aq"), "--json", NULL);
    const char *kept = json_string_value(json_object_get(inspected, "precision"));
    assert_non_null(kept);
    assert_true(is_text(told, "format", kept));
    assert_true(sum->int4 > 0 || strcmp(kept, "fp32") == 0);
}

TEST_WITH(a_run_over_its_budget_says_what_was_played, cli_fixture_setup, cli_fixture_teardown)
{
    const char *run = NULL;
    json_t *result = NULL;
    played sum = {0};
    uint64_t env_steps = ENV_STEPS;
    for (size_t i = 0; i < 3 && sum.fp32 == 0; i++, env_steps *= LONGER) {
        run = cli_path(state, tries[i]);
        result = program_gives("train", "gym:CartPole-v1", "--run", run, "--quiet", "--json",
                               "--seed=3", "--set", "quantizer.format=int4", "--set=" OVER_BUDGET,
                               "--set=" QUICK_LOOKS, "--set", program_short_run(env_steps), NULL);
        sum = played_in(run);
    }
    assert_true(sum.fp32 > 0);
    assert_true(sum.fallback_share > 0 && sum.fallback_share <= 1);
    assert_float_equal(number_of(result, "fallback_share"), sum.fallback_share, 1e-6);
    assert_true(is_text(result, "precision", "int4")); /* that was asked for */

    check_kept(result, run, &sum);
}

/* Of policies that draw, how far what they draw by is from fp32's. It is quantized here: the policy
 * that a short run keeps may be its first, which is made before there are observations to measure
 * by. */
TEST_WITH(a_policy_that_draws_tells_its_divergence, cli_fixture_setup, cli_fixture_teardown)
{
    const char *run = cli_path(state, "run");
    const char *quantized = cli_path(state, "quantized.aq");
    program_succeeds("train", "gym:Pendulum-v1", "--run", run, "--quiet", "--set",
                     "learner.algorithm=ppo", "--set", "quantizer.format=fp32", "--set",
                     program_short_run(ENV_STEPS), NULL);
    program_succeeds("quantize", file_in(run, "policy.aq"), quantized, "--rows=64", NULL);
    const json_t *inspected = program_gives("inspect", quantized, "--json", NULL);
    const json_t *error = json_object_get(inspected, "quant_error");
    assert_float_equal(number_of(error, "rows"), 64, 0);
    assert_true(number_of(error, "kl") > 0);
}

static size_t lines_of(const char *path)
{
    size_t lines = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int c = getc(file); c != EOF; c = getc(file)) {
        lines += c == '\n';
    }
    (void)fclose(file);
    return lines;
}

TEST_WITH(a_comparison_counts_no_fallback_for_the_precision, cli_fixture_setup,
          cli_fixture_teardown)
{
    const char *folder = NULL;
    const char *run_folder = NULL;
    json_t *compared = NULL;
    played sum = {0};
    uint64_t env_steps = ENV_STEPS;
    for (size_t i = 0; i < 3 && sum.fp32 == 0; i++, env_steps *= LONGER) {
        folder = cli_path(state, tries[i]);
        run_folder = file_in(folder, "int4-s1");
        compared =
            program_gives("compare", "gym:CartPole-v1", "--precisions", "int4", "--seeds=1",
                          "--preset=none", "--set=" OVER_BUDGET, "--set=" QUICK_LOOKS, "--set",
                          program_short_run(env_steps), "--output", folder, "-q", "--json", NULL);
        sum = played_in(run_folder);
    }
    const json_t *row = json_array_get(json_object_get(compared, "rows"), 0);
    const json_t *run = json_array_get(json_object_get(compared, "runs"), 0);
    assert_true(sum.fp32 > 0);
    assert_float_equal(number_of(row, "fallback_share"), sum.fallback_share, 1e-6);
    assert_float_equal(number_of(run, "fallback_share"), sum.fallback_share, 1e-6);
    check_kept(run, run_folder, &sum);
    assert_int_equal(lines_of(file_in(folder, "curves.csv")), 1 + sum.int4);
}

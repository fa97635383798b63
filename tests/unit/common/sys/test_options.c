/*
 * Options are recognised in every spelling, wrong ones are answered helpfully, help looks good.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "common/sys/options.h"

static const aq_option rows[] = {
    {"jobs", 'j', "N", "How many at a time."},
    {"learner", 0, "URL",
     "Where the learner listens, for example tcp://learner:5550. Everything else comes from it."},
    {"quiet", 'q', NULL, "Say less."},
    {"verbose", 'v', NULL, "Say more."},
    {"a-very-long-option-name", 0, "SOMETHING", "Its help stands on the next line."},
};

static const aq_options table = {
    .program = "actorq eval",
    .usage = "RUN_OR_POLICY [options]",
    .summary = "Plays whole episodes with a policy and reports what they are worth, with a "
               "confidence interval.",
    .details = "Example:\n  actorq eval run/ --jobs 4",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

/* What the callback saw, one "name=value;" after the other. */
static char seen[512];

static int apply(void *user, const aq_option *option, const char *value, aq_error *error)
{
    size_t used = strlen(seen);

    assert_string_equal(user, "user");
    if (value != NULL && strcmp(value, "bad") == 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "'bad' is not a number");
    }
    snprintf(seen + used, sizeof(seen) - used, "%s=%s;", option == NULL ? "" : option->name,
             value == NULL ? "" : value);
    return 0;
}

/* Splits `line` at blanks; "''" is an empty argument. */
static int parse(const char *line, aq_error *error)
{
    char text[256];
    char *argv[32] = {0};
    char *rest = NULL;
    int argc = 0;
    char user[] = "user";

    seen[0] = '\0';
    *error = (aq_error){0};
    snprintf(text, sizeof(text), "program %s", line);
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "''") == 0) {
            word[0] = '\0';
        }
        argv[argc++] = word;
    }
    return aq_options_parse(&table, argc, argv, apply, user, error);
}

static void assert_seen(const char *line, const char *expected)
{
    aq_error error;

    assert_int_equal(parse(line, &error), 0);
    assert_string_equal(seen, expected);
}

static void assert_refused(const char *line, const char *text)
{
    aq_error error;

    assert_int_equal(parse(line, &error), AQ_E_INVALID);
    assert_int_equal(error.code, AQ_E_INVALID);
    assert_string_equal(error.text, text);
}

static void test_every_spelling_of_an_option_is_understood(void **state)
{
    (void)state;
    assert_seen("", "");
    assert_seen("--jobs 4", "jobs=4;");
    assert_seen("--jobs=4", "jobs=4;");
    assert_seen("-j 4", "jobs=4;");
    assert_seen("-j4", "jobs=4;");
    assert_seen("--quiet", "quiet=;");
    assert_seen("-q", "quiet=;");
    assert_seen("-qv", "quiet=;verbose=;");
    assert_seen("-qj4", "quiet=;jobs=4;");
    assert_seen("-vj 4 x", "verbose=;jobs=4;=x;");
}

static void test_options_and_arguments_keep_their_order(void **state)
{
    (void)state;
    assert_seen("a --jobs 1 b --jobs 2 -q c", "=a;jobs=1;=b;jobs=2;quiet=;=c;");
}

static void test_values_may_look_odd(void **state)
{
    (void)state;
    assert_seen("--jobs=", "jobs=;");
    assert_seen("--jobs ''", "jobs=;");
    assert_seen("--jobs -1", "jobs=-1;");
    assert_seen("--learner=--x=y", "learner=--x=y;");
    assert_seen("--learner a=b", "learner=a=b;");
    assert_seen("--jobs -", "jobs=-;");
}

static void test_two_dashes_end_the_options(void **state)
{
    (void)state;
    assert_seen("-q -- --jobs -v -- --help", "quiet=;=--jobs;=-v;=--;=--help;");
}

static void test_one_dash_is_an_argument(void **state)
{
    (void)state;
    assert_seen("- ''", "=-;=;");
}

static void test_an_unknown_option_is_answered_with_the_nearest(void **state)
{
    (void)state;
    assert_refused("--job 4", "unknown option --job; did you mean --jobs?");
    assert_refused("--lerner=x", "unknown option --lerner=x; did you mean --learner?");
    assert_refused("--hlep", "unknown option --hlep; did you mean --help?");
    assert_refused("--temperature", "unknown option --temperature; --help lists all");
    assert_refused("-x", "unknown option -x; --help lists all");
    assert_refused("-learner", "unknown option -learner; did you mean --learner?");
}

static void test_a_missing_value_is_asked_for(void **state)
{
    (void)state;
    assert_refused("--jobs", "--jobs needs a value: --jobs N");
    assert_refused("-j", "--jobs needs a value: --jobs N");
    assert_refused("--learner --jobs 3", "--learner needs a value: --learner URL");
    assert_refused("--jobs --", "--jobs needs a value: --jobs N");
}

static void test_a_value_too_many_is_refused(void **state)
{
    (void)state;
    assert_refused("--quiet=yes", "--quiet takes no value");
}

static void test_a_refused_value_names_its_option(void **state)
{
    aq_error error;

    (void)state;
    assert_int_equal(parse("-q --jobs bad -v", &error), AQ_E_TOO_BIG);
    assert_string_equal(error.text, "--jobs: 'bad' is not a number");
    assert_string_equal(seen, "quiet=;"); /* nothing after it was applied */
    assert_int_equal(parse("bad", &error), AQ_E_TOO_BIG);
    assert_string_equal(error.text, "'bad' is not a number");
}

static void test_help_and_version_do_nothing_else(void **state)
{
    aq_error error;

    (void)state;
    assert_int_equal(parse("--jobs 3 --help", &error), AQ_OPTIONS_HELP);
    assert_string_equal(seen, "");
    assert_int_equal(parse("x -qh", &error), AQ_OPTIONS_HELP);
    assert_string_equal(seen, "");
    assert_int_equal(parse("--version --job", &error), AQ_OPTIONS_VERSION);
    assert_string_equal(seen, "");
    assert_int_equal(parse("-j --help", &error), AQ_E_INVALID);
}

static void test_help_is_aligned_and_fits_a_terminal(void **state)
{
    static const char expected[] =
        "Usage: actorq eval RUN_OR_POLICY [options]\n"
        "\n"
        "Plays whole episodes with a policy and reports what they are worth, with a\n"
        "confidence interval.\n"
        "\n"
        "Options:\n"
        "  -j, --jobs N       How many at a time.\n"
        "      --learner URL  Where the learner listens, for example tcp://learner:5550.\n"
        "                     Everything else comes from it.\n"
        "  -q, --quiet        Say less.\n"
        "  -v, --verbose      Say more.\n"
        "      --a-very-long-option-name SOMETHING\n"
        "                     Its help stands on the next line.\n"
        "  -h, --help         Show this help and exit.\n"
        "      --version      Show the version and exit.\n"
        "\n"
        "Example:\n"
        "  actorq eval run/ --jobs 4\n";
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_non_null(out);
    aq_options_print_help(&table, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_spelling_of_an_option_is_understood),
        cmocka_unit_test(test_options_and_arguments_keep_their_order),
        cmocka_unit_test(test_values_may_look_odd),
        cmocka_unit_test(test_two_dashes_end_the_options),
        cmocka_unit_test(test_one_dash_is_an_argument),
        cmocka_unit_test(test_an_unknown_option_is_answered_with_the_nearest),
        cmocka_unit_test(test_a_missing_value_is_asked_for),
        cmocka_unit_test(test_a_value_too_many_is_refused),
        cmocka_unit_test(test_a_refused_value_names_its_option),
        cmocka_unit_test(test_help_and_version_do_nothing_else),
        cmocka_unit_test(test_help_is_aligned_and_fits_a_terminal),
    };

    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}

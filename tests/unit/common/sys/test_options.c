/*
 * Options are recognised in every spelling, wrong ones are answered helpfully, help looks good.
 */
#include "common/sys/options.h"
#include "tests/support/test.h"

/* What was taken, one "name=value;" after the other. */
typedef struct looks {
    char seen[512];
} looks;

static int see(looks *at, const char *name, const char *value, aq_error *error)
{
    size_t used = strlen(at->seen);
    if (value != NULL && strcmp(value, "bad") == 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "'bad' is not a number");
    }
    snprintf(at->seen + used, sizeof(at->seen) - used, "%s=%s;", name, value == NULL ? "" : value);
    return 0;
}

#define SEE(name)                                                                                  \
    static int see_##name(void *user, const char *value, aq_error *error)                          \
    {                                                                                              \
        return see(user, #name, value, error);                                                     \
    }
SEE(jobs)
SEE(learner)
SEE(quiet)
SEE(verbose)

static int see_argument(void *user, const char *value, aq_error *error)
{
    return see(user, "", value, error);
}

static const aq_option rows[] = {
    {"jobs", 'j', "N", "How many at a time.", AQ_TO(see_jobs, looks, seen)},
    {"learner", 0, "URL",
     "Where the learner listens, for example tcp://learner:5550. Everything else comes from it.",
     AQ_TO(see_learner, looks, seen)},
    {"quiet", 'q', NULL, "Say less.", AQ_TO(see_quiet, looks, seen)},
    {"verbose", 'v', NULL, "Say more.", AQ_TO(see_verbose, looks, seen)},
    {"a-very-long-option-name", 0, "SOMETHING", "Its help stands on the next line.",
     AQ_TO(see_argument, looks, seen)},
};

static const aq_options table = {
    .program = "actorq eval",
    .usage = "RUN_OR_POLICY [options]",
    .summary = "Plays whole episodes with a policy and reports what they are worth, with a "
               "confidence interval.",
    .details = "Example:\n  actorq eval run/ --jobs 4",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .more = see_argument,
};

/* Splits `line` at blanks; "''" is an empty argument. */
static int parse(const char *line, looks *at, aq_error *error)
{
    char text[256];
    char *argv[32] = {0};
    char *rest = NULL;
    int argc = 0;
    at->seen[0] = '\0';
    *error = (aq_error){0};
    snprintf(text, sizeof(text), "program %s", line);
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "''") == 0) {
            word[0] = '\0';
        }
        argv[argc++] = word;
    }
    return aq_options_parse(&table, argc, argv, at, error);
}

static void assert_seen(const char *line, const char *expected)
{
    looks at;
    assert_succeeds(parse(line, &at, &refusal));
    assert_string_equal(at.seen, expected);
}

static void refuse(const char *line, const char *text)
{
    looks at;
    assert_int_equal(parse(line, &at, &refusal), AQ_E_INVALID);
    assert_int_equal(refusal.code, AQ_E_INVALID);
    assert_string_equal(refusal.text, text);
}

TEST(every_spelling_of_an_option_is_understood)
{
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

TEST(a_name_may_be_cut_where_only_one_begins_so)
{
    assert_seen("--learn x", "learner=x;");
    assert_seen("--q --j=4", "quiet=;jobs=4;");
    refuse("--=4", "unknown option --=4; --help lists all");
}

TEST(options_and_arguments_keep_their_order)
{
    assert_seen("a --jobs 1 b --jobs 2 -q c", "=a;jobs=1;=b;jobs=2;quiet=;=c;");
}

TEST(values_may_look_odd)
{
    assert_seen("--jobs=", "jobs=;");
    assert_seen("--jobs ''", "jobs=;");
    assert_seen("--jobs -1", "jobs=-1;");
    assert_seen("--learner=--x=y", "learner=--x=y;");
    assert_seen("--learner a=b", "learner=a=b;");
    assert_seen("--jobs -", "jobs=-;");
}

TEST(two_dashes_end_the_options)
{
    assert_seen("-q -- --jobs -v -- --help", "quiet=;=--jobs;=-v;=--;=--help;");
}

TEST(one_dash_is_an_argument)
{
    assert_seen("- a", "=-;=a;");
}

TEST(an_empty_argument_is_refused)
{
    refuse("a ''", "the argument is empty");
}

TEST(an_unknown_option_is_answered_with_the_nearest)
{
    refuse("--jops 4", "unknown option --jops; did you mean --jobs?");
    refuse("--lerner=x", "unknown option --lerner=x; did you mean --learner?");
    refuse("--hlep", "unknown option --hlep; did you mean --help?");
    refuse("--temperature", "unknown option --temperature; --help lists all");
    refuse("-x", "unknown option -x; --help lists all");
    refuse("-learner", "unknown option -learner; did you mean --learner?");
}

TEST(a_missing_value_is_asked_for)
{
    refuse("--jobs", "--jobs needs a value: --jobs N");
    refuse("-j", "--jobs needs a value: --jobs N");
    refuse("--learner --jobs 3", "--learner needs a value: --learner URL");
    refuse("--jobs --", "--jobs needs a value: --jobs N");
}

TEST(a_value_too_many_is_refused)
{
    refuse("--quiet=yes", "--quiet takes no value");
}

TEST(a_refused_value_names_its_option)
{
    looks at;
    assert_int_equal(parse("-q --jobs bad -v", &at, &refusal), AQ_E_TOO_BIG);
    assert_string_equal(refusal.text, "--jobs: 'bad' is not a number");
    assert_string_equal(at.seen, "quiet=;"); /* nothing after it was applied */
    assert_int_equal(parse("bad", &at, &refusal), AQ_E_TOO_BIG);
    assert_string_equal(refusal.text, "'bad' is not a number");
}

TEST(help_and_version_do_nothing_else)
{
    looks at;
    assert_int_equal(parse("--jobs 3 --help", &at, &refusal), AQ_OPTIONS_HELP);
    assert_string_equal(at.seen, "");
    assert_int_equal(parse("x -qh", &at, &refusal), AQ_OPTIONS_HELP);
    assert_string_equal(at.seen, "");
    assert_int_equal(parse("--version --job", &at, &refusal), AQ_OPTIONS_VERSION);
    assert_string_equal(at.seen, "");
    assert_int_equal(parse("-j --help", &at, &refusal), AQ_E_INVALID);
    refuse("--help jobs", "'jobs' is one argument too many after '--help'");
    refuse("-h jobs", "'jobs' is one argument too many after '-h'");
}

TEST(help_is_aligned_and_fits_a_terminal)
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

    assert_non_null(out);
    aq_options_print_help(&table, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- places --------------------------------------------------------------------------------- */

typedef struct asked {
    const char *in, *out, *name;
    uint64_t count;
    double share;
    uint32_t size;
    bool quiet;
    char last;
    aq_json_form json;
} asked;

static int take_last(void *member, const char *value, aq_error *error)
{
    *(char *)member = value[strlen(value) - 1];
    return strlen(value) > 1 ? 0 : aq_fail(error, AQ_E_INVALID, "'%s' is short", value);
}

static const char *const sizes[] = {"small", "large", NULL};

static const aq_option placed_rows[] = {
    {"count", 'n', "N", "", AQ_TO_NUMBER(asked, count, 2, 9)},
    {"share", 0, "X", "", AQ_TO_REAL(asked, share)},
    {"size", 0, "SIZE", "", AQ_TO_CHOICE(asked, size, 5, sizes)},
    {"name", 0, "TEXT", "", AQ_TO_TEXT(asked, name)},
    {"quiet", 'q', NULL, "", AQ_TO_FLAG(asked, quiet)},
    {"last", 0, "TEXT", "", AQ_TO(take_last, asked, last)},
    AQ_JSON_OPTION_ROW(asked, json, "it"),
};

static const aq_options placed = {
    .program = "placed",
    .rows = placed_rows,
    .count = sizeof(placed_rows) / sizeof(placed_rows[0]),
    .operands = {AQ_OPERAND("IN", asked, in), AQ_OPERAND("OUT", asked, out)},
};

/* Nobody writes to arguments. */
static int parse_placed(int argc, const char *const *argv, asked *ret_got, aq_error *error)
{
    return aq_options_parse(&placed, argc, (char *const *)(uintptr_t)argv, ret_got, error);
}

TEST(values_go_to_their_places)
{
    asked got = {0};
    const char *const argv[] = {"placed", "a",      "-qn7",   "--share", "0.5", "--size",
                                "large",  "--name", "a name", "--last",  "xyz", "b"};
    assert_succeeds(parse_placed(12, argv, &got, &refusal));
    assert_string_equal(got.in, "a");
    assert_string_equal(got.out, "b");
    assert_string_equal(got.name, "a name");
    assert_int_equal(got.count, 7);
    assert_int_equal(got.size, 6);
    assert_true(got.share == 0.5 && got.quiet);
    assert_int_equal(got.last, 'z');
}

TEST(json_may_be_asked_for_in_another_form)
{
    static const struct {
        const char *typed;
        int rc;
        aq_json_form form;
    } forms[] = {
        {"--json", 0, AQ_JSON_LINE},
        {"--js", 0, AQ_JSON_LINE},
        {"--json=pretty", 0, AQ_JSON_PRETTY},
        {"--json=", AQ_E_INVALID, AQ_JSON_OFF},
        {"--json=line", AQ_E_INVALID, AQ_JSON_OFF},
    };
    EACH_ROW(i, forms) {
        const char *const argv[] = {"placed", forms[i].typed, "pretty", "b"};
        asked got = {0};
        assert_int_equal(parse_placed(4, argv, &got, &refusal), forms[i].rc);
        assert_int_equal(forms[i].rc == 0 ? got.json : AQ_JSON_OFF, forms[i].form);
        assert_true(forms[i].rc != 0 || strcmp(got.in, "pretty") == 0);
    }
}

TEST(what_has_no_place_is_refused)
{
    static const struct refused {
        const char *argv[4];
        const char *words;
    } all[] = {
        {{"placed", "--count", "1"}, "--count: '1' is not a whole number from 2 to 9"},
        {{"placed", "--count", "10"}, "--count: '10' is not a whole number from 2 to 9"},
        {{"placed", "--count", "18446744073709551618"}, "is not a whole number from 2 to 9"},
        {{"placed", "--count", "-5"}, "is not a whole number from 2 to 9"},
        {{"placed", "--count", "2.5"}, "is not a whole number from 2 to 9"},
        {{"placed", "--count", ""}, "is not a whole number from 2 to 9"},
        {{"placed", "--count", "many"}, "--count: 'many' is not a whole number from 2 to 9"},
        {{"placed", "--share", "half"}, "--share: 'half' is no number"},
        {{"placed", "--size", "middle"}, "--size: 'middle' is none of small, large"},
        {{"placed", "--name", ""}, "--name: the value is empty"},
        {{"placed", "--last", "x"}, "--last: 'x' is short"},
        {{"placed", "a", "", "-q"}, "the argument is empty"},
        {{"placed", "a", "b", "c"}, "'c' is one argument too many after 'b'"},
        {{"placed", "a", "-q", "-q"}, "OUT is missing; see --help"},
        {{"placed", "-q", "-q", "-q"}, "IN and OUT are missing; see --help"},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        asked got = {0};
        const int argc = all[i].argv[3] == NULL ? 3 : 4;
        assert_refused(parse_placed(argc, all[i].argv, &got, &refusal), AQ_E_INVALID, all[i].words);
        assert_int_equal(got.count, 0);
    }
}

TEST(numbers_at_their_bounds_are_taken)
{
    asked got = {0};
    static const char *const least[] = {"placed", "a", "b", "-n2"};
    static const char *const most[] = {"placed", "a", "b", "-n9"};
    assert_int_equal(parse_placed(4, least, &got, NULL), 0);
    assert_int_equal(got.count, 2);
    got.in = got.out = NULL;
    assert_int_equal(parse_placed(4, most, &got, NULL), 0);
    assert_int_equal(got.count, 9);
}

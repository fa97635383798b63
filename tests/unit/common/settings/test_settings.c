/*
 * Defaults, --set, and YAML files that are right. Files that are wrong are in test_settings_bad.c.
 */
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/common/settings/settings_sample.h"

static void assert_assign(sample *settings, const char *assignment)
{
    assert_succeeds(aq_settings_assign(&sample_table, assignment, settings, &refusal));
}

static void assert_not_assigned(const char *assignment, const char *text)
{
    sample settings = sample_defaults();
    sample before = settings;
    assert_int_equal(aq_settings_assign(&sample_table, assignment, &settings, &refusal),
                     AQ_E_INVALID);
    assert_int_equal(refusal.code, AQ_E_INVALID);
    assert_string_equal(refusal.text, text);
    assert_memory_equal(&settings, &before, sizeof(settings));
}

static void assert_read(sample *settings, const char *yaml)
{
    assert_succeeds(
        aq_settings_read_yaml(&sample_table, "c.yaml", yaml, strlen(yaml), settings, &refusal));
}

TEST(members_start_with_their_defaults)
{
    sample settings = sample_defaults();
    assert_int_equal(settings.seed, 1);
    assert_string_equal(settings.name, "cart");
    assert_int_equal(settings.capacity, 100000);
    assert_true(settings.alpha == 0.6);
    assert_true(settings.durable);
    assert_int_equal(settings.precision, SAMPLE_INT8);
    assert_true(settings.rate == 3e-4);
    assert_string_equal(settings.url, "");
}

TEST(set_changes_one_member)
{
    sample settings = sample_defaults();
    assert_assign(&settings, "seed=18446744073709551615");
    assert_assign(&settings, "name=a=b");
    assert_assign(&settings, "replay.capacity=100");
    assert_assign(&settings, "replay.alpha=1e-1");
    assert_assign(&settings, "replay.durable=off");
    assert_assign(&settings, "policy.precision=fp16");
    assert_assign(&settings, "policy.rate=-1.5");
    assert_assign(&settings, "policy.url=");
    assert_true(settings.seed == UINT64_MAX);
    assert_string_equal(settings.name, "a=b");
    assert_int_equal(settings.capacity, 100);
    assert_true(settings.alpha == 0.1);
    assert_false(settings.durable);
    assert_int_equal(settings.precision, SAMPLE_FP16);
    assert_true(settings.rate == -1.5);
}

TEST(whole_numbers_and_lists_may_be_written_otherwise)
{
    static const char *const lists[] = {"32,16", "[32,16]", "[ 32, 16 ]", " 32 ,16"};
    sample settings = sample_defaults();
    assert_assign(&settings, "replay.capacity=25k");
    assert_int_equal(settings.capacity, 25000);
    assert_read(&settings, "replay:\n  capacity: 2.5e6\n");
    assert_int_equal(settings.capacity, 2500000);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        char assignment[64] = "policy.widths=";
        sample given = sample_defaults();
        strcat(assignment, lists[i]);
        assert_assign(&given, assignment);
        assert_string_equal(given.widths, "32,16");
    }
    assert_read(&settings, "policy:\n  widths: [32, 16]\n");
    assert_string_equal(settings.widths, "32,16");
    assert_read(&settings, "policy:\n  widths:\n    - 8\n");
    assert_string_equal(settings.widths, "8");
    assert_read(&settings, "policy:\n  widths: []\n  rate: 1\n");
    assert_string_equal(settings.widths, "");
}

TEST(a_wrong_value_is_answered_with_what_is_allowed)
{
    assert_not_assigned("replay.capacity=abc",
                        "replay.capacity: 'abc' is not a whole number (allowed: 100 to 100000000 "
                        "steps, default 100000)");
    assert_not_assigned(
        "replay.capacity=1000.5",
        "replay.capacity: '1000.5' is not a whole number (allowed: 100 to 100000000 "
        "steps, default 100000)");
    assert_not_assigned("replay.capacity=99",
                        "replay.capacity: '99' is out of bounds (allowed: 100 to 100000000 steps, "
                        "default 100000)");
    assert_not_assigned("seed=-1", "seed: '-1' is out of bounds (allowed: at least 0, default 1)");
    assert_not_assigned("seed=18446744073709551616", "seed: '18446744073709551616' is out of "
                                                     "bounds (allowed: at least 0, default 1)");
    assert_not_assigned("replay.alpha=1.01",
                        "replay.alpha: '1.01' is out of bounds (allowed: 0 to 1, default 0.6)");
    assert_not_assigned("policy.rate=nan", "policy.rate: 'nan' is not a finite decimal number "
                                           "(allowed: any number per step, default 3e-4)");
    assert_not_assigned("replay.durable=maybe", "replay.durable: 'maybe' is neither true nor false "
                                                "(allowed: true or false, default true)");
    assert_not_assigned("policy.precision=fp8", "policy.precision: 'fp8' is none of the choices "
                                                "(allowed: fp32, fp16 or int8, default int8)");
    assert_not_assigned("name=", "name: '' is too short (allowed: 1 to 15 bytes of text, default "
                                 "'cart')");
    assert_not_assigned("name=0123456789012345",
                        "name: '0123456789012345' is too long (allowed: 1 to 15 bytes of text, "
                        "default 'cart')");
    assert_not_assigned("name=a\nb\xff",
                        "name: 'a?b?' holds a control character or is not UTF-8 (allowed: 1 to 15 "
                        "bytes of text, default 'cart')");
}

TEST(a_long_wrong_value_is_shown_cut)
{
    char assignment[400] = "replay.capacity=";
    sample settings = sample_defaults();
    memset(assignment + strlen(assignment), 'x', 300);
    assert_refused(aq_settings_assign(&sample_table, assignment, &settings, &refusal), AQ_E_INVALID,
                   "xxx...' is not a whole number (allowed: 100 to");
    assert_true(strlen(refusal.text) < 200);
}

TEST(an_unknown_key_is_answered_with_the_nearest)
{
    assert_not_assigned("replay.capcity=5",
                        "replay.capcity: no such setting; did you mean replay.capacity?");
    assert_not_assigned("capacity=5", "capacity: no such setting; did you mean replay.capacity?");
    assert_not_assigned("policy.alpha=5",
                        "policy.alpha: no such setting; did you mean replay.alpha?");
    assert_not_assigned(
        "temperature=5",
        "temperature: no such setting; 'actorq train --print-config' lists them all");
    assert_not_assigned("replay=5",
                        "replay: no such setting; 'actorq train --print-config' lists them all");
    assert_not_assigned("seed", "'seed' is not of the form KEY=VALUE");
    assert_not_assigned("=5", "'=5' is not of the form KEY=VALUE");
}

TEST(an_endless_key_is_unknown)
{
    char assignment[2000];
    sample settings = sample_defaults();
    memset(assignment, 'k', sizeof(assignment) - 1);
    assignment[1500] = '=';
    assignment[sizeof(assignment) - 1] = '\0';
    assert_int_equal(aq_settings_assign(&sample_table, assignment, &settings, NULL), AQ_E_INVALID);
}

TEST(a_file_changes_what_it_mentions)
{
    sample settings = sample_defaults();
    sample expected = sample_defaults();
    expected.seed = 7;
    expected.capacity = 500;
    expected.durable = false;
    expected.precision = SAMPLE_FP32;
    assert_read(&settings, "# a comment\n"
                           "policy: {precision: fp32}   # sections in any order and style\n"
                           "seed: 7\n"
                           "replay:\n"
                           "  capacity: '500'\n"
                           "  durable: No\n");
    assert_memory_equal(&settings, &expected, sizeof(settings));
}

TEST(an_alias_is_what_it_names)
{
    sample settings = sample_defaults();
    assert_read(&settings, "seed: &a 500\nreplay: {capacity: *a}\n");
    assert_int_equal(settings.seed, 500);
    assert_int_equal(settings.capacity, 500);
}

TEST(files_without_settings_are_fine)
{
    static const char *const texts[] = {
        "",
        "\n\n",
        "# only comments\n# and more\n",
        "---\n",
        "---\n...\n",
        "\xef\xbb\xbf# with a byte order mark\n",
        "replay:\n  # capacity: 5\n",
        "replay:\npolicy: {}\n",
    };
    sample settings = sample_defaults();
    sample before = settings;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_read(&settings, texts[i]);
        assert_memory_equal(&settings, &before, sizeof(settings));
    }
}

TEST(absent_members_keep_what_an_earlier_file_said)
{
    sample settings = sample_defaults();
    assert_read(&settings, "seed: 7\nreplay: {capacity: 500}\n");
    assert_read(&settings, "replay: {alpha: 0.25}\n");
    assert_int_equal(settings.seed, 7);
    assert_int_equal(settings.capacity, 500);
    assert_true(settings.alpha == 0.25);
}

TEST(texts_may_hold_what_yaml_means_otherwise)
{
    sample settings = sample_defaults();
    assert_read(&settings, "name: true\npolicy: {url: 'tcp://host:5550 # x'}\n");
    assert_string_equal(settings.name, "true");
    assert_string_equal(settings.url, "tcp://host:5550 # x");
    assert_read(&settings, "name: \"\\u00fc\\\\\"\npolicy:\n  url: 5\n");
    assert_string_equal(settings.name, "\xc3\xbc\\");
    assert_string_equal(settings.url, "5");
}

/* A text, in a buffer that is freed at the end. */
static const char *printed(const sample *settings)
{
    aq_buffer *out = buffer_up_to(1 << 16);
    assert_int_equal(aq_settings_print_yaml(&sample_table, settings, out), 0);
    assert_int_equal(aq_buffer_append(out, "", 1), 0);
    return (const char *)out->data;
}

TEST(the_printed_file_explains_itself)
{
    static const char expected[] =
        "# Every stream of random numbers is derived from it.\n"
        "# at least 0, default 1\n"
        "seed: 1\n"
        "\n"
        "# What the run is called.\n"
        "# 1 to 15 bytes of text, default 'cart'\n"
        "name: \"cart\"\n"
        "\n"
        "replay:\n"
        "  # How many steps the table holds. A step beyond that removes the oldest; this sentence "
        "is long\n"
        "  # enough to need a second line.\n"
        "  # 100 to 100000000 steps, default 100000\n"
        "  capacity: 100000\n"
        "\n"
        "  # How strongly priorities count.\n"
        "  # 0 to 1, default 0.6\n"
        "  alpha: 0.6\n"
        "\n"
        "  # Whether steps survive a restart.\n"
        "  # true or false, default true\n"
        "  durable: true\n"
        "\n"
        "policy:\n"
        "  # What actors compute with.\n"
        "  # fp32, fp16 or int8, default int8\n"
        "  precision: int8\n"
        "\n"
        "  # A number without bounds.\n"
        "  # any number per step, default 3e-4\n"
        "  # live: 'actorq set' changes it while the run goes on\n"
        "  rate: 0.0003\n"
        "\n"
        "  # Of its layers.\n"
        "  # at most 63 bytes of text, default '64,64'\n"
        "  widths: \"64,64\"\n"
        "\n"
        "  # Where it comes from.\n"
        "  # at most 63 bytes of text, default ''\n"
        "  # live: 'actorq set' changes it while the run goes on\n"
        "  url: \"\"\n";
    sample settings = sample_defaults();
    assert_string_equal(printed(&settings), expected);
}

static void assert_round_trip(const sample *settings)
{
    sample copy = sample_defaults();
    assert_read(&copy, printed(settings));
    assert_int_equal(copy.seed, settings->seed);
    assert_string_equal(copy.name, settings->name);
    assert_int_equal(copy.capacity, settings->capacity);
    assert_memory_equal(&copy.alpha, &settings->alpha, sizeof(copy.alpha));
    assert_int_equal(copy.durable, settings->durable);
    assert_int_equal(copy.precision, settings->precision);
    assert_memory_equal(&copy.rate, &settings->rate, sizeof(copy.rate));
    assert_string_equal(copy.url, settings->url);
}

TEST(odd_texts_survive_printing_and_reading)
{
    static const char *const urls[] = {
        "true",
        "~",
        "null",
        "- x",
        "a: b",
        " blanks ",
        "\"quoted\"",
        "back\\slash",
        "#",
        "{}",
        "'",
        "%",
        "@",
        "\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80",
        "\xe2\x80\xa8\xe2\x80\xa9",
        "\xef\xbb\xbf",
        "\xef\xbf\xbe\xef\xbf\xbf",
        "\xf0\x9f\xbf\xbe",
        "\xc2\xa0",
        "0x10",
        "012345678901234567890123456789012345678901234567890123456789012",
    };
    sample settings = sample_defaults();
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        snprintf(settings.url, sizeof(settings.url), "%s", urls[i]);
        assert_round_trip(&settings);
    }
}

TEST(every_number_survives_printing_and_reading)
{
    static const double rates[] = {0.0,
                                   -0.0,
                                   1e15,
                                   1e300,
                                   4.9406564584124654e-324,
                                   1e100,
                                   1.0 / 3,
                                   1e-5,
                                   123456789012345680.0};
    sample settings = sample_defaults();
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        settings.rate = rates[i];
        assert_round_trip(&settings);
    }
    aq_rng rng = rng_of(1, 0);
    for (int i = 0; i < 200; i++) {
        settings.seed = aq_rng_next(&rng);
        settings.capacity = 100 + aq_rng_below(&rng, 1000000);
        settings.alpha = aq_rng_uniform(&rng);
        settings.rate = aq_rng_normal(&rng) * 1e6;
        settings.durable = aq_rng_below(&rng, 2) == 1;
        settings.precision = (uint32_t)aq_rng_below(&rng, 3);
        assert_round_trip(&settings);
    }
}

TEST(small_numbers_are_printed_short)
{
    sample settings = sample_defaults();
    settings.rate = 1e-8;
    assert_says(printed(&settings), "  rate: 1e-8\n");
}

TEST(printing_into_too_little_room_leaves_nothing)
{
    sample settings = sample_defaults();
    aq_buffer *out = buffer_up_to(200);
    assert_int_equal(aq_buffer_append(out, "abc", 3), 0);
    assert_int_equal(aq_settings_print_yaml(&sample_table, &settings, out), AQ_E_TOO_BIG);
    assert_int_equal(out->size, 3);
}

TEST(a_file_on_disk_is_read)
{
    const char *path = file_in(file_folder(), "settings.yaml");
    sample settings = sample_defaults();
    file_put_text(path, "seed: 9\n");
    assert_succeeds(aq_settings_read_file(&sample_table, path, &settings, &refusal));
    assert_int_equal(settings.seed, 9);
    file_put_text(path, "sede: 9\n");
    assert_refused(aq_settings_read_file(&sample_table, path, &settings, &refusal), AQ_E_INVALID,
                   path);
    assert_says(refusal.text, ":1: sede: no such setting; did you mean seed?");
}

TEST(a_file_that_was_written_reads_the_same)
{
    const char *path = file_in(file_folder(), "settings.yaml");
    sample settings = sample_defaults(), again = sample_defaults();
    settings.seed = 9;
    assert_succeeds(aq_settings_write_file(&sample_table, path, &settings, &refusal));
    assert_succeeds(aq_settings_read_file(&sample_table, path, &again, &refusal));
    assert_int_equal(again.seed, 9);
    assert_fails_without_memory(aq_settings_write_file(&sample_table, path, &settings, &refusal));
    assert_says(refusal.text, path);
}

TEST(a_file_past_a_mebibyte_is_refused)
{
    const size_t size = ((size_t)1 << 20) + 1;
    const char *path = file_in(file_folder(), "settings.yaml");
    sample settings = sample_defaults();
    char *text = aq_alloc(size, 1);
    assert_non_null(text);
    memset(text, '#', size);
    file_put(path, text, size - 1);
    assert_succeeds(aq_settings_read_file(&sample_table, path, &settings, &refusal));
    file_put(path, text, size);
    assert_refused(aq_settings_read_file(&sample_table, path, &settings, &refusal), AQ_E_TOO_BIG,
                   path);
    remove(path);
    assert_int_equal(aq_settings_read_file(&sample_table, path, &settings, &refusal),
                     AQ_E_NOT_FOUND);
    aq_free(text);
}

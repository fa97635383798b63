/*
 * YAML files that are wrong: each is answered with its name, the line and a sentence that helps,
 * and the settings stay as they were.
 */
#include "tests/support/test.h"
#include "tests/unit/common/settings/settings_sample.h"

static void assert_refused_bytes(const char *yaml, size_t size, const char *text)
{
    sample settings = sample_defaults();
    sample before = settings;
    assert_int_equal(
        aq_settings_read_yaml(&sample_table, "c.yaml", yaml, size, &settings, &refusal),
        AQ_E_INVALID);
    assert_int_equal(refusal.code, AQ_E_INVALID);
    assert_string_equal(refusal.text, text);
    assert_memory_equal(&settings, &before, sizeof(settings));
    assert_int_equal(aq_settings_read_yaml(&sample_table, "c.yaml", yaml, size, &settings, NULL),
                     AQ_E_INVALID);
}

static void refuse(const char *yaml, const char *text)
{
    assert_refused_bytes(yaml, strlen(yaml), text);
}

TEST(a_wrong_value_names_its_line)
{
    refuse("seed: 5\nreplay:\n  capacity: abc\n",
           "c.yaml:3: replay.capacity: 'abc' is not a whole number (allowed: 100 to "
           "100000000 steps, default 100000)");
    refuse("# one\n\nreplay: {alpha: 2}\n",
           "c.yaml:3: replay.alpha: '2' is out of bounds (allowed: 0 to 1, default 0.6)");
    refuse("seed:\n", "c.yaml:1: seed: '' is not a whole number (allowed: at least 0, default 1)");
    refuse("seed: 1_000\n", "c.yaml:1: seed: '1_000' is not a whole number (allowed: at "
                            "least 0, default 1)");
    refuse("name: |\n  two\n  lines\n",
           "c.yaml:1: name: 'two?lines?' holds a control character or is not UTF-8 "
           "(allowed: 1 to 15 bytes of text, default 'cart')");
}

TEST(one_wrong_value_leaves_the_right_ones_out_too)
{
    /* refuse compares the whole struct with what it was. */
    refuse("seed: 5\nname: other\npolicy: {rate: x}\n",
           "c.yaml:3: policy.rate: 'x' is not a finite decimal number (allowed: any "
           "number per step, default 3e-4)");
}

TEST(an_unknown_key_names_its_line_and_the_nearest)
{
    refuse("seed: 5\nsede: 3\n", "c.yaml:2: sede: no such setting; did you mean seed?");
    refuse("seed: 5\nreplay:\n  alpha: 1\n\n  capcity: 4\n",
           "c.yaml:5: replay.capcity: no such setting; did you mean replay.capacity?");
    refuse("replya:\n  capacity: 5\n", "c.yaml:1: replya: no such section; did you mean replay?");
    refuse("x:\n  y: 5\n",
           "c.yaml:1: x: no such section; 'actorq train --print-config' lists them all");
    refuse("capacity: 5\n", "c.yaml:1: capacity: no such setting; did you mean replay.capacity?");
    refuse("replay:\n  <<: {capacity: 3}\n",
           "c.yaml:2: replay.<<: no such setting; 'actorq train --print-config' lists them all");
    refuse("replay.capacity: 500\n",
           "c.yaml:1: replay.capacity: in a file, 'capacity' stands below "
           "the line 'replay:', indented");
    refuse("\"a\\nb\": 1\n",
           "c.yaml:1: a?b: no such setting; 'actorq train --print-config' lists them all");
    refuse("temperature: {a: 1}\n",
           "c.yaml:1: temperature: no such section; 'actorq train --print-config' lists them all");
}

TEST(a_key_given_twice_names_both_lines)
{
    refuse("seed: 5\nname: x\nseed: 5\n", "c.yaml:3: seed: given twice, first in line 1");
    refuse("replay:\n  alpha: 1\n  alpha: 1\n", "c.yaml:3: alpha: given twice, first in line 2");
    refuse("replay:\n  alpha: 1\nreplay:\n  capacity: 100\n",
           "c.yaml:3: replay: given twice, first in line 1");
}

TEST(the_wrong_kind_of_thing_is_named)
{
    refuse("seed:\n  a: 3\n", "c.yaml:1: seed: a value is expected, not a mapping "
                              "(allowed: at least 0, default 1)");
    refuse("seed: [1, 2]\n", "c.yaml:1: seed: a value is expected, not a list (allowed: at "
                             "least 0, default 1)");
    refuse("replay:\n  durable:\n    - yes\n",
           "c.yaml:2: replay.durable: a value is expected, not a list (allowed: true or "
           "false, default true)");
    refuse("policy:\n  widths: [[1]]\n",
           "c.yaml:2: policy.widths: a value is expected, not a list (allowed: at most 63 bytes of "
           "text, default '64,64')");
    refuse("replay: 4\n", "c.yaml:1: replay: the settings of this section are expected, "
                          "indented, not a value");
    refuse("replay:\n- capacity: 4\n", "c.yaml:1: replay: the settings of this section are "
                                       "expected, indented, not a list");
    refuse("- a\n- b\n", "c.yaml:1: lines of the form 'key: value' are expected");
    refuse("\nhello\n", "c.yaml:2: lines of the form 'key: value' are expected");
    refuse("[a, b]: 5\n", "c.yaml:1: a key must be a plain name");
}

TEST(an_alias_of_nothing_is_refused)
{
    refuse("seed: 5\nreplay:\n  capacity: *a\n", "c.yaml:3: found undefined alias");
    refuse("seed: 5\nreplay: &a\n  capacity: *a\n",
           "c.yaml:3: replay.capacity: a value is expected, not a mapping (allowed: 100 to "
           "100000000 steps, default 100000)");
}

TEST(a_second_document_is_refused)
{
    refuse("seed: 5\n---\nseed: 6\n", "c.yaml:2: a second document begins; one is expected");
}

TEST(what_is_not_yaml_names_its_line)
{
    static const char nul[] = "seed: 5\nname: a\0b\n";
    refuse("seed: 5\nreplay:\n\tcapacity: 4\n", "c.yaml:3: indented by a tab; YAML wants blanks");
    refuse("seed: 5\n{]\n", "c.yaml:2: could not find expected ':'");
    refuse("seed: 'abc\n\n", "c.yaml:1: found unexpected end of stream");
    refuse("seed: 5\n  name: x\n", "c.yaml:2: mapping values are not allowed in this "
                                   "context");
    assert_refused_bytes(nul, sizeof(nul) - 1, "c.yaml:2: control characters are not allowed");
    refuse("\x7f"
           "ELF\x01\x02",
           "c.yaml:1: control characters are not allowed");
    refuse("seed: 5\n\nname: \xff\xfe\n", "c.yaml:3: invalid leading UTF-8 octet");
}

static const char good_yaml[] = "seed: 7\n"
                                "name: other\n"
                                "replay:\n"
                                "  capacity: 500\n"
                                "  durable: no\n"
                                "policy: {precision: fp16, url: \"tcp://x:1\"}\n";

TEST(reading_survives_every_failed_allocation)
{
    int rc = AQ_E_NOMEM;
    EACH_ALLOCATION_FAILS(rc) {
        sample settings = sample_defaults();
        sample before = settings;
        rc = aq_settings_read_yaml(&sample_table, "c.yaml", good_yaml, strlen(good_yaml), &settings,
                                   &refusal);
        if (rc < 0) {
            assert_string_equal(refusal.text, "c.yaml: out of memory");
            assert_memory_equal(&settings, &before, sizeof(settings));
        }
    }
}

TEST(printing_survives_every_failed_allocation)
{
    sample settings = sample_defaults();
    int rc = AQ_E_NOMEM;
    EACH_ALLOCATION_FAILS(rc) {
        aq_buffer *out = buffer_up_to(1 << 16);
        rc = aq_settings_print_yaml(&sample_table, &settings, out);
        assert_true(rc == 0 || out->size == 0);
    }
}

/* Whatever a file holds, it is read whole or refused with a sentence, and nothing crashes. */
TEST(mangled_files_are_read_or_refused)
{
    static const char letters[] = ":-[]{}#&*!|>'\"%@`,? \t\n\\\x01\x80\xff"
                                  "05ae";
    char yaml[sizeof(good_yaml)];
    aq_rng rng;
    aq_rng_init(&rng, 1, 0);
    for (int round = 0; round < 3000; round++) {
        size_t changes = 1 + aq_rng_below(&rng, 3);
        size_t size = 1 + aq_rng_below(&rng, sizeof(yaml) - 1);
        sample settings = sample_defaults();
        sample before = settings;
        memcpy(yaml, good_yaml, sizeof(yaml));
        for (size_t i = 0; i < changes; i++) {
            yaml[aq_rng_below(&rng, sizeof(yaml) - 1)] =
                letters[aq_rng_below(&rng, sizeof(letters) - 1)];
        }
        int rc = aq_settings_read_yaml(&sample_table, "c.yaml", yaml, size, &settings, &refusal);
        assert_true(rc == 0 || rc == AQ_E_INVALID);
        if (rc < 0) {
            assert_memory_equal(&settings, &before, sizeof(settings));
            assert_memory_equal(refusal.text, "c.yaml:", 7);
            assert_in_range(refusal.text[7], '1', '9'); /* every refusal finds its line */
        }
    }
}

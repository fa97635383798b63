/*
 * Base64 against the examples of RFC 4648, there and back, and what it refuses.
 */
#include "common/net/security/base64.h"
#include "tests/support/test.h"

static const struct {
    const char *bytes;
    const char *text;
} examples[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
};

static void expect_decoded(const char *text, const void *bytes, size_t size)
{
    uint8_t *found = NULL;
    size_t found_size = 999;
    assert_int_equal(aq_base64_decode(text, strlen(text), &found, &found_size), 0);
    assert_int_equal(found_size, size);
    assert_memory_equal(found, bytes, size);
    aq_free(found);
}

TEST(the_examples_of_the_standard_hold)
{
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        size_t size = strlen(examples[i].bytes);
        char *text = aq_base64_encode((const uint8_t *)examples[i].bytes, size);
        assert_non_null(text);
        assert_string_equal(text, examples[i].text);
        expect_decoded(text, examples[i].bytes, size);
        aq_free(text);
    }
}

TEST(padding_may_be_left_out_and_the_url_alphabet_used)
{
    expect_decoded("Zg", "f", 1);
    expect_decoded("Zm8", "fo", 2);
    expect_decoded("-_-_", "\xfb\xff\xbf", 3);
    expect_decoded("+/+/", "\xfb\xff\xbf", 3);
}

TEST(random_bytes_come_back)
{
    uint8_t bytes[200];
    aq_rng rng = rng_of(1, 0);
    for (size_t size = 0; size < sizeof(bytes); size++) {
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)aq_rng_next(&rng);
        }
        char *text = aq_base64_encode(bytes, size);
        assert_non_null(text);
        expect_decoded(text, bytes, size);
        aq_free(text);
    }
}

TEST(what_is_not_base64_is_refused)
{
    static const char *const texts[] = {
        "Z",      "Zg=",  "Zg===",    "=",    "====", "Z===", "Zm9vYg=",    "Zm9 v",
        "Zm9v\n", "Zm*v", "Zg==Zg==", "Zh==", "Zm9=", "Zh",   "\xc3\xa4xx",
    };
    uint8_t *bytes = NULL;
    size_t size = 7;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(aq_base64_decode(texts[i], strlen(texts[i]), &bytes, &size), AQ_E_INVALID);
        assert_null(bytes);
        assert_int_equal(size, 7);
    }
}

TEST(running_out_of_memory_is_reported)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    aq_memory_fail_at(1, 0);
    assert_null(aq_base64_encode((const uint8_t *)"abc", 3));
    assert_fails_without_memory(aq_base64_decode("Zm9v", 4, &bytes, &size));
}

/*
 * Characters of every length are decoded, and nothing else is taken for one.
 */
#include "common/base/utf8.h"
#include "tests/support/test.h"

static void assert_character(const char *text, size_t size, uint32_t expected)
{
    uint32_t code_point = 0;
    assert_int_equal(aq_utf8_decode(text, &code_point), size);
    assert_int_equal(code_point, expected);
}

TEST(characters_of_every_length_are_decoded)
{
    assert_character("a", 1, 'a');
    assert_character("\x7f", 1, 0x7f);
    assert_character("\xc2\x80", 2, 0x80);
    assert_character("\xdf\xbf", 2, 0x7ff);
    assert_character("\xe0\xa0\x80", 3, 0x800);
    assert_character("\xe2\x82\xac rest", 3, 0x20ac);
    assert_character("\xef\xbf\xbf", 3, 0xffff);
    assert_character("\xf0\x90\x80\x80", 4, 0x10000);
    assert_character("\xf4\x8f\xbf\xbf", 4, 0x10ffff);
}

TEST(what_is_not_utf8_is_refused)
{
    static const char *const bad[] = {
        "",
        "\x80",             /* a continuation alone */
        "\xc2",             /* cut off */
        "\xe2\x82",         /* cut off */
        "\xf0\x9f\x98",     /* cut off */
        "\xc2\x41",         /* no continuation */
        "\xc0\xaf",         /* overlong */
        "\xe0\x80\xaf",     /* overlong */
        "\xf0\x80\x80\xaf", /* overlong */
        "\xed\xa0\x80",     /* a surrogate */
        "\xf4\x90\x80\x80", /* past the last */
        "\xf8\x88\x80\x80\x80",
        "\xff",
    };
    uint32_t code_point = 42;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(aq_utf8_decode(bad[i], &code_point), 0);
    }
    assert_int_equal(code_point, 42);
}

TEST(a_text_is_plain_to_its_end)
{
    static const char *const other[] = {"a\n", "\x7f", "a\xc2\x80", "\xc3", "a\xff z"};
    assert_true(aq_utf8_is_plain("") && aq_utf8_is_plain("so:/\xc3\xa9/p.so"));
    EACH_ROW(i, other) {
        assert_false(aq_utf8_is_plain(other[i]));
    }
}

/*
 * A list makes an enum and its words in one order.
 */
#include "common/base/choice.h"
#include "tests/support/test.h"

#define SIZES(X) X(SIZE_SMALL, "small") X(SIZE_LARGE, "large")
enum size { SIZES(AQ_CHOICE_CONSTANT) };
static const char *const words[] = {SIZES(AQ_CHOICE_WORD) NULL};

TEST(a_word_is_at_the_place_of_its_constant)
{
    assert_int_equal(aq_choice_count(words), 2);
    assert_string_equal(words[SIZE_LARGE], "large");
    assert_int_equal(aq_choice_find(words, "small"), SIZE_SMALL);
    assert_int_equal(aq_choice_find(words, "large"), SIZE_LARGE);
    assert_int_equal(aq_choice_find(words, "larg"), AQ_E_INVALID);
}

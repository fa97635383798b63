/*
 * The counter's bits against the known answers that the authors publish with their code.
 */
#include "common/base/counter_rng.h"
#include "tests/support/test.h"

TEST(the_published_answers_are_reproduced)
{
    static const struct known_answer {
        uint32_t key[2], counter[4], bits[4];
    } answers[] = {
        {{0, 0}, {0, 0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0xa4093822, 0x299f31d0},
         {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        uint32_t bits[4];
        aq_counter_bits(answers[i].key, answers[i].counter, bits);
        assert_memory_equal(bits, answers[i].bits, sizeof(bits));
    }
}

TEST(the_answer_may_overwrite_the_counter)
{
    static const uint32_t key[2] = {1, 2};
    uint32_t apart[4];
    uint32_t counter[4] = {3, 4, 5, 6};
    aq_counter_bits(key, counter, apart);
    aq_counter_bits(key, counter, counter);
    assert_memory_equal(apart, counter, sizeof(apart));
}

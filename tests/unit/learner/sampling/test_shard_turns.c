/*
 * Turns come in proportion to masses: exactly, always in the same order, and whoever has nothing to
 * give keeps nobody waiting.
 */
#include "learner/sampling/shard_turns.h"

#include "common/base/clock.h"
#include "learner/sampling/shard_board.h"
#include "tests/support/test.h"

enum { SHARDS = 4 };

static void init(aq_shard_turn turns[SHARDS], const double mass[SHARDS])
{
    for (int i = 0; i < SHARDS; i++) {
        aq_shard_turn_init(&turns[i]);
        turns[i].mass = mass[i];
        turns[i].open = mass[i] >= 0 || isnan(mass[i]);
    }
}

/* Asks and answers at once, `rounds` times. */
static void run(aq_shard_turn turns[SHARDS], unsigned rounds, unsigned got[SHARDS])
{
    for (unsigned i = 0; i < rounds; i++) {
        size_t due = aq_shard_turns_next(turns, SHARDS, 4);
        assert_true(due < SHARDS);
        got[due]++;
        aq_shard_turn_ended(&turns[due], true);
    }
}

TEST(every_count_stays_within_two_of_its_share)
{
    static const double masses[][SHARDS] = {
        {1, 1, 1, 1}, {8, 4, 2, 1}, {0.9, 0.1, -1, -1}, {1e9, 1, 1e6, 7}, {3, -1, 5, -1}};
    EACH_ROW(k, masses) {
        aq_shard_turn turns[SHARDS];
        unsigned got[SHARDS] = {0};
        double total = 0;
        init(turns, masses[k]);
        for (int i = 0; i < SHARDS; i++) {
            total += fmax(0, masses[k][i]);
        }
        for (unsigned rounds = 1; rounds <= 3000; rounds++) {
            run(turns, 1, got);
            for (int i = 0; i < SHARDS; i++) {
                double share = fmax(0, masses[k][i]) / total * rounds;
                assert_near(got[i], share, 2);
            }
        }
    }
}

TEST(the_same_history_gives_the_same_turns)
{
    static const double mass[SHARDS] = {5, 3, 1, 1};
    aq_shard_turn first[SHARDS], second[SHARDS];
    init(first, mass);
    init(second, mass);
    for (int i = 0; i < 500; i++) {
        size_t due = aq_shard_turns_next(first, SHARDS, 4);
        assert_int_equal(due, aq_shard_turns_next(second, SHARDS, 4));
        aq_shard_turn_ended(&first[due], i % 7 != 0);
        aq_shard_turn_ended(&second[due], i % 7 != 0);
    }
}

TEST(the_turns_of_a_closed_shard_go_to_the_others)
{
    static const double mass[SHARDS] = {6, 3, 1, -1};
    aq_shard_turn turns[SHARDS];
    unsigned got[SHARDS] = {0};
    init(turns, mass);
    turns[0].open = false;
    run(turns, 400, got);
    assert_int_equal(got[0], 0);
    assert_int_equal(got[1], 300);
    assert_int_equal(got[2], 100);
    turns[0].open = true; /* and it is owed nothing for that time */
    memset(got, 0, sizeof(got));
    run(turns, 100, got);
    assert_true(got[0] >= 59 && got[0] <= 61);
}

TEST(what_brought_nothing_is_made_up_for)
{
    static const double mass[SHARDS] = {1, 1, -1, -1};
    aq_shard_turn turns[SHARDS];
    unsigned brought[SHARDS] = {0};
    init(turns, mass);
    for (int i = 0; i < 1500; i++) {
        size_t due = aq_shard_turns_next(turns, SHARDS, 4);
        bool brings = due != 0 || i % 3 != 0; /* the first fails now and then */
        brought[due] += brings;
        aq_shard_turn_ended(&turns[due], brings);
    }
    assert_true(abs((int)brought[0] - (int)brought[1]) <= 2);
}

TEST(an_unknown_shard_is_asked_first)
{
    static const double mass[SHARDS] = {100, 50, NAN, -1};
    aq_shard_turn turns[SHARDS];
    init(turns, mass);
    assert_int_equal(aq_shard_turns_next(turns, SHARDS, 8), 2);
    assert_int_not_equal(aq_shard_turns_next(turns, SHARDS, 8), 2); /* then it waits its turn */
}

/* Until it tells, it counts as much as the others on average. */
TEST(a_shard_that_has_not_told_has_its_share)
{
    static const double mass[SHARDS] = {30, 10, 20, NAN};
    aq_shard_turn turns[SHARDS];
    unsigned got[SHARDS] = {0};
    init(turns, mass);
    turns[3].asked = 1; /* its first answer is long under way */
    for (int i = 0; i < 400; i++) {
        const size_t due = aq_shard_turns_next(turns, SHARDS, 8);
        got[due]++;
        aq_shard_turn_ended(&turns[due], true);
    }
    assert_near(got[3], 100, 2);
    assert_near(got[0], 150, 2);
}

TEST(where_nobody_has_told_all_count_the_same)
{
    static const double mass[SHARDS] = {NAN, NAN, NAN, NAN};
    aq_shard_turn turns[SHARDS];
    init(turns, mass);
    for (size_t i = 0; i < 2 * SHARDS; i++) {
        assert_int_equal(aq_shard_turns_next(turns, SHARDS, 8), i % SHARDS);
    }
}

TEST(a_shard_without_mass_is_asked_when_all_are)
{
    static const double mass[SHARDS] = {4, 0, -1, -1};
    aq_shard_turn turns[SHARDS];
    unsigned got[SHARDS] = {0};
    init(turns, mass);
    run(turns, 100, got);
    assert_int_equal(got[1], 0);
    turns[0].mass = 0;
    run(turns, 100, got);
    assert_true(got[1] >= 49 && got[1] <= 51);
}

TEST(nobody_is_asked_when_all_are_closed)
{
    static const double mass[SHARDS] = {-1, -1, -1, -1};
    aq_shard_turn turns[SHARDS];
    init(turns, mass);
    assert_int_equal(aq_shard_turns_next(turns, SHARDS, 4), SHARDS);
}

/* Nine parts of ten belong to the first, which doesn't answer: one request is left to the other. */
TEST(a_shard_that_does_not_answer_leaves_a_request_to_each_other)
{
    static const double mass[SHARDS] = {90, 10, -1, -1};
    aq_shard_turn turns[SHARDS];
    uint32_t out = 0;
    init(turns, mass);
    while (out < 4 && aq_shard_turns_next(turns, SHARDS, 4) != SHARDS) {
        out++;
    }
    assert_int_equal(turns[0].asked, 3);
    turns[0].stalled = true;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(aq_shard_turns_next(turns, SHARDS, 4), 1);
        aq_shard_turn_ended(&turns[1], true);
    }
}

TEST(a_shard_is_stalled_when_it_is_silent_for_longer_than_usual)
{
    aq_shard_board board = {0};
    aq_board_shard *shard;
    assert_succeeds(aq_shard_board_add(&board, 1, "one", &shard));
    int64_t now = 0;
    static const struct {
        int64_t ms;
        bool stalled;
    } asked[] = {{0, false}, {20, false}, {24, false}, {26, true}}; /* since the first of them */
    EACH_ROW(i, asked) {
        now = asked[i].ms * AQ_NS_PER_MS;
        assert_ptr_equal(aq_shard_board_next(&board, now, 8), shard);
        assert_int_equal(board.turns[0].stalled, asked[i].stalled);
    }
    aq_shard_board_sampled(&board, shard, now, 20 * AQ_NS_PER_MS);
    (void)aq_shard_board_next(&board, now + 79 * AQ_NS_PER_MS, 8);
    assert_false(board.turns[0].stalled);
    (void)aq_shard_board_next(&board, now + 81 * AQ_NS_PER_MS, 8);
    assert_true(board.turns[0].stalled);
    aq_shard_board_sampled(&board, shard, now, 60 * AQ_NS_PER_S);
    (void)aq_shard_board_next(&board, now + 251 * AQ_NS_PER_MS, 8);
    assert_true(board.turns[0].stalled); /* it was slow before, which is no excuse */
}

TEST(where_all_are_stalled_none_is)
{
    static const double mass[SHARDS] = {1, 1, -1, -1};
    aq_shard_turn turns[SHARDS];
    init(turns, mass);
    turns[0].stalled = turns[1].stalled = true;
    assert_int_equal(aq_shard_turns_next(turns, SHARDS, 4), 0);
    assert_int_equal(aq_shard_turns_next(turns, SHARDS, 4), 1);
}

/* With as many requests out as there may be, and answers in any order, the shares still hold. */
TEST(shares_hold_while_answers_come_in_any_order)
{
    enum { REQUESTS = 6, ANSWERS = 40000 };
    static const double mass[SHARDS] = {9, 5, 4, 2};
    aq_shard_turn turns[SHARDS];
    unsigned got[SHARDS] = {0};
    double chi_square = 0;
    init(turns, mass);
    aq_rng rng = rng_of(5, 0);
    for (unsigned answers = 0; answers < ANSWERS; answers++) {
        uint32_t out = 0;
        for (int i = 0; i < SHARDS; i++) {
            out += turns[i].asked;
        }
        while (out < REQUESTS && aq_shard_turns_next(turns, SHARDS, REQUESTS) != SHARDS) {
            out++;
        }
        uint32_t nth = (uint32_t)aq_rng_below(&rng, out);
        size_t from = 0;
        for (; nth >= turns[from].asked; from++) {
            nth -= turns[from].asked;
        }
        aq_shard_turn_ended(&turns[from], true);
        got[from]++;
    }
    for (int i = 0; i < SHARDS; i++) {
        double expected = ANSWERS * mass[i] / 20;
        chi_square += (got[i] - expected) * (got[i] - expected) / expected;
    }
    assert_true(chi_square < 0.1); /* chance alone would give 3 */
}

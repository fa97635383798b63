/*
 * The rules of game:miner, each in a mine laid out for it.
 */
#include "envs/games/miner.h"
#include "tests/support/test.h"
#include "tests/unit/envs/game_rig.h"

enum { LAST = AQ_GAME_SIDE - 1 };

static game_rig rig;

/* All earth but where the miner stands, in row 5 and column 5. */
static aq_miner_state full_mine(void)
{
    aq_miner_state s = {.row = 5, .column = 5, .period = 10, .wait = 10};
    memset(s.cells, AQ_MINER_CELL_EARTH, sizeof(s.cells));
    s.cells[5][5] = AQ_MINER_CELL_EMPTY;
    rig = game_rig_of(&aq_game_miner);
    return s;
}

static enum aq_step_end step(aq_miner_state *s, enum aq_game_action action)
{
    return game_rig_step(&rig, s, action);
}

static bool is_lit(uint32_t row, uint32_t column, uint32_t channel)
{
    return game_rig_is_lit(&rig, row, column, channel);
}

TEST(the_miner_digs_earth_away)
{
    aq_miner_state s = full_mine();
    assert_int_equal(step(&s, AQ_GAME_DOWN), AQ_STEP_GOES_ON);
    assert_true(rig.reward == 0.0f);
    assert_int_equal(s.row, 6);
    assert_int_equal(s.cells[6][5], AQ_MINER_CELL_EMPTY);
    (void)step(&s, AQ_GAME_LEFT);
    assert_int_equal(s.column, 4);
    (void)step(&s, AQ_GAME_UP);
    assert_true(is_lit(5, 4, AQ_MINER_MINER));
    assert_false(is_lit(6, 4, AQ_MINER_EARTH));
    assert_true(is_lit(7, 4, AQ_MINER_EARTH));
}

TEST(ore_gives_one)
{
    aq_miner_state s = full_mine();
    s.cells[5][6] = AQ_MINER_CELL_ORE;
    (void)step(&s, AQ_GAME_RIGHT);
    assert_true(rig.reward == 1.0f);
    assert_false(is_lit(5, 6, AQ_MINER_ORE));
    (void)step(&s, AQ_GAME_LEFT);
    assert_true(rig.reward == 0.0f);
    (void)step(&s, AQ_GAME_RIGHT);
    assert_true(rig.reward == 0.0f);
}

TEST(a_rock_stops_the_miner)
{
    aq_miner_state s = full_mine();
    s.cells[5][6] = AQ_MINER_CELL_ROCK;
    (void)step(&s, AQ_GAME_RIGHT);
    assert_int_equal(s.column, 5);
    assert_int_equal(s.cells[5][6], AQ_MINER_CELL_ROCK);
}

TEST(a_rock_lies_on_earth_ore_and_rock)
{
    aq_miner_state s = full_mine();
    s.cells[2][0] = AQ_MINER_CELL_ROCK;
    s.cells[2][1] = AQ_MINER_CELL_ROCK;
    s.cells[3][1] = AQ_MINER_CELL_ORE;
    s.cells[2][2] = AQ_MINER_CELL_ROCK;
    s.cells[3][2] = AQ_MINER_CELL_ROCK;
    (void)step(&s, AQ_GAME_STAY);
    for (uint32_t column = 0; column < 3; column++) {
        assert_true(is_lit(2, column, AQ_MINER_ROCK));
        assert_false(is_lit(2, column, AQ_MINER_FALLING));
    }
}

TEST(a_rock_falls_by_a_cell_a_step_and_comes_to_rest)
{
    aq_miner_state s = full_mine();
    s.cells[1][0] = AQ_MINER_CELL_ROCK;
    s.cells[2][0] = AQ_MINER_CELL_EMPTY;
    s.cells[3][0] = AQ_MINER_CELL_EMPTY;
    (void)step(&s, AQ_GAME_STAY);
    assert_true(is_lit(2, 0, AQ_MINER_FALLING));
    (void)step(&s, AQ_GAME_STAY);
    assert_true(is_lit(3, 0, AQ_MINER_FALLING));
    (void)step(&s, AQ_GAME_STAY);
    assert_true(is_lit(3, 0, AQ_MINER_ROCK));
    assert_false(is_lit(3, 0, AQ_MINER_FALLING));
}

TEST(rocks_on_each_other_fall_together)
{
    aq_miner_state s = full_mine();
    s.cells[1][0] = AQ_MINER_CELL_ROCK;
    s.cells[2][0] = AQ_MINER_CELL_ROCK;
    s.cells[3][0] = AQ_MINER_CELL_EMPTY;
    (void)step(&s, AQ_GAME_STAY);
    assert_true(is_lit(2, 0, AQ_MINER_FALLING));
    assert_true(is_lit(3, 0, AQ_MINER_FALLING));
    assert_int_equal(s.cells[1][0], AQ_MINER_CELL_EMPTY);
}

TEST(a_rock_lies_on_the_miners_head)
{
    aq_miner_state s = full_mine();
    s.cells[4][5] = AQ_MINER_CELL_ROCK;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(step(&s, AQ_GAME_STAY), AQ_STEP_GOES_ON);
    }
    assert_int_equal(s.cells[4][5], AQ_MINER_CELL_ROCK);
}

TEST(a_rock_that_falls_onto_the_miner_ends_the_episode)
{
    aq_miner_state s = full_mine();
    s.cells[4][5] = AQ_MINER_CELL_ROCK;
    assert_int_equal(step(&s, AQ_GAME_DOWN), AQ_STEP_GOES_ON); /* it follows */
    assert_true(is_lit(5, 5, AQ_MINER_FALLING));
    assert_int_equal(step(&s, AQ_GAME_DOWN), AQ_STEP_GOES_ON); /* and does not catch up */
    assert_true(is_lit(6, 5, AQ_MINER_FALLING));
    assert_int_equal(step(&s, AQ_GAME_STAY), AQ_STEP_TERMINATED);
}

TEST(stepping_aside_saves_the_miner)
{
    aq_miner_state s = full_mine();
    s.cells[4][5] = AQ_MINER_CELL_ROCK;
    (void)step(&s, AQ_GAME_DOWN);
    assert_int_equal(step(&s, AQ_GAME_RIGHT), AQ_STEP_GOES_ON);
    assert_int_equal(step(&s, AQ_GAME_STAY), AQ_STEP_GOES_ON);
    assert_true(is_lit(6, 5, AQ_MINER_ROCK));
}

TEST(the_clock_counts_down_to_the_sinking)
{
    aq_miner_state s = full_mine();
    s.cells[7][2] = AQ_MINER_CELL_ORE;
    s.cells[0][0] = AQ_MINER_CELL_ROCK;
    for (uint32_t left = 9; left > 0; left--) {
        (void)step(&s, AQ_GAME_STAY);
        for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
            assert_int_equal(is_lit(0, column, AQ_MINER_CLOCK), column < left);
        }
        assert_int_equal(s.row, 5);
    }
    (void)step(&s, AQ_GAME_STAY);
    assert_int_equal(s.row, 4);
    assert_int_equal(s.wait, 10);
    assert_int_equal(s.depth, 1);
    assert_true(is_lit(6, 2, AQ_MINER_ORE));
    assert_false(is_lit(0, 0, AQ_MINER_ROCK));
}

TEST(the_flood_ends_the_episode_in_the_top_row_alone)
{
    aq_miner_state s = full_mine();
    s.row = 1;
    s.wait = 1;
    assert_int_equal(step(&s, AQ_GAME_STAY), AQ_STEP_GOES_ON);
    assert_int_equal(s.row, 0);
    assert_int_equal(step(&s, AQ_GAME_STAY), AQ_STEP_GOES_ON);
    s.wait = 1;
    assert_int_equal(step(&s, AQ_GAME_STAY), AQ_STEP_TERMINATED);
}

static uint32_t period_at_depth(uint32_t depth, bool ramp)
{
    aq_miner_state s = full_mine();
    rig.params.ramp = ramp;
    for (uint32_t i = 0; i < depth; i++) {
        memset(s.cells, AQ_MINER_CELL_EARTH, sizeof(s.cells));
        s.row = 5;
        s.wait = 1;
        (void)step(&s, AQ_GAME_STAY);
    }
    assert_int_equal(s.depth, depth);
    return s.period;
}

TEST(with_the_ramp_the_flood_comes_faster_down_to_four_steps)
{
    assert_int_equal(period_at_depth(9, true), 10);
    assert_int_equal(period_at_depth(10, true), 9);
    assert_int_equal(period_at_depth(60, true), 4);
    assert_int_equal(period_at_depth(200, true), 4);
    assert_int_equal(period_at_depth(200, false), 10);
}

TEST(a_new_mine_has_the_shares_of_its_rule)
{
    enum { MINES = 2000 };
    aq_miner_state s;
    double count[AQ_MINER_CHANNELS] = {0};
    rig = game_rig_of(&aq_game_miner);
    for (int i = 0; i < MINES; i++) {
        game_rig_reset(&rig, &s, (uint64_t)i);
        assert_int_equal(s.cells[s.row][s.column], AQ_MINER_CELL_EMPTY);
        for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
            assert_int_not_equal(s.cells[0][column], AQ_MINER_CELL_ROCK);
            assert_int_not_equal(s.cells[1][column], AQ_MINER_CELL_ROCK);
            count[s.cells[LAST][column]] += 1.0 / MINES / AQ_GAME_SIDE;
            if (column > 0 && s.cells[LAST][column] == AQ_MINER_CELL_ROCK) {
                assert_int_not_equal(s.cells[LAST][column - 1], AQ_MINER_CELL_ROCK);
            }
        }
    }
    assert_float_equal(count[AQ_MINER_CELL_EMPTY], 2.0 / 32, 0.01);
    assert_float_equal(count[AQ_MINER_CELL_ORE], 4.0 / 32, 0.01);
    /* 6 of 32 in the first column, 6 of 32 where there is none beside it in the others. */
    assert_float_equal(count[AQ_MINER_CELL_ROCK], 0.16, 0.015);
}

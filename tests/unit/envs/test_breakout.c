/*
 * The rules of game:breakout, each from a state laid out for it.
 */
#include "envs/games/breakout.h"
#include "tests/support/test.h"
#include "tests/unit/envs/game_rig.h"

enum { LEFT = 0, RIGHT = 1, UP = 0, DOWN = 1, FULL = 0x3ff };

/* No bricks but one far from everything, the paddle in column 5. */
static aq_breakout_state state_with(uint8_t row, uint8_t column, uint8_t to_right, uint8_t down)
{
    return (aq_breakout_state){
        .bricks = {1},
        .row = row,
        .column = column,
        .last_row = (uint8_t)(down ? row - 1 : row + 1),
        .last_column = (uint8_t)(to_right ? column - 1 : column + 1),
        .to_right = to_right,
        .down = down,
        .paddle = 5,
    };
}

TEST(the_ball_flies_along_diagonals_and_is_reflected)
{
    static const struct {
        const char *rule;
        struct {
            uint8_t row, column, to_right, down;
        } from, to;
        enum aq_game_action action;
    } rows[] = {
        {"in the air", {5, 4, RIGHT, DOWN}, {6, 5, RIGHT, DOWN}, AQ_GAME_STAY},
        {"by the left wall", {5, 0, LEFT, DOWN}, {6, 1, RIGHT, DOWN}, AQ_GAME_STAY},
        {"by the right wall", {5, 9, RIGHT, UP}, {4, 8, LEFT, UP}, AQ_GAME_STAY},
        {"by the ceiling", {0, 4, LEFT, UP}, {1, 3, LEFT, DOWN}, AQ_GAME_STAY},
        {"in a corner", {0, 9, RIGHT, UP}, {1, 8, LEFT, DOWN}, AQ_GAME_STAY},
        {"by the paddle below it", {8, 5, RIGHT, DOWN}, {7, 6, RIGHT, UP}, AQ_GAME_STAY},
        {"by the paddle's side", {8, 4, RIGHT, DOWN}, {7, 3, LEFT, UP}, AQ_GAME_STAY},
        {"by a paddle that moves there first", {8, 3, LEFT, DOWN}, {7, 2, LEFT, UP}, AQ_GAME_LEFT},
        {"not by a paddle that left", {8, 5, RIGHT, DOWN}, {9, 6, RIGHT, DOWN}, AQ_GAME_LEFT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        aq_breakout_state s = state_with(rows[i].from.row, rows[i].from.column,
                                         rows[i].from.to_right, rows[i].from.down);
        game_rig rig = game_rig_of(&aq_game_breakout);
        if (strstr(rows[i].rule, "first") != NULL) {
            s.paddle = 4;
        }
        const bool lost = game_rig_step(&rig, &s, rows[i].action) == AQ_STEP_TERMINATED;
        if (s.row != rows[i].to.row || s.column != rows[i].to.column ||
            s.to_right != rows[i].to.to_right || s.down != rows[i].to.down ||
            lost != (rows[i].to.row == AQ_GAME_LAST) || rig.reward != 0.0f ||
            !game_rig_is_lit(&rig, rows[i].from.row, rows[i].from.column, AQ_BREAKOUT_TRAIL) ||
            !game_rig_is_lit(&rig, s.row, s.column, AQ_BREAKOUT_BALL)) {
            fail_msg("%s: %u, %u", rows[i].rule, s.row, s.column);
        }
    }
}

TEST(a_brick_that_is_hit_gives_one_and_sends_the_ball_back)
{
    game_rig rig = game_rig_of(&aq_game_breakout);
    aq_breakout_state s = state_with(4, 4, RIGHT, UP);
    s.bricks[2] = FULL;
    (void)game_rig_step(&rig, &s, AQ_GAME_STAY);
    assert_true(rig.reward == 1.0f);
    assert_int_equal(s.bricks[2], FULL & ~(1 << 5));
    assert_int_equal(s.row, 4);
    assert_int_equal(s.column, 5);
    (void)game_rig_step(&rig, &s, AQ_GAME_STAY);
    assert_true(rig.reward == 0.0f);
    assert_int_equal(s.row, 5);
    assert_int_equal(s.column, 6);
}

TEST(two_bricks_at_once_give_two_and_send_the_ball_where_it_was)
{
    game_rig rig = game_rig_of(&aq_game_breakout);
    aq_breakout_state s = state_with(3, 4, RIGHT, UP);
    s.bricks[1] = 1 << 5;
    s.bricks[2] = 1 << 5;
    (void)game_rig_step(&rig, &s, AQ_GAME_STAY);
    assert_true(rig.reward == 2.0f);
    assert_int_equal(s.row, 4);
    assert_int_equal(s.column, 3);
    assert_int_equal(s.bricks[1] | s.bricks[2], 0);
}

TEST(bricks_come_again_with_the_next_touch_of_the_paddle)
{
    game_rig rig = game_rig_of(&aq_game_breakout);
    aq_breakout_state s = state_with(7, 4, RIGHT, DOWN);
    s.bricks[0] = 0;
    (void)game_rig_step(&rig, &s, AQ_GAME_STAY);
    assert_int_equal(game_rig_count_lit(&rig, AQ_BREAKOUT_BRICK), 0);
    (void)game_rig_step(&rig, &s, AQ_GAME_STAY);
    assert_int_equal(game_rig_count_lit(&rig, AQ_BREAKOUT_BRICK), 30);
}

/* Rewards and bricks that are left are those that were laid, and the ball is in none of them. */
TEST(no_brick_is_lost_and_the_ball_is_in_none)
{
    game_rig rig = game_rig_of(&aq_game_breakout);
    aq_breakout_state s;
    double broken = 0;
    uint32_t waves = 0, steps = 0; /* at least one wave, however few steps */
    for (uint64_t seed = 1; steps < test_rounds(200000) || waves == 0; seed++) {
        game_rig_reset(&rig, &s, seed);
        enum aq_step_end end = AQ_STEP_GOES_ON;
        broken = 0;
        for (uint32_t n = 0; end == AQ_STEP_GOES_ON && n < 5000; n++, steps++) {
            int32_t action;
            rig.game->script(&rig.params, rig.obs, &action);
            action = aq_rng_below(&rig.rng, 16) == 0 ? AQ_GAME_LEFT : action;
            end = game_rig_step(&rig, &s, (enum aq_game_action)action);
            broken += (double)rig.reward;
            const uint32_t left = game_rig_count_lit(&rig, AQ_BREAKOUT_BRICK);
            assert_int_equal(((uint32_t)broken + left) % 30, 0);
            assert_false(game_rig_is_lit(&rig, s.row, s.column, AQ_BREAKOUT_BRICK));
            waves = broken > 30 ? waves + 1 : waves;
        }
    }
}

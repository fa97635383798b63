/*
 * The rules of game:freeway, each on a road laid out for it.
 */
#include "envs/games/freeway.h"
#include "tests/support/test.h"
#include "tests/unit/envs/game_rig.h"

/* Cars in column 0, to the right, a cell every five steps, so that none is near; the walker in the
 * bottom row. */
static aq_freeway_state quiet_road(void)
{
    aq_freeway_state s = {.row = AQ_GAME_LAST};
    for (uint32_t i = 0; i < AQ_FREEWAY_LANES; i++) {
        s.cars[i] = (aq_freeway_car){.to_right = 1, .period = 5, .wait = 5};
    }
    return s;
}

TEST(the_walker_moves_once_in_three_steps)
{
    game_rig rig = game_rig_of(&aq_game_freeway);
    aq_freeway_state s = quiet_road();
    static const uint8_t rows[] = {8, 8, 8, 7, 7, 7, 6};
    for (size_t i = 0; i < sizeof(rows); i++) {
        (void)game_rig_step(&rig, &s, AQ_GAME_UP);
        assert_int_equal(s.row, rows[i]);
    }
    (void)game_rig_steps(&rig, &s, AQ_GAME_DOWN, 3);
    assert_int_equal(s.row, 7);
    (void)game_rig_steps(&rig, &s, AQ_GAME_LEFT, 4);
    assert_int_equal(s.row, 7);
    assert_true(game_rig_is_lit(&rig, 7, AQ_FREEWAY_COLUMN, AQ_FREEWAY_WALKER));
}

TEST(the_top_gives_one_and_draws_the_paces_anew)
{
    game_rig rig = game_rig_of(&aq_game_freeway);
    aq_freeway_state s = quiet_road();
    uint32_t periods = 0;
    s.row = 1;
    assert_int_equal(game_rig_step(&rig, &s, AQ_GAME_UP), AQ_STEP_GOES_ON);
    assert_true(rig.reward == 1.0f);
    assert_int_equal(s.row, AQ_GAME_LAST);
    for (int n = 0; n < 20; n++) {
        for (uint32_t i = 0; i < AQ_FREEWAY_LANES; i++) {
            periods |= 1U << s.cars[i].period;
        }
        s.row = 1;
        s.cars[0].column = 0;
        s.wait = 0;
        (void)game_rig_step(&rig, &s, AQ_GAME_UP);
    }
    assert_int_equal(periods, 0x3e); /* each of 1 to 5 */
}

TEST(a_car_takes_its_period_for_a_cell_and_comes_in_again)
{
    for (uint8_t period = 1; period <= AQ_FREEWAY_PERIODS; period++) {
        game_rig rig = game_rig_of(&aq_game_freeway);
        aq_freeway_state s = quiet_road();
        s.cars[2] = (aq_freeway_car){.column = 9, .to_right = 1, .period = period, .wait = period};
        s.cars[3] = (aq_freeway_car){.column = 0, .period = period, .wait = period};
        if (period > 1) {
            (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, period - 1U);
            assert_true(game_rig_is_lit(&rig, 3, 9, AQ_FREEWAY_CAR));
            assert_true(game_rig_is_lit(&rig, 3, 8, AQ_FREEWAY_TRAIL + period - 1U));
        }
        (void)game_rig_step(&rig, &s, AQ_GAME_STAY);
        assert_true(game_rig_is_lit(&rig, 3, 0, AQ_FREEWAY_CAR));
        assert_true(game_rig_is_lit(&rig, 3, 9, AQ_FREEWAY_TRAIL + period - 1U));
        assert_true(game_rig_is_lit(&rig, 4, 9, AQ_FREEWAY_CAR));
        assert_true(game_rig_is_lit(&rig, 4, 0, AQ_FREEWAY_TRAIL + period - 1U));
    }
}

TEST(who_is_in_a_cell_with_a_car_begins_anew)
{
    static const struct {
        uint8_t column, wait;
        enum aq_game_action action;
        uint8_t to_row;
    } rows[] = {
        {AQ_FREEWAY_COLUMN, 1, AQ_GAME_UP, AQ_GAME_LAST},     /* it is about to leave */
        {AQ_FREEWAY_COLUMN - 1, 1, AQ_GAME_UP, AQ_GAME_LAST}, /* it comes there next */
        {AQ_FREEWAY_COLUMN - 1, 2, AQ_GAME_UP, 5},            /* it comes later */
        {AQ_FREEWAY_COLUMN - 1, 1, AQ_GAME_STAY, 6},          /* in another row */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        game_rig rig = game_rig_of(&aq_game_freeway);
        aq_freeway_state s = quiet_road();
        s.row = 6;
        s.cars[4] = (aq_freeway_car){
            .column = rows[i].column, .to_right = 1, .period = 5, .wait = rows[i].wait};
        assert_int_equal(game_rig_step(&rig, &s, rows[i].action), AQ_STEP_GOES_ON);
        assert_int_equal(s.row, rows[i].to_row);
        assert_true(rig.reward == 0.0f);
    }
}

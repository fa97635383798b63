/*
 * The rules of game:space_invaders, each from a state laid out for it.
 */
#include "envs/games/space_invaders.h"
#include "tests/support/test.h"
#include "tests/unit/envs/game_rig.h"

/* The cannon in column 5, two aliens at the top, and nothing that happens soon. */
static aq_invaders_state quiet_sky(void)
{
    return (aq_invaders_state){.aliens = {1U << 2 | 1U << 7},
                               .cannon = 5,
                               .to_right = 1,
                               .wave_period = 10,
                               .move_wait = 2,
                               .bomb_wait = 200};
}

TEST(the_cannon_fires_once_in_five_steps)
{
    game_rig rig = game_rig_of(&aq_game_space_invaders);
    aq_invaders_state s = quiet_sky();
    (void)game_rig_steps(&rig, &s, AQ_GAME_FIRE, 5);
    assert_int_equal(game_rig_count_lit(&rig, AQ_INVADERS_SHOT), 1);
    assert_true(game_rig_is_lit(&rig, 4, 5, AQ_INVADERS_SHOT));
    (void)game_rig_step(&rig, &s, AQ_GAME_FIRE);
    assert_true(game_rig_is_lit(&rig, 3, 5, AQ_INVADERS_SHOT));
    assert_true(game_rig_is_lit(&rig, 8, 5, AQ_INVADERS_SHOT));
}

TEST(the_cannon_fires_from_where_it_was_as_it_moves)
{
    game_rig rig = game_rig_of(&aq_game_space_invaders);
    aq_invaders_state s = quiet_sky();
    assert_int_equal(game_rig_step_and_fire(&rig, &s, AQ_GAME_LEFT), AQ_STEP_GOES_ON);
    assert_true(game_rig_is_lit(&rig, 8, 5, AQ_INVADERS_SHOT));
    assert_true(game_rig_is_lit(&rig, 9, 4, AQ_INVADERS_CANNON));
}

TEST(a_shot_and_an_alien_in_one_cell_are_gone_and_give_one)
{
    static const struct {
        uint16_t shot_row, shot, alien; /* bits of columns; the alien is in row 2 */
        uint8_t move_wait;
        float reward;
    } rows[] = {
        {3, 1U << 4, 1U << 4, 9, 1}, /* it flies there */
        {3, 1U << 5, 1U << 4, 1, 1}, /* the alien moves there */
        {3, 1U << 5, 1U << 4, 9, 0},
        {9, 1U << 4, 1U << 4, 9, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        game_rig rig = game_rig_of(&aq_game_space_invaders);
        aq_invaders_state s = quiet_sky();
        s.aliens[2] = rows[i].alien;
        s.shots[rows[i].shot_row] = rows[i].shot;
        s.move_wait = rows[i].move_wait;
        assert_true(game_rig_steps(&rig, &s, AQ_GAME_STAY, 1) == (double)rows[i].reward);
        assert_int_equal(game_rig_count_lit(&rig, AQ_INVADERS_ALIEN), rig.reward > 0 ? 2 : 3);
        assert_int_equal(game_rig_count_lit(&rig, AQ_INVADERS_SHOT), rig.reward > 0 ? 0 : 1);
    }
}

TEST(aliens_move_sideways_and_down_at_the_border)
{
    game_rig rig = game_rig_of(&aq_game_space_invaders);
    aq_invaders_state s = quiet_sky();
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 4); /* two aliens: a cell in two steps */
    assert_true(game_rig_is_lit(&rig, 0, 4, AQ_INVADERS_ALIEN));
    assert_true(game_rig_is_lit(&rig, 0, 9, AQ_INVADERS_TO_RIGHT));
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 2);
    assert_true(game_rig_is_lit(&rig, 1, 4, AQ_INVADERS_TO_LEFT));
    assert_true(game_rig_is_lit(&rig, 1, 9, AQ_INVADERS_TO_LEFT));
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 2);
    assert_true(game_rig_is_lit(&rig, 1, 3, AQ_INVADERS_ALIEN));
}

TEST(the_last_alien_moves_in_every_step)
{
    game_rig rig = game_rig_of(&aq_game_space_invaders);
    aq_invaders_state s = quiet_sky();
    s.aliens[0] = 1;
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 5);
    assert_true(game_rig_is_lit(&rig, 0, 4, AQ_INVADERS_ALIEN)); /* once it is known to be alone */
}

TEST(a_bomb_on_the_cannon_or_an_alien_at_the_bottom_ends_the_episode)
{
    static const struct {
        uint16_t bomb_row, bomb, low_alien; /* the alien in row 8 */
        enum aq_game_action action;
        enum aq_step_end end;
    } rows[] = {
        {8, 1U << 5, 0, AQ_GAME_STAY, AQ_STEP_TERMINATED},
        {8, 1U << 5, 0, AQ_GAME_LEFT, AQ_STEP_GOES_ON},
        {9, 1U << 4, 0, AQ_GAME_LEFT, AQ_STEP_TERMINATED}, /* before it is gone */
        {7, 1U << 5, 0, AQ_GAME_STAY, AQ_STEP_GOES_ON},
        {7, 0, 1U << 9, AQ_GAME_STAY, AQ_STEP_TERMINATED},
        {7, 0, 1U << 8, AQ_GAME_STAY, AQ_STEP_GOES_ON},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        game_rig rig = game_rig_of(&aq_game_space_invaders);
        aq_invaders_state s = quiet_sky();
        s.move_wait = 1;
        s.bombs[rows[i].bomb_row] = rows[i].bomb;
        s.aliens[8] = rows[i].low_alien;
        assert_int_equal(game_rig_step(&rig, &s, rows[i].action), rows[i].end);
    }
}

TEST(bombs_fall_from_the_lowest_alien_of_a_column)
{
    uint32_t columns = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        game_rig rig = game_rig_of(&aq_game_space_invaders);
        aq_invaders_state s = quiet_sky();
        aq_rng_init(&rig.rng, seed, 0);
        s.aliens[3] = 1U << 7;
        s.bomb_wait = 1;
        (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 1);
        assert_int_equal(game_rig_count_lit(&rig, AQ_INVADERS_BOMB), 1);
        columns |= game_rig_is_lit(&rig, 1, 2, AQ_INVADERS_BOMB) ? 1 : 0;
        columns |= game_rig_is_lit(&rig, 4, 7, AQ_INVADERS_BOMB) ? 2 : 0;
    }
    assert_int_equal(columns, 3);
}

TEST(a_new_wave_comes_and_with_the_ramp_is_faster)
{
    for (int ramp = 0; ramp <= 1; ramp++) {
        game_rig rig = game_rig_of(&aq_game_space_invaders);
        aq_invaders_state s = quiet_sky();
        rig.params.ramp = ramp == 1;
        for (uint32_t wave = 1; wave <= 8; wave++) {
            memset(s.aliens, 0, sizeof(s.aliens));
            (void)game_rig_step(&rig, &s, AQ_GAME_STAY);
            assert_int_equal(game_rig_count_lit(&rig, AQ_INVADERS_ALIEN), 24);
            assert_int_equal(s.wave_period, !ramp ? 10 : wave < 6 ? 10 - wave : 4);
            assert_int_equal(s.move_wait, s.wave_period);
        }
    }
}

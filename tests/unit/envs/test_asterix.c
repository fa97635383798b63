/*
 * The rules of game:asterix, each from a state laid out for it.
 */
#include "envs/games/asterix.h"
#include "tests/support/test.h"
#include "tests/unit/envs/game_rig.h"

/* Nobody but the player, in row 5 and column 5, and nothing that happens soon. */
static aq_asterix_state empty_field(void)
{
    return (aq_asterix_state){.row = 5,
                              .column = 5,
                              .move_period = 5,
                              .enter_period = 10,
                              .move_wait = 100,
                              .enter_wait = 200,
                              .ramp_wait = 1000};
}

static void put(aq_asterix_state *s, uint32_t row, uint8_t kind, uint8_t column, uint8_t to_right)
{
    s->runners[row - 1] = (aq_game_runner){kind, column, to_right};
}

TEST(meeting_gold_gives_one_and_meeting_an_enemy_ends_the_episode)
{
    static const struct {
        uint8_t kind, column, to_right, move_wait;
        enum aq_game_action action;
        float reward;
        enum aq_step_end end;
    } rows[] = {
        {AQ_ASTERIX_IS_GOLD, 6, 0, 9, AQ_GAME_RIGHT, 1, AQ_STEP_GOES_ON},
        {AQ_ASTERIX_IS_GOLD, 6, 0, 1, AQ_GAME_STAY, 1, AQ_STEP_GOES_ON},
        {AQ_ASTERIX_IS_GOLD, 6, 0, 9, AQ_GAME_STAY, 0, AQ_STEP_GOES_ON},
        {AQ_ASTERIX_IS_ENEMY, 6, 1, 9, AQ_GAME_RIGHT, 0, AQ_STEP_TERMINATED},
        {AQ_ASTERIX_IS_ENEMY, 6, 1, 1, AQ_GAME_RIGHT, 0, AQ_STEP_TERMINATED}, /* it would leave */
        {AQ_ASTERIX_IS_ENEMY, 6, 0, 1, AQ_GAME_STAY, 0, AQ_STEP_TERMINATED},
        {AQ_ASTERIX_IS_ENEMY, 6, 0, 1, AQ_GAME_UP, 0, AQ_STEP_GOES_ON},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        game_rig rig = game_rig_of(&aq_game_asterix);
        aq_asterix_state s = empty_field();
        s.move_wait = rows[i].move_wait;
        put(&s, 5, rows[i].kind, rows[i].column, rows[i].to_right);
        assert_int_equal(game_rig_step(&rig, &s, rows[i].action), rows[i].end);
        assert_true(rig.reward == rows[i].reward);
        assert_int_equal(s.runners[4].kind != 0, rig.reward == 0.0f);
    }
}

TEST(the_player_stays_in_the_inner_rows)
{
    game_rig rig = game_rig_of(&aq_game_asterix);
    aq_asterix_state s = empty_field();
    (void)game_rig_steps(&rig, &s, AQ_GAME_UP, 12);
    assert_true(game_rig_is_lit(&rig, 1, 5, AQ_ASTERIX_PLAYER));
    (void)game_rig_steps(&rig, &s, AQ_GAME_DOWN, 12);
    (void)game_rig_steps(&rig, &s, AQ_GAME_LEFT, 12);
    assert_true(game_rig_is_lit(&rig, 8, 0, AQ_ASTERIX_PLAYER));
}

TEST(runners_move_with_a_trail_and_leave)
{
    game_rig rig = game_rig_of(&aq_game_asterix);
    aq_asterix_state s = empty_field();
    put(&s, 1, AQ_ASTERIX_IS_ENEMY, 8, 1);
    put(&s, 2, AQ_ASTERIX_IS_GOLD, 3, 0);
    s.move_wait = 2;
    s.move_period = 2;
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 1);
    assert_true(game_rig_is_lit(&rig, 1, 8, AQ_ASTERIX_ENEMY));
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 1);
    assert_true(game_rig_is_lit(&rig, 1, 9, AQ_ASTERIX_ENEMY));
    assert_true(game_rig_is_lit(&rig, 1, 8, AQ_ASTERIX_TRAIL));
    assert_true(game_rig_is_lit(&rig, 2, 2, AQ_ASTERIX_GOLD));
    assert_true(game_rig_is_lit(&rig, 2, 3, AQ_ASTERIX_TRAIL));
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 2);
    assert_int_equal(game_rig_count_lit(&rig, AQ_ASTERIX_ENEMY), 0);
}

TEST(one_at_most_comes_into_a_row_and_never_onto_the_player)
{
    uint32_t gold = 0, all = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        game_rig rig = game_rig_of(&aq_game_asterix);
        aq_asterix_state s = empty_field();
        aq_rng_init(&rig.rng, seed, 0);
        s.column = seed % 2 == 0 ? 0 : AQ_GAME_LAST;
        s.enter_wait = 1;
        s.enter_period = 1;
        (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 20);
        for (uint32_t i = 0; i < AQ_GAME_RUNNERS; i++) {
            assert_int_not_equal(s.runners[i].kind, 0);
            gold += s.runners[i].kind == AQ_ASTERIX_IS_GOLD;
            all++;
        }
        assert_int_equal(game_rig_count_lit(&rig, AQ_ASTERIX_ENEMY) +
                             game_rig_count_lit(&rig, AQ_ASTERIX_GOLD),
                         AQ_GAME_RUNNERS);
    }
    assert_in_range(gold * 100 / all, 28, 38); /* a third */
}

TEST(the_ramp_makes_things_faster_down_to_a_step)
{
    for (int ramp = 0; ramp <= 1; ramp++) {
        game_rig rig = game_rig_of(&aq_game_asterix);
        aq_asterix_state s;
        rig.params.ramp = ramp == 1;
        game_rig_reset(&rig, &s, 1);
        for (uint32_t n = 0; n < 2500; n++) {
            memset(s.runners, 0, sizeof(s.runners));
            (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 1);
            assert_int_equal(s.move_period, n < 119 || !ramp ? 5 : n < 239 ? 4 : s.move_period);
        }
        assert_int_equal(s.move_period, ramp ? 1 : 5);
        assert_int_equal(s.enter_period, ramp ? 2 : 10);
    }
}

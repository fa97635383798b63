/*
 * The rules of game:seaquest, each from a state laid out for it.
 */
#include "envs/games/seaquest.h"
#include "tests/support/test.h"
#include "tests/unit/envs/game_rig.h"

/* The boat alone in row 5, its front in column 5, to the right, and nothing that happens soon. */
static aq_seaquest_state quiet_sea(void)
{
    return (aq_seaquest_state){.row = 5,
                               .column = 5,
                               .to_right = 1,
                               .oxygen = AQ_SEAQUEST_OXYGEN_MAX,
                               .torpedo_wait = 200,
                               .move_period = 5,
                               .enter_period = 12,
                               .move_wait = 200,
                               .enter_wait = 250};
}

static void put(aq_seaquest_state *s, uint32_t row, uint8_t kind, uint8_t column, uint8_t to_right)
{
    s->runners[row - 1] = (aq_game_runner){kind, column, to_right};
}

TEST(the_boat_looks_where_it_went_sideways_last)
{
    game_rig rig = game_rig_of(&aq_game_seaquest);
    aq_seaquest_state s = quiet_sea();
    (void)game_rig_steps(&rig, &s, AQ_GAME_UP, 1);
    assert_true(game_rig_is_lit(&rig, 4, 5, AQ_SEAQUEST_FRONT));
    assert_true(game_rig_is_lit(&rig, 4, 4, AQ_SEAQUEST_BACK));
    (void)game_rig_steps(&rig, &s, AQ_GAME_LEFT, 1);
    assert_true(game_rig_is_lit(&rig, 4, 4, AQ_SEAQUEST_FRONT));
    assert_true(game_rig_is_lit(&rig, 4, 5, AQ_SEAQUEST_BACK));
    (void)game_rig_steps(&rig, &s, AQ_GAME_DOWN, 9);
    assert_true(game_rig_is_lit(&rig, 8, 4, AQ_SEAQUEST_FRONT));
}

TEST(shots_fly_ahead_and_hit_fish_and_boats)
{
    static const struct {
        uint8_t kind, column, to_right, looks_right;
        uint32_t steps; /* after which it is hit; 0: never */
    } rows[] = {
        {AQ_SEAQUEST_IS_FISH, 6, 1, 1, 1},  {AQ_SEAQUEST_IS_ENEMY, 9, 1, 1, 4},
        {AQ_SEAQUEST_IS_FISH, 2, 1, 0, 3},  {AQ_SEAQUEST_IS_FISH, 2, 1, 1, 0},
        {AQ_SEAQUEST_IS_DIVER, 8, 1, 1, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        game_rig rig = game_rig_of(&aq_game_seaquest);
        aq_seaquest_state s = quiet_sea();
        s.to_right = rows[i].looks_right;
        put(&s, 5, rows[i].kind, rows[i].column, rows[i].to_right);
        for (uint32_t n = 1; n <= 4; n++) {
            assert_int_equal(game_rig_step(&rig, &s, AQ_GAME_FIRE), AQ_STEP_GOES_ON);
            assert_true((rig.reward == 1.0f) == (n == rows[i].steps));
        }
        assert_int_equal(s.runners[4].kind != 0, rows[i].steps == 0);
    }
}

TEST(what_the_boat_meets)
{
    static const struct {
        uint8_t kind, column; /* in the boat's row */
        uint16_t torpedo;     /* a bit there, to the left */
        uint8_t aboard, aboard_after;
        enum aq_step_end end;
    } rows[] = {
        {AQ_SEAQUEST_IS_DIVER, 5, 0, 2, 3, AQ_STEP_GOES_ON},
        {AQ_SEAQUEST_IS_DIVER, 4, 0, 0, 1, AQ_STEP_GOES_ON},
        {AQ_SEAQUEST_IS_DIVER, 5, 0, 6, 6, AQ_STEP_GOES_ON},
        {AQ_SEAQUEST_IS_DIVER, 6, 0, 2, 2, AQ_STEP_GOES_ON},
        {AQ_SEAQUEST_IS_FISH, 4, 0, 2, 2, AQ_STEP_TERMINATED}, /* at its back */
        {AQ_SEAQUEST_IS_ENEMY, 5, 0, 2, 2, AQ_STEP_TERMINATED},
        {0, 0, 1U << 6, 2, 2, AQ_STEP_TERMINATED}, /* it comes there */
        {0, 0, 1U << 7, 2, 2, AQ_STEP_GOES_ON},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        game_rig rig = game_rig_of(&aq_game_seaquest);
        aq_seaquest_state s = quiet_sea();
        s.divers = rows[i].aboard;
        s.torpedoes.to_left[5] = rows[i].torpedo;
        put(&s, 5, rows[i].kind, rows[i].column, 1);
        assert_int_equal(game_rig_step(&rig, &s, AQ_GAME_STAY), rows[i].end);
        assert_int_equal(s.divers, rows[i].aboard_after);
        assert_int_equal(game_rig_count_lit(&rig, AQ_SEAQUEST_ABOARD), rows[i].aboard_after);
    }
}

TEST(coming_up_costs_a_diver_and_pays_for_six)
{
    static const struct {
        uint8_t aboard, oxygen, aboard_after;
        float reward;
        enum aq_step_end end;
    } rows[] = {
        {0, 100, 0, 0, AQ_STEP_TERMINATED}, {1, 100, 0, 0, AQ_STEP_GOES_ON},
        {5, 100, 4, 0, AQ_STEP_GOES_ON},    {6, 100, 0, 5, AQ_STEP_GOES_ON},
        {6, 101, 0, 6, AQ_STEP_GOES_ON},    {6, 200, 0, 10, AQ_STEP_GOES_ON},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        game_rig rig = game_rig_of(&aq_game_seaquest);
        aq_seaquest_state s = quiet_sea();
        s.row = 1;
        s.divers = rows[i].aboard;
        s.oxygen = rows[i].oxygen;
        assert_int_equal(game_rig_step(&rig, &s, AQ_GAME_UP), rows[i].end);
        assert_true(rig.reward == rows[i].reward);
        assert_int_equal(s.divers, rows[i].aboard_after);
        if (rows[i].end == AQ_STEP_GOES_ON) {
            assert_int_equal(s.oxygen, AQ_SEAQUEST_OXYGEN_MAX);
            assert_int_equal(s.move_period, 4);
            assert_int_equal(s.enter_period, 11);
        }
    }
}

TEST(oxygen_lasts_for_two_hundred_steps_below_the_surface)
{
    game_rig rig = game_rig_of(&aq_game_seaquest);
    aq_seaquest_state s = quiet_sea();
    s.row = 0;
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 50);
    assert_int_equal(game_rig_count_lit(&rig, AQ_SEAQUEST_OXYGEN), 10);
    s = quiet_sea();
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 181);
    assert_int_equal(game_rig_count_lit(&rig, AQ_SEAQUEST_OXYGEN), 1);
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 18);
    assert_int_equal(game_rig_step(&rig, &s, AQ_GAME_STAY), AQ_STEP_TERMINATED);
}

TEST(enemy_boats_fire_ahead)
{
    game_rig rig = game_rig_of(&aq_game_seaquest);
    aq_seaquest_state s = quiet_sea();
    put(&s, 1, AQ_SEAQUEST_IS_ENEMY, 3, 1);
    put(&s, 2, AQ_SEAQUEST_IS_ENEMY, 3, 0);
    put(&s, 3, AQ_SEAQUEST_IS_FISH, 3, 0);
    s.torpedo_wait = 1;
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 1);
    assert_true(game_rig_is_lit(&rig, 1, 4, AQ_SEAQUEST_TORPEDO));
    assert_true(game_rig_is_lit(&rig, 2, 2, AQ_SEAQUEST_TORPEDO));
    assert_int_equal(game_rig_count_lit(&rig, AQ_SEAQUEST_TORPEDO), 2);
    (void)game_rig_steps(&rig, &s, AQ_GAME_STAY, 1);
    assert_true(game_rig_is_lit(&rig, 1, 5, AQ_SEAQUEST_TORPEDO));
}

TEST(without_the_ramp_nothing_gets_faster)
{
    game_rig rig = game_rig_of(&aq_game_seaquest);
    for (int ramp = 0; ramp <= 1; ramp++) {
        aq_seaquest_state s = quiet_sea();
        rig.params.ramp = ramp == 1;
        for (int n = 0; n < 20; n++) {
            s.row = 1;
            s.divers = 6;
            (void)game_rig_step(&rig, &s, AQ_GAME_UP);
        }
        assert_int_equal(s.move_period, ramp ? 2 : 5);
        assert_int_equal(s.enter_period, ramp ? 4 : 12);
    }
}

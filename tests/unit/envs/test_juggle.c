/*
 * The rules of game:juggle.
 */
#include "envs/games/juggle.h"
#include "tests/support/test.h"

enum { LAST = AQ_GAME_SIDE - 1 };

static const aq_game_params ramp = {.ramp = true}, level = {.ramp = false};

static uint8_t obs[AQ_GAME_SIDE * AQ_GAME_SIDE * AQ_JUGGLE_CHANNELS];
static aq_rng rng;
static float reward;

/* One ball, just thrown from column 2 to column 8; the tray at columns 4 and 5. */
static aq_juggle_state one_ball(void)
{
    aq_rng_init(&rng, 2, 0);
    return (aq_juggle_state){
        .balls = {{.from = 2, .to = 8}}, .ball_count = 1, .tray = 4, .last_to = 8};
}

static enum aq_step_end step(aq_juggle_state *s, const aq_game_params *params, int32_t action)
{
    return aq_game_juggle.step(params, s, &rng, &action, obs, &reward);
}

static bool is_lit(uint32_t row, uint32_t column, uint32_t channel)
{
    return obs[(row * AQ_GAME_SIDE + column) * AQ_JUGGLE_CHANNELS + channel] != 0;
}

TEST(the_tray_moves_by_a_cell_and_not_past_the_border)
{
    aq_juggle_state s = one_ball();
    (void)step(&s, &ramp, AQ_JUGGLE_RIGHT);
    assert_int_equal(s.tray, 5);
    assert_true(is_lit(LAST, 5, AQ_JUGGLE_TRAY));
    assert_true(is_lit(LAST, 6, AQ_JUGGLE_TRAY));
    assert_false(is_lit(LAST, 4, AQ_JUGGLE_TRAY));
    (void)step(&s, &ramp, AQ_JUGGLE_STAY);
    assert_int_equal(s.tray, 5);
    for (int i = 0; i < 7; i++) {
        (void)step(&s, &ramp, AQ_JUGGLE_LEFT);
    }
    assert_int_equal(s.tray, 0);
    s = one_ball();
    for (int i = 0; i < 7; i++) {
        (void)step(&s, &ramp, AQ_JUGGLE_RIGHT);
    }
    assert_int_equal(s.tray, AQ_GAME_SIDE - 2);
}

TEST(a_ball_flies_up_to_the_top_and_down_to_its_shadow)
{
    static const uint8_t rows[] = {7, 5, 4, 2, 1, 1, 0, 0, 0, 1, 1, 2, 4, 5, 7};
    aq_juggle_state s = one_ball();
    for (uint32_t i = 0; i < sizeof(rows); i++) {
        assert_int_equal(step(&s, &ramp, AQ_JUGGLE_STAY), AQ_STEP_GOES_ON);
        const uint32_t channel = i < 7 ? AQ_JUGGLE_RISING : AQ_JUGGLE_FALLING;
        const uint32_t column = (2 * (15 - i) + 8 * (i + 1) + 8) / 16;
        assert_true(is_lit(rows[i], column, channel));
        assert_true(is_lit(LAST, 8, AQ_JUGGLE_SHADOW));
        assert_true(reward == 0.0f);
    }
}

TEST(a_ball_on_either_half_of_the_tray_gives_one_and_is_thrown_again)
{
    for (uint8_t tray = 7; tray <= 8; tray++) {
        aq_juggle_state s = one_ball();
        s.tray = tray;
        s.balls[0].time = AQ_JUGGLE_FLIGHT - 1;
        s.since = AQ_GAME_SIDE;
        assert_int_equal(step(&s, &ramp, AQ_JUGGLE_STAY), AQ_STEP_GOES_ON);
        assert_true(reward == 1.0f);
        assert_int_equal(s.catches, 1);
        assert_int_equal(s.balls[0].from, 8);
        assert_int_equal(s.balls[0].time, 0);
        assert_true(is_lit(LAST, s.balls[0].to, AQ_JUGGLE_SHADOW));
    }
}

TEST(a_ball_beside_the_tray_ends_the_episode)
{
    for (uint8_t tray = 0; tray <= 6; tray++) {
        aq_juggle_state s = one_ball();
        s.tray = tray;
        s.balls[0].time = AQ_JUGGLE_FLIGHT - 1;
        assert_int_equal(step(&s, &ramp, AQ_JUGGLE_STAY), AQ_STEP_TERMINATED);
        assert_true(reward == 0.0f);
    }
}

TEST(the_tray_moves_before_the_balls)
{
    aq_juggle_state s = one_ball();
    s.tray = 6;
    s.balls[0].time = AQ_JUGGLE_FLIGHT - 1;
    assert_int_equal(step(&s, &ramp, AQ_JUGGLE_RIGHT), AQ_STEP_GOES_ON);
    assert_true(reward == 1.0f);
}

/* Goes to the shadow of the ball that lands next. */
static int32_t follow(const aq_juggle_state *s)
{
    const aq_juggle_ball *next = &s->balls[0];
    for (uint32_t i = 1; i < s->ball_count; i++) {
        next = s->balls[i].time > next->time ? &s->balls[i] : next;
    }
    const uint8_t place = next->to < AQ_GAME_SIDE - 2 ? next->to : AQ_GAME_SIDE - 2;
    return s->tray < place ? AQ_JUGGLE_RIGHT : s->tray > place ? AQ_JUGGLE_LEFT : AQ_JUGGLE_STAY;
}

TEST(every_throw_can_be_caught)
{
    aq_juggle_state s;
    aq_rng_init(&rng, 1, 2);
    for (int episode = 0; episode < 100; episode++) {
        const aq_game_params *params = episode % 2 == 0 ? &ramp : &level;
        assert_true(aq_game_juggle.reset(params, &s, &rng, obs));
        for (uint32_t i = 0; i < aq_game_juggle.step_limit; i++) {
            assert_int_equal(step(&s, params, follow(&s)), AQ_STEP_GOES_ON);
        }
        assert_int_equal(s.ball_count, params->ramp ? AQ_JUGGLE_BALLS_MAX : 2);
    }
}

TEST(no_two_balls_land_at_the_same_time)
{
    aq_juggle_state s;
    aq_rng_init(&rng, 1, 3);
    assert_true(aq_game_juggle.reset(&ramp, &s, &rng, obs));
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(step(&s, &ramp, follow(&s)), AQ_STEP_GOES_ON);
        for (uint32_t a = 0; a < s.ball_count; a++) {
            for (uint32_t b = 0; b < a; b++) {
                assert_int_not_equal(s.balls[a].time, s.balls[b].time);
            }
        }
    }
}

TEST(with_the_ramp_balls_come_in_after_so_many_catches)
{
    static const uint32_t catches_at[] = {0, 0, 5, 12, 25};
    aq_juggle_state s;
    uint32_t balls = 1;
    aq_rng_init(&rng, 1, 4);
    assert_true(aq_game_juggle.reset(&ramp, &s, &rng, obs));
    assert_int_equal(s.ball_count, 1);
    for (int i = 0; i < 1000; i++) {
        (void)step(&s, &ramp, follow(&s));
        if (s.ball_count > balls) {
            balls++;
            assert_int_equal(s.ball_count, balls);
            assert_in_range(s.catches, catches_at[balls], catches_at[balls] + 1);
            assert_true(s.balls[balls - 1].from == 0 || s.balls[balls - 1].from == LAST);
        }
    }
    assert_int_equal(balls, AQ_JUGGLE_BALLS_MAX);
}

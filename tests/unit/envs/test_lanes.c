/*
 * The rules of game:lanes, each on a road laid out for it.
 */
#include "envs/games/lanes.h"
#include "tests/support/test.h"

enum { NEAR_KERB = AQ_GAME_SIDE - 1 };

static const aq_game_params ramp = {.ramp = true}, level = {.ramp = false};

static uint8_t obs[AQ_GAME_SIDE * AQ_GAME_SIDE * AQ_LANES_CHANNELS];
static aq_rng rng;
static float reward;

/* No cars, all lanes to the right at three steps a cell, all letters in column 0, the walker on the
 * near kerb. */
static aq_lanes_state empty_road(void)
{
    aq_lanes_state s = {.row = NEAR_KERB, .column = 5};
    for (uint32_t i = 0; i < AQ_LANES_COUNT; i++) {
        s.lanes[i] = (aq_lane){.to_right = 1, .period = 3, .wait = 3};
    }
    aq_rng_init(&rng, 8, 0);
    return s;
}

static enum aq_step_end step(aq_lanes_state *s, const aq_game_params *params, int32_t action)
{
    return aq_game_lanes.step(params, s, &rng, &action, obs, &reward);
}

static bool is_lit(uint32_t row, uint32_t column, uint32_t channel)
{
    return obs[(row * AQ_GAME_SIDE + column) * AQ_LANES_CHANNELS + channel] != 0;
}

TEST(the_walker_moves_by_a_cell_and_not_past_the_border)
{
    aq_lanes_state s = empty_road();
    (void)step(&s, &ramp, AQ_MOVE_UP);
    assert_int_equal(s.row, NEAR_KERB - 1);
    (void)step(&s, &ramp, AQ_MOVE_LEFT);
    assert_int_equal(s.column, 4);
    (void)step(&s, &ramp, AQ_MOVE_RIGHT);
    assert_int_equal(s.column, 5);
    (void)step(&s, &ramp, AQ_MOVE_STAY);
    assert_int_equal(s.row, NEAR_KERB - 1);
    (void)step(&s, &ramp, AQ_MOVE_DOWN);
    (void)step(&s, &ramp, AQ_MOVE_DOWN);
    assert_int_equal(s.row, NEAR_KERB);
    for (int i = 0; i < 20; i++) {
        (void)step(&s, &ramp, AQ_MOVE_RIGHT);
    }
    assert_int_equal(s.column, AQ_GAME_SIDE - 1);
    assert_true(is_lit(NEAR_KERB, AQ_GAME_SIDE - 1, AQ_LANES_WALKER));
}

TEST(a_letter_gives_one_and_another_is_blown_into_the_lane)
{
    uint32_t columns = 0;
    for (int i = 0; i < 200; i++) {
        aq_lanes_state s = empty_road();
        aq_rng_init(&rng, 8, (uint64_t)i);
        s.row = 1;
        s.column = 1;
        assert_int_equal(step(&s, &ramp, AQ_MOVE_LEFT), AQ_STEP_GOES_ON);
        assert_true(reward == 1.0f);
        assert_in_range(s.lanes[0].letter, 1, AQ_GAME_SIDE - 1);
        assert_int_equal(s.lanes[1].letter, 0);
        assert_true(is_lit(1, s.lanes[0].letter, AQ_LANES_LETTER));
        assert_false(is_lit(1, 0, AQ_LANES_LETTER));
        columns |= 1U << s.lanes[0].letter;
        (void)step(&s, &ramp, AQ_MOVE_STAY);
        assert_true(reward == 0.0f);
    }
    assert_int_equal(columns, 0x3fe); /* any of the others */
}

TEST(cars_move_once_a_period_and_come_in_at_the_other_end)
{
    aq_lanes_state s = empty_road();
    s.lanes[0].cars = 1U << 9;
    s.lanes[1] = (aq_lane){.cars = 1U << 0, .to_right = 0, .period = 2, .wait = 1};
    (void)step(&s, &ramp, AQ_MOVE_STAY);
    assert_true(is_lit(1, 9, AQ_LANES_TO_RIGHT));
    assert_true(is_lit(2, 9, AQ_LANES_TO_LEFT));
    assert_false(is_lit(2, 0, AQ_LANES_TO_LEFT));
    (void)step(&s, &ramp, AQ_MOVE_STAY);
    assert_true(is_lit(1, 9, AQ_LANES_TO_RIGHT));
    (void)step(&s, &ramp, AQ_MOVE_STAY);
    assert_true(is_lit(1, 0, AQ_LANES_TO_RIGHT));
    assert_true(is_lit(2, 8, AQ_LANES_TO_LEFT));
}

TEST(headlights_show_where_a_car_comes_next)
{
    aq_lanes_state s = empty_road();
    s.lanes[4].cars = 3U << 2; /* a long car, columns 2 and 3, in row 5 */
    (void)step(&s, &ramp, AQ_MOVE_STAY);
    assert_false(is_lit(5, 4, AQ_LANES_LIGHT));
    (void)step(&s, &ramp, AQ_MOVE_STAY);
    assert_true(is_lit(5, 4, AQ_LANES_LIGHT));
    assert_false(is_lit(5, 3, AQ_LANES_LIGHT));
    (void)step(&s, &ramp, AQ_MOVE_STAY);
    assert_true(is_lit(5, 4, AQ_LANES_TO_RIGHT));
    assert_false(is_lit(5, 2, AQ_LANES_TO_RIGHT));
    assert_false(is_lit(5, 5, AQ_LANES_LIGHT));
}

TEST(walking_onto_a_car_ends_the_episode)
{
    aq_lanes_state s = empty_road();
    s.lanes[7].cars = 1U << 5;
    s.lanes[7].wait = 1; /* it is about to leave that cell */
    assert_int_equal(step(&s, &ramp, AQ_MOVE_UP), AQ_STEP_TERMINATED);
    assert_true(reward == 0.0f);
}

TEST(a_car_that_comes_ends_the_episode)
{
    aq_lanes_state s = empty_road();
    s.lanes[7].cars = 1U << 4;
    s.lanes[7].wait = 2;
    assert_int_equal(step(&s, &ramp, AQ_MOVE_UP), AQ_STEP_GOES_ON);
    assert_int_equal(step(&s, &ramp, AQ_MOVE_STAY), AQ_STEP_TERMINATED);
}

TEST(walker_and_car_do_not_pass_through_each_other)
{
    aq_lanes_state s = empty_road();
    s.lanes[7].cars = 1U << 4;
    s.lanes[7].wait = 1;
    s.row = NEAR_KERB - 1;
    assert_int_equal(step(&s, &ramp, AQ_MOVE_LEFT), AQ_STEP_TERMINATED);
}

TEST(no_letter_is_picked_up_under_a_car)
{
    aq_lanes_state s = empty_road();
    s.row = 1;
    s.column = 1;
    s.lanes[0].cars = 1U << 9;
    s.lanes[0].wait = 1;
    assert_int_equal(step(&s, &ramp, AQ_MOVE_LEFT), AQ_STEP_TERMINATED);
    assert_true(reward == 0.0f);
}

TEST(kerbs_are_safe)
{
    aq_lanes_state s = empty_road();
    for (uint32_t i = 0; i < AQ_LANES_COUNT; i++) {
        s.lanes[i].cars = 0x3ff;
    }
    for (int i = 0; i < 50; i++) {
        assert_int_equal(step(&s, &ramp, AQ_MOVE_RIGHT), AQ_STEP_GOES_ON);
    }
    s.row = 0;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(step(&s, &ramp, AQ_MOVE_LEFT), AQ_STEP_GOES_ON);
    }
}

/* Picks up letters by being put beside them; the sum of all lanes' periods after it. */
static uint32_t periods_after(uint32_t letters, const aq_game_params *params)
{
    aq_lanes_state s = empty_road();
    uint32_t sum = 0;
    for (uint32_t i = 0; i < letters; i++) {
        s.row = 1;
        s.column = s.lanes[0].letter;
        (void)step(&s, params, AQ_MOVE_STAY);
        assert_true(reward == 1.0f);
    }
    for (uint32_t i = 0; i < AQ_LANES_COUNT; i++) {
        assert_in_range(s.lanes[i].wait, 1, s.lanes[i].period);
        sum += s.lanes[i].period;
    }
    return sum;
}

TEST(with_the_ramp_letters_make_lanes_faster_up_to_a_cell_a_step)
{
    assert_int_equal(periods_after(0, &ramp), 3 * AQ_LANES_COUNT);
    assert_int_equal(periods_after(1, &ramp), 3 * AQ_LANES_COUNT - 1);
    assert_int_equal(periods_after(500, &ramp), AQ_LANES_COUNT);
    assert_int_equal(periods_after(500, &level), 3 * AQ_LANES_COUNT);
}

TEST(an_episode_starts_on_the_kerb_of_a_road_that_can_be_crossed)
{
    aq_lanes_state s;
    aq_rng_init(&rng, 1, 1);
    for (int i = 0; i < 2000; i++) {
        assert_true(aq_game_lanes.reset(&ramp, &s, &rng, obs));
        assert_int_equal(s.row, NEAR_KERB);
        for (uint32_t lane = 0; lane < AQ_LANES_COUNT; lane++) {
            const uint32_t cars = s.lanes[lane].cars;
            const uint32_t ring = cars | cars << AQ_GAME_SIDE;
            bool gap = false;
            for (uint32_t column = 0; column < AQ_GAME_SIDE; column++) {
                gap = gap || (ring >> column & 0xf) == 0;
            }
            assert_true(gap);
            assert_true(cars != 0 && cars < 1U << AQ_GAME_SIDE);
            assert_in_range(s.lanes[lane].period, 3, 6);
            assert_in_range(s.lanes[lane].letter, 0, AQ_GAME_SIDE - 1);
            assert_in_range(s.lanes[lane].wait, 1, s.lanes[lane].period);
        }
    }
}

/* Whoever steps on no cell with a car or a headlight lives; whoever steps on one does not. */
TEST(what_is_seen_tells_what_is_deadly)
{
    aq_lanes_state s;
    uint32_t deaths = 0;
    aq_rng_init(&rng, 1, 1);
    assert_true(aq_game_lanes.reset(&ramp, &s, &rng, obs));
    for (int i = 0; i < 20000; i++) {
        uint8_t row = s.row, column = s.column;
        const int32_t action = (int32_t)aq_rng_below(&rng, AQ_MOVE_COUNT);
        aq_game_move(action, &row, &column);
        const bool deadly = is_lit(row, column, AQ_LANES_TO_RIGHT) ||
                            is_lit(row, column, AQ_LANES_TO_LEFT) ||
                            is_lit(row, column, AQ_LANES_LIGHT);
        const bool over = step(&s, &ramp, action) == AQ_STEP_TERMINATED;
        assert_int_equal(over, deadly);
        if (over) {
            deaths++;
            assert_true(aq_game_lanes.reset(&ramp, &s, &rng, obs));
        }
    }
    assert_true(deaths > 300);
}

/*
 * What all arcade games have in common: what is seen of them, that another seed is another
 * game, and what random play is worth.
 */
#include "envs/games/asterix.h"
#include "envs/games/breakout.h"
#include "envs/games/freeway.h"
#include "envs/games/miner.h"
#include "envs/games/seaquest.h"
#include "envs/games/space_invaders.h"
#include "tests/support/test.h"

enum {
    OBS_BYTES_MAX = AQ_GAME_SIDE * AQ_GAME_SIDE * AQ_GAME_CHANNELS_MAX,
    STATE_BYTES_MAX = 256,
    STEPS_MAX = 500
};

static const aq_env_class *const games[] = {&aq_game_asterix,  &aq_game_breakout,
                                            &aq_game_freeway,  &aq_game_miner,
                                            &aq_game_seaquest, &aq_game_space_invaders};

enum { GAMES = sizeof(games) / sizeof(games[0]) };

/* A game with its state, what is seen, and what drives it. */
typedef struct play {
    const aq_env_class *game;
    aq_schema schema;
    aq_rng env_rng, action_rng;
    uint64_t state[STATE_BYTES_MAX / 8];
    uint8_t obs[OBS_BYTES_MAX];
    uint32_t steps; /* of the episode */
    double score;   /* likewise */
} play;

static void begin(play *p, const aq_env_class *game, uint64_t seed)
{
    memset(p, 0, sizeof(*p));
    assert_true(game->state_bytes <= sizeof(p->state));
    p->game = game;
    game->schema(game->defaults, &p->schema);
    aq_rng_init(&p->env_rng, seed, 0);
    aq_rng_init(&p->action_rng, seed, 1);
    assert_true(game->reset(game->defaults, p->state, &p->env_rng, p->obs));
}

static enum aq_step_end take(play *p, int32_t action)
{
    float reward = NAN;
    enum aq_step_end end =
        p->game->step(p->game->defaults, p->state, &p->env_rng, &action, p->obs, &reward);
    p->steps++;
    p->score += reward;
    assert_true(reward >= 0.0f && reward <= AQ_GAME_SIDE && reward == truncf(reward));
    return end;
}

static enum aq_step_end step(play *p)
{
    return take(p, (int32_t)aq_rng_below(&p->action_rng, p->schema.action.choice_count));
}

static enum aq_step_end step_by_script(play *p)
{
    int32_t action = -1;
    p->game->script(p->game->defaults, p->obs, &action);
    return take(p, action);
}

static void again(play *p)
{
    p->steps = 0;
    p->score = 0;
    assert_true(p->game->reset(p->game->defaults, p->state, &p->env_rng, p->obs));
}

TEST(the_schema_is_an_image_and_a_few_choices)
{
    for (size_t i = 0; i < GAMES; i++) {
        aq_schema schema;
        games[i]->schema(games[i]->defaults, &schema);
        assert_int_equal(aq_schema_validate(&schema, NULL), 0);
        assert_int_equal(schema.obs.dtype, AQ_DTYPE_U8);
        assert_int_equal(schema.obs.rank, 3);
        assert_int_equal(schema.obs.shape[0], AQ_GAME_SIDE);
        assert_int_equal(schema.obs.shape[1], AQ_GAME_SIDE);
        assert_in_range(schema.obs.shape[2], 4, AQ_GAME_CHANNELS_MAX);
        assert_in_range(schema.action.choice_count, 3, 6);
        assert_true(games[i]->step_limit > 0);
    }
}

TEST(channels_are_dark_or_lit)
{
    for (size_t i = 0; i < GAMES; i++) {
        play p;
        begin(&p, games[i], 1);
        const size_t bytes = aq_space_bytes(&p.schema.obs);
        for (int n = 0; n < 5000; n++) {
            if (step(&p) != AQ_STEP_GOES_ON) {
                again(&p);
            }
            for (size_t k = 0; k < bytes; k++) {
                assert_true(p.obs[k] == 0 || p.obs[k] == AQ_GAME_LIT);
            }
        }
        for (size_t k = bytes; k < sizeof(p.obs); k++) {
            assert_int_equal(p.obs[k], 0); /* nothing past the row */
        }
    }
}

TEST(every_channel_is_lit_at_times)
{
    for (size_t i = 0; i < GAMES; i++) {
        play p;
        uint32_t lit = 0;
        begin(&p, games[i], 1);
        const uint32_t channels = p.schema.obs.shape[2];
        for (int n = 0; n < 5000; n++) {
            if (step(&p) != AQ_STEP_GOES_ON || p.steps == STEPS_MAX) {
                again(&p);
            }
            for (size_t k = 0; k < aq_space_bytes(&p.schema.obs); k++) {
                lit |= p.obs[k] != 0 ? 1U << k % channels : 0;
            }
        }
        assert_int_equal(lit, (1U << channels) - 1);
    }
}

TEST(another_seed_plays_another_game)
{
    for (size_t i = 0; i < GAMES; i++) {
        play a, b;
        begin(&a, games[i], 1);
        begin(&b, games[i], 2);
        for (int n = 0; n < 3; n++) { /* some games begin alike */
            (void)take(&a, 0);
            (void)take(&b, 0);
        }
        assert_memory_not_equal(a.state, b.state, sizeof(a.state));
    }
}

/* Means over many episodes; the bounds are far outside of what chance does to means of as many, so
 * a change of the rules is seen, and a change of the generator is not. */
TEST(random_play_is_short_and_poor_and_scripts_are_not)
{
    static const struct {
        enum aq_step_end (*step)(play *p);
        int episodes;
        struct {
            double score_low, score_high, steps_low, steps_high;
        } of[GAMES];
    } rows[] = {
        {step,
         1000,
         {{0.35, 0.6, 52, 67},
          {0.11, 0.23, 5, 6},
          {0.01, 0.1, 499, 501},
          {1.3, 1.8, 33, 38},
          {0.03, 0.15, 19, 25},
          {4, 5.3, 56, 68}}},
        {step_by_script,
         100,
         {{17, 22, 480, 501},
          {17, 27, 400, 501},
          {7, 14, 499, 501},
          {17, 37, 110, 180},
          {3, 7, 60, 110},
          {33, 51, 300, 420}}},
    };
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        for (size_t i = 0; i < GAMES; i++) {
            play p;
            double score = 0, steps = 0;
            begin(&p, games[i], 9);
            for (int n = 0; n < rows[row].episodes; n++) {
                while (rows[row].step(&p) == AQ_STEP_GOES_ON && p.steps < STEPS_MAX) {
                }
                score += p.score / rows[row].episodes;
                steps += (double)p.steps / rows[row].episodes;
                again(&p);
            }
            assert_true(score > rows[row].of[i].score_low && score < rows[row].of[i].score_high);
            assert_true(steps > rows[row].of[i].steps_low && steps < rows[row].of[i].steps_high);
        }
    }
}

TEST(a_picture_shows_what_is_seen)
{
    enum { SIZE = 20 };
    for (size_t i = 0; i < GAMES; i++) {
        play p;
        uint8_t pixels[SIZE * SIZE * 3];
        aq_canvas canvas = {SIZE, SIZE, pixels};
        begin(&p, games[i], 4);
        games[i]->draw(games[i]->defaults, p.state, &canvas);
        /* The first channel is who is played, in white and on top. */
        const uint32_t channels = p.schema.obs.shape[2];
        for (uint32_t cell = 0; cell < AQ_GAME_SIDE * AQ_GAME_SIDE; cell++) {
            const uint32_t row = cell / AQ_GAME_SIDE * 2, column = cell % AQ_GAME_SIDE * 2;
            const uint8_t *pixel = pixels + (row * SIZE + column) * 3;
            const bool white = pixel[0] == 255 && pixel[1] == 255 && pixel[2] == 255;
            assert_int_equal(white, p.obs[(size_t)cell * channels] != 0);
            assert_memory_equal(pixel, pixel + 3, 3);
            assert_memory_equal(pixel, pixel + (size_t)SIZE * 3, 3);
        }
    }
}

/*
 * A player plays the same episodes for the same seed, ends them where the task does, and acts as
 * the policy says.
 */
#include "cli/play/player.h"
#include "common/policy/format.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST_ENDING(end_player, aq_player_destroy);

static aq_player *make(const char *task, aq_snapshot *policy, uint64_t seed)
{
    aq_env *env = cli_env(task);
    aq_player *player = NULL;
    assert_succeeds(aq_player_create(env, policy, seed, &player, &refusal));
    at_end(end_player, player);
    return player;
}

static aq_player_episode play(aq_player *player, uint32_t number)
{
    assert_int_equal(aq_player_start(player, number, NULL), 0);
    while (aq_player_look(player).end == AQ_STEP_GOES_ON) {
        assert_int_equal(aq_player_step(player, NULL), 0);
    }
    return aq_player_look(player);
}

TEST(the_same_seed_plays_the_same_episodes_in_any_order)
{
    aq_player *a = make("game:miner", NULL, 5), *b = make("game:miner", NULL, 5);
    uint32_t lengths[8];
    bool differ = false;
    for (uint32_t i = 0; i < 8; i++) {
        lengths[i] = play(a, i).steps;
        differ = differ || lengths[i] != lengths[0];
    }
    for (uint32_t i = 8; i-- > 0;) {
        assert_int_equal(play(b, i).steps, lengths[i]);
    }
    assert_true(differ);
}

TEST(an_episode_ends_by_the_rules_or_at_the_limit)
{
    aq_player *pole = make("gym:CartPole-v1", NULL, 1), *car = make("gym:MountainCar-v0", NULL, 1);
    aq_player_episode episode = play(pole, 0);
    assert_int_equal(episode.end, AQ_STEP_TERMINATED);
    assert_true(episode.episode_return == episode.steps);
    episode = play(car, 0);
    assert_int_equal(episode.end, AQ_STEP_TRUNCATED);
    assert_int_equal(episode.steps, 200);
    assert_true(episode.episode_return == -200);
}

/* As an evaluation's do. */
TEST(an_episode_without_a_limit_ends_all_the_same)
{
    aq_env *env = cli_env("gym:Pendulum-v1");
    aq_player *player = NULL;
    env->step_limit = 0;
    assert_succeeds(aq_player_create(env, NULL, 1, &player, &refusal));
    at_end(end_player, player);
    const aq_player_episode episode = play(player, 0);
    assert_int_equal(episode.end, AQ_STEP_TRUNCATED);
    assert_int_equal(episode.steps, 10000);
}

TEST(random_actions_are_drawn_in_every_kind_of_space)
{
    static const char *const tasks[] = {"game:freeway", "gym:Pendulum-v1", "gym:FrozenLake-v1"};
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
        aq_player *player = make(tasks[i], NULL, 2);
        assert_true(play(player, 0).steps > 0);
    }
}

TEST(a_policy_plays_and_the_last_state_can_be_drawn)
{
    uint8_t first[30 * 30 * 3], last[30 * 30 * 3];
    aq_canvas canvas = {30, 30, first};
    const char *text;
    aq_snapshot *policy = cli_make_policy(AQ_FORMAT_INT8_CHANNEL, 7);
    aq_player *player = make("gym:CartPole-v1", policy, 3);
    aq_snapshot_unref(policy); /* the player has what it needs */
    assert_int_equal(aq_player_start(player, 0, NULL), 0);
    assert_int_equal(aq_player_draw(player, &canvas, &text, NULL), 0);
    assert_true(play(player, 0).steps > 1);
    canvas.pixels = last;
    assert_int_equal(aq_player_draw(player, &canvas, &text, NULL), 0);
    assert_memory_not_equal(first, last, sizeof(first));
    aq_player_destroy(NULL);
}

TEST(a_policy_for_another_task_is_refused)
{
    aq_env *env = cli_env("game:miner");
    aq_snapshot *policy = cli_policy(AQ_FORMAT_F32, 7);
    aq_player *player = NULL;
    assert_refused(aq_player_create(env, policy, 1, &player, &refusal), AQ_E_SCHEMA, "game:miner");
    assert_null(player);
}

TEST(without_memory_there_is_no_player)
{
    aq_env *env = cli_env("gym:CartPole-v1");
    aq_snapshot *policy = cli_policy(AQ_FORMAT_INT8_CHANNEL, 7);
    aq_player *player;
    assert_made_despite_failures(player, aq_player_create(env, policy, 1, &player, NULL));
    aq_player_destroy(player);
}
